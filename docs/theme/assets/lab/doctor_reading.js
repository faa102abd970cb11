// Reading a training log, as ppo_ref.check.doctor.reading does it: its text, its lines, and the
// figures in them. Node compares both on logs of every format (tests/site/lab/test_doctor.py).

// Each place of a text is looked at a bounded number of times: a name begins where its
// word begins, and digits can be read in one way only. A megabyte in one word would
// otherwise freeze the page.
const LONGEST = 200 // letters of a name; what is longer names no figure
const HEAD = 50 // lines in which a table may begin
const NARROWEST = 40, BROADEST = 300 // columns of a terminal that breaks lines
// A line with as few known figures as this, and less than this share of the fullest line
// with the same figure, tells it again, or is a sentence of an answer.
const FEW = 3, POOR = 0.5
const STEP = /\b[Ss]tep (\d{1,15})\b/ // Global step 12: {...}
const BAR = /\d%\|/ // of tqdm
const NUMBER = String.raw`[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)`
const NAME = String.raw`[A-Za-z_][\w/@.-]{0,${LONGEST - 1}}`
const WHOLE = new RegExp(`^${NUMBER}$`, "i")
const COLORS = /\x1b\[[0-9;]*m/g
const CELLS = new Map([",", "\t", "|", ";"].map((mark) =>
  [mark, new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^${mark}\\n]*))(\\${mark}|\\n|$)`, "g")]))
// Tokens of one response, as ppo_ref keeps them between the lines of figures.
const RECORD = /^\{"iteration": ?\d+, ?"record":/
const SPREAD = /__(?:MIN|MAX)$/ // a chart's band around a line
// A Chinese character takes two columns of a terminal.
const BROAD = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6]/g
// The mean ratio of trainer to engine, which verl logs in two parts.
const [RATIO, K3, K1] = ["1 + rollout_corr/k3_kl - rollout_corr/kl", "rollout_corr/k3_kl", "rollout_corr/kl"]

// A table holds more runs than one; `runs` are their names.
export class SeveralRuns extends Error {
  constructor(runs) { super(runs.join(", ")); this.runs = runs }
}

// What names are known: those of the figures, and those that fit one with a star.
export const namesKnown = (figures) => {
  const keys = new Set(figures.flatMap(({ keys }) => keys))
  const stars = [...keys].filter((key) => key.includes("*")).map((key) => key.split("*"))
  const fits = (name) => stars.some(([before, after]) => name.startsWith(before) && name.endsWith(after) && name.length > before.length + after.length)
  const figureOf = new Map(figures.flatMap(({ id, keys }) => keys.map((key) => [key, id])))
  return { figure: (name) => figureOf.get(name) ?? name, exact: (name) => keys.has(name), has: (name) => keys.has(name) || fits(name),
    phrases: [...keys].filter((key) => key.includes(" ") && /^[A-Za-z]/.test(key)).sort() }
}

// UTF-8, UTF-16 as PowerShell writes it, or GBK.
export const decode = (bytes) => {
  const [a, b] = bytes
  if (a === 0xff && b === 0xfe) return new TextDecoder("utf-16le").decode(bytes)
  if (a === 0xfe && b === 0xff) return new TextDecoder("utf-16be").decode(bytes)
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder("gb18030").decode(bytes)
  }
}

const named = (key) => key.replace(/^train\//, "")
const number = (text) => {
  const plain = text.toLowerCase().replace(/^[-+]/, "")
  if (plain === "nan") return NaN
  const size = plain.startsWith("inf") ? Infinity : Number(plain)
  return text.startsWith("-") ? -size : size
}
const strip = (text) => text.replace(/^[ \t]+|[ \t]+$/g, "")

// The cells of each row.
function* rows(text, mark) {
  let row = []
  for (const [, quoted, plain, end] of text.matchAll(CELLS.get(mark))) {
    row.push(quoted?.replaceAll('""', '"') || plain || "")
    if (end === mark) continue
    yield row
    row = []
  }
}

// The run and the name that the head of a column names.
const column = (cell) => {
  const parts = strip(cell).split(" - ")
  const name = named(parts.pop().replaceAll(" / ", "/"))
  return [parts.join(" - "), name.length > LONGEST || SPREAD.test(name) ? "" : name]
}

// The cells of a row that are numbers. A chart's export and a data frame have nan where
// nothing was logged: in a row that is mostly so, it is no value.
const logged = (names, row, known) => {
  const found = row.slice(0, names.length).map((cell, i) => [names[i], strip(cell)]).filter(([name]) => name)
  const cells = found.filter(([name]) => known.has(name)).map(([, cell]) => cell.toLowerCase())
  const missing = cells.filter((cell) => !cell || cell === "nan").length
  const empty = missing > cells.length / 2
  return new Map(found.filter(([, cell]) => WHOLE.test(cell) && !(empty && cell.toLowerCase() === "nan"))
    .map(([name, cell]) => [name, number(cell)]))
}

// The cells of one run; two columns of one name are two runs.
const ofRun = (columns, rest, run, known) => {
  const seen = new Map()
  const all = columns.map(([of, name]) => {
    if (!known.has(name)) return [of, name]
    const key = `${of} - ${name}`
    seen.set(key, (seen.get(key) ?? 0) + 1)
    return [seen.get(key) > 1 ? `${of || "column"} ${seen.get(key)}` : of, name]
  })
  const runs = [...new Set(all.filter(([, name]) => known.has(name)).map(([of]) => of))]
  if (!run && runs.length > 1) throw new SeveralRuns(runs.map((each) => each || "column 1"))
  if (!run || (run === "column 1" && !runs.includes(run))) run = runs[0]
  const names = all.map(([of, name]) => of === run || of === "" ? name : "")
  return [...rest].map((row) => logged(names, row, known))
}

const table = (lines, run, known, pair) => {
  for (let i = 0; i < Math.min(HEAD, lines.length - 1); i++) {
    for (const mark of CELLS.keys()) {
      if (!lines[i].includes(mark) || !lines[i + 1].includes(mark) || lines[i].search(pair) >= 0) continue
      const found = rows(lines.slice(i).join("\n"), mark)
      const columns = found.next().value.map(column)
      if (columns.some(([, name]) => known.has(name))) return ofRun(columns, found, run, known)
    }
  }
  return null
}

// Lines as they were before a terminal of a fixed width broke them.
const joined = (lines) => {
  const widths = lines.map((line) => [...line].length + (line.match(BROAD)?.length ?? 0))
  const widest = widths.reduce((a, b) => Math.max(a, b), 0)
  if (widest < NARROWEST || widest > BROADEST || widths.filter((width) => width === widest).length < 3) return lines
  const whole = [], begun = new Set()
  let full = false
  lines.forEach((line, i) => {
    const beginning = [...line.slice(0, 16)].slice(0, 8).join("").replace(/[0-9]/g, "0")
    if (!full || begun.has(beginning)) {
      begun.add(beginning)
      whole.push([])
    }
    whole.at(-1).push(line)
    full = widths[i] === widest && !/[}\]]$/.test(line)
  })
  return whole.map((pieces) => pieces.join(""))
}

// Lines without what other lines tell, or tell better.
const withoutSentences = (steps, known) => {
  const counts = steps.map((step) => [...step.keys()].filter(known.exact).length), fullest = new Map()
  steps.forEach((step, i) => {
    for (const name of step.keys()) fullest.set(known.figure(name), Math.max(fullest.get(known.figure(name)) ?? 0, counts[i]))
  })
  return steps.map((step, i) => new Map([...step].filter(([name]) =>
    !(counts[i] > 0 && counts[i] <= FEW) || counts[i] >= POOR * fullest.get(known.figure(name)))))
}

const byName = (steps) => {
  const log = new Map()
  for (const step of steps) {
    for (const [name, value] of step) {
      if (!log.has(name)) log.set(name, [])
      log.get(name).push(value)
    }
  }
  return log
}

// The figures of a log by name, each in the order in which it was logged; `seen` are the
// names of a log without one that is known.
export const readLog = (text, figures, run = "") => {
  const known = namesKnown(figures)
  const escaped = known.phrases.map((key) => key.replace(/[.]/g, "\\."))
  const pair = new RegExp(
    String.raw`(?<![\w/@.-])(${[...escaped, NAME].join("|")})["']?[ \t]*[:=][ \t]*(?:[a-z_.]+\d*\()?["']?(${NUMBER})(?![\w.])`, "gi")
  const plain = text.replace(/^\ufeff+/, "").replace(COLORS, "").replace(/[：＝，]/g, (mark) => ":=,"["：＝，".indexOf(mark)])
  const lines = plain.split(/\r\n|\r|\n/).filter((line) => /[^ \t]/.test(line) && !RECORD.test(line))
  const pairs = (line) => new Map(Array.from(line.matchAll(pair), ([, key, value]) => [named(key), number(value)]))
  const hasFigures = (step) => [...step.keys()].some(known.has)
  // A progress bar counts where nothing else has figures.
  const console = () => {
    const steps = [], bars = []
    for (const line of joined(lines)) {
      const step = pairs(line), counted = STEP.exec(line)
      if (counted && !step.has("step")) step.set("step", Number(counted[1]))
      ;(BAR.test(line) ? bars : steps).push(step)
    }
    return steps.some(hasFigures) ? steps : [...steps, ...bars]
  }
  const cells = table(lines, run, known, pair)
  const steps = cells ?? console(), told = steps.filter(hasFigures)
  const log = byName(cells ? told : withoutSentences(told, known))
  if (!log.size) return { log, seen: [...new Set(steps.flatMap((step) => [...step.keys()]))] }
  const [k3, k1] = [log.get(K3), log.get(K1)]
  if (k3 && k3.length === k1?.length) log.set(RATIO, k3.map((x, i) => 1 + x - k1[i]))
  return { log, seen: [] }
}
