// Typesets a JSON list of {tex, display} from stdin with the KaTeX named in argv.
import { text } from "node:stream/consumers"

const { default: katex } = await import(process.argv[2])

// What KaTeX does not obey, as \href, it shows by its name in this colour, and no error.
const errorColor = "notobeyed"
const refused = new RegExp(`mathcolor="${errorColor}"><mtext>([^<]*)`)

const typeset = ({ tex, display }) => {
  try {
    const options = { displayMode: display, strict: "error", errorColor }
    const html = katex.renderToString(tex, options)
    const [, name] = refused.exec(html) ?? []
    if (name) return { error: `${name} is not obeyed` }
    return { html: html.replace(/<annotation.*?<\/annotation>/s, "") } // TeX, once more
  } catch (error) {
    return { error: error.message }
  }
}

const formulas = JSON.parse(await text(process.stdin))
process.stdout.write(JSON.stringify(formulas.map(typeset)))
