// Typesets a JSON list of {tex, display} from stdin with the KaTeX named in argv.
import { text } from "node:stream/consumers"

const { default: katex } = await import(process.argv[2])

const typeset = ({ tex, display }) => {
  try {
    return { html: katex.renderToString(tex, { displayMode: display, strict: "error" }) }
  } catch (error) {
    return { error: error.message }
  }
}

const formulas = JSON.parse(await text(process.stdin))
process.stdout.write(JSON.stringify(formulas.map(typeset)))
