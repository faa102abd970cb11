// What a reader opens in the run viewer, sorted into runs. It is fetched once files come.
import { CONFIG, STATISTICS, TOKENS } from "./run_files.js"

// The files that are dropped, with their paths; a folder is read to its bottom. Each is
// given as its entry in the file system, where the browser has one, and as a file.
export const dropped = async (given) => {
  const found = []
  const visit = async (entry) => {
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed))
      return found.push({ path: entry.fullPath.slice(1), text: () => file.text() })
    }
    const reader = entry.createReader()
    for (let batch; (batch = await new Promise((done, failed) => reader.readEntries(done, failed))).length;) {
      for (const inner of batch) await visit(inner)
    }
  }
  for (const [entry, file] of given) {
    if (entry) await visit(entry)
    else if (file) found.push({ path: file.name, text: () => file.text() })
  }
  return found
}

// One run for each folder with the files of one, and for each other file that may be it.
const folderOf = ({ path }) => path.split("/").slice(0, -1).join("/")
const BESIDE = ["summary.json", "seconds.jsonl"] // what train writes and this does not show
export const groups = (files) => {
  const folders = new Map()
  for (const file of files) {
    const name = file.path.split("/").pop(), folder = folderOf(file)
    if (!/\.jsonl?$/.test(name) || BESIDE.includes(name)) continue
    const run = [STATISTICS, TOKENS, CONFIG].includes(name) ? folder || name : file.path
    folders.set(run, { ...folders.get(run), [name]: file })
  }
  return [...folders]
}

// A fault with the run that its file is of.
export const within = (run, fault) => run.endsWith(fault.file) ? { ...fault, file: run } : { ...fault, file: `${run}/${fault.file}` }
