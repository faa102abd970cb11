// What a training log says, as ppo_ref.check.doctor says it: the same figures, features and
// cases (doctor.json), the same findings. Nothing here touches the page; node compares
// both on logs of every format (tests/site/lab/test_doctor.py).

// Each place of a text is looked at a bounded number of times: a name begins where its
// word begins, and digits can be read in one way only. A megabyte in one word would
// otherwise freeze the page.
const LONGEST = 200 // letters of a name; what is longer names no figure
const NUMBER = String.raw`[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)`
const NAME = String.raw`[A-Za-z_][\w/@.-]{0,${LONGEST - 1}}`
const PAIR = new RegExp(
  String.raw`(?<![\w/@.-])(${NAME})["']?[ \t]*[:=][ \t]*(?:[a-z_.]+\d*\()?["']?(${NUMBER})(?![\w.])`, "gi")
const WHOLE = new RegExp(`^${NUMBER}$`, "i")
const COLORS = /\x1b\[[0-9;]*m/g
// Tokens of one response, as ppo_ref keeps them between the lines of figures.
const RECORD = /^\{"iteration": ?\d+, ?"record":/
const WINDOWS = 5
const LEVELS = ["broken", "look", "note", "fine"]

// The mean ratio of trainer to engine, which verl logs in two parts.
const [RATIO, K3, K1] = ["1 + rollout_corr/k3_kl - rollout_corr/kl", "rollout_corr/k3_kl", "rollout_corr/kl"]

const named = (key) => key.replace(/^train\//, "")
const number = (text) => {
  const plain = text.toLowerCase().replace(/^[-+]/, "")
  if (plain === "nan") return NaN
  const size = plain.startsWith("inf") ? Infinity : Number(plain)
  return text.startsWith("-") ? -size : size
}

const pairs = (line) => new Map(
  Array.from(line.matchAll(PAIR), ([, key, value]) => [named(key), number(value)]))

// The cells of each row of comma-separated values; quotes may hold commas and ends of lines.
function* rows(table) {
  let row = []
  for (const [, quoted, plain, end] of table.matchAll(/(?:"([^"]*(?:""[^"]*)*)"|([^,\n]*))(,|\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') || plain || "")
    if (end === ",") continue
    yield row
    row = []
  }
}

const table = (lines, known) => {
  if (!lines[0]?.includes(",")) return null
  const found = rows(lines.join("\n"))
  const names = found.next().value.map((column) => column.split(" - ").at(-1))
  if (!names.some((name) => known.has(named(name)))) return null
  return Array.from(found, (row) => new Map(row.flatMap((cell, i) =>
    names[i] && names[i].length <= LONGEST && WHOLE.test(cell) ? [[named(names[i]), number(cell)]] : [])))
}

// The figures of a log by name, each in the order in which it was logged.
export const readLog = (text, figures) => {
  const known = new Set(figures.flatMap(({ keys }) => keys))
  const lines = text.replace(COLORS, "").split(/\r\n|\r|\n/).filter((line) => /[^ \t]/.test(line) && !RECORD.test(line))
  const log = new Map()
  for (const found of table(lines, known) ?? lines.map(pairs)) {
    if (![...found.keys()].some((key) => known.has(key))) continue
    for (const [key, value] of found) {
      if (!log.has(key)) log.set(key, [])
      log.get(key).push(value)
    }
  }
  const [k3, k1] = [log.get(K3), log.get(K1)]
  if (k3 && k3.length === k1?.length) log.set(RATIO, k3.map((x, i) => 1 + x - k1[i]))
  return log
}

const mean = (x) => x.reduce((sum, value) => sum + value / x.length, 0)
const median = (x) => {
  const sorted = [...x].sort((a, b) => a - b), half = x.length >> 1
  return x.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
const most = (x) => x.reduce((a, b) => Math.max(a, b))

export const measure = (values) => {
  const x = values.filter(Number.isFinite)
  const lost = values.length - x.length
  if (!x.length) { // of nan no case holds
    const nothing = Object.keys(measure([0])).map((name) => [name, NaN])
    return { ...Object.fromEntries(nothing), steps: lost, lost }
  }
  const parts = Math.min(WINDOWS, x.length)
  const end = (i) => Math.floor(x.length * i / parts)
  const means = Array.from({ length: parts }, (_, i) => mean(x.slice(end(i), end(i + 1))))
  const first = means[0], last = means.at(-1), best = most(means)
  const range = most(x) + most(x.map((value) => -value)), sizes = x.map(Math.abs)
  return {
    steps: values.length, lost, begin: x[0], last, usual: median(x.slice(end(parts - 1))), max: most(x), mean: mean(x), size: most(sizes),
    extreme: most(means.map(Math.abs)), range,
    change: range ? (last - first) / range : 0,
    fall: range ? (Math.max(x[0], first) - last) / range : 0,
    rise: range ? (best - first) / range : 0,
    drop: range ? (best - last) / range : 0,
    growth: first > 0 ? last / first : 1,
    jump: most(sizes) / (median(sizes) || most(sizes) || 1),
  }
}

const COMPARE = { "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b }

// What is to be said of each known figure, the worst first. Of a figure that was not
// logged nothing holds; clip.last is another's.
export const judge = (log, figures, lang) => {
  const keys = new Map(figures.map(({ id, keys }) => [id, keys.find((name) => log.has(name))]))
  const measured = new Map([...keys].flatMap(([id, key]) => key ? [[id, measure(log.get(key))]] : []))
  const feature = (own, name) => {
    const [id, part] = name.includes(".") ? name.split(".") : [own, name]
    return measured.get(id)?.[part] ?? NaN
  }
  return figures.flatMap((figure) => {
    const key = keys.get(figure.id)
    if (!key) return []
    const features = measured.get(figure.id)
    const fits = ({ if: conditions }) => conditions.every(([name, sign, limit]) => COMPARE[sign](feature(figure.id, name), limit))
    const found = figure.cases.find(fits) ?? {}
    return [{ key, name: figure[lang], level: found.level ?? "fine", says: found[lang] ?? "", row: found.row ?? figure.row,
      begin: features.begin, last: features.last, steps: features.steps, lost: features.lost }]
  }).sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

// What counts lines is no figure of the training.
export const COUNTERS = new Set(["step", "_step", "iteration", "pid"])
