// Typesets a JSON list of {tex, display} from stdin with the KaTeX named in argv.
import { text } from "node:stream/consumers"

const { default: katex } = await import(process.argv[2])

const typeset = ({ tex, display }) => {
  try {
    const html = katex.renderToString(tex, { displayMode: display, strict: "error" })
    return { html: html.replace(/<annotation.*?<\/annotation>/s, "") } // TeX, once more
  } catch (error) {
    return { error: error.message }
  }
}

const formulas = JSON.parse(await text(process.stdin))
process.stdout.write(JSON.stringify(formulas.map(typeset)))
