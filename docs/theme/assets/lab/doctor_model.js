// What a training log says, as ppo_ref.check.doctor says it: the same features and cases
// (doctor.json), the same findings. Nothing here touches the page; node compares both on
// logs of every format (tests/site/lab/test_doctor.py).
import { namesKnown } from "./doctor_reading.js"

export { decode, readLog, SeveralRuns } from "./doctor_reading.js"

const PARTS = 5 // of a run, whose means are compared
const BEFORE = 20, FEWEST = 5 // values before a jump that it is compared with
const BEND = 1.65 // the median bend of pure noise, in standard deviations
const ROUNDING = 1e-9 // of a mean
const CLEAR = 99 // standard errors where there is no noise at all
const LEVELS = ["broken", "look", "note", "fine"]
// What counts lines or epochs is no figure of the training; the first of them that is
// logged tells whether the log begins with the run.
const COUNTERS = ["step", "_step", "Step", "training/global_step", "trainer/global_step", "global_step", "iteration", "epoch"]
const NO_FIGURES = new Set([...COUNTERS, "pid", "_timestamp", "_runtime"])

const mean = (x) => x.reduce((sum, value) => sum + value / x.length, 0)
const median = (x) => {
  const sorted = [...x].sort((a, b) => a - b), half = x.length >> 1
  return x.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
const most = (x) => x.reduce((a, b) => Math.max(a, b))
const least = (x) => x.reduce((a, b) => Math.min(a, b))
const share = (part, whole) => whole > 0 ? part / whole : NaN

// The variance of a mean, from the spread of its values.
const squaredError = (x) => {
  const middle = mean(x)
  return x.reduce((sum, value) => sum + (value - middle) * (value - middle) / (x.length - 1) / x.length, 0)
}
const errorOf = (one, other) => Math.sqrt(squaredError(one) + squaredError(other))

// How much higher the mean of the other is, in standard errors of the difference.
const errors = (one, other) => {
  if (one.length < 2 || other.length < 2) return NaN
  const before = mean(one), after = mean(other), difference = after - before
  const rounding = ROUNDING * Math.max(Math.abs(before), Math.abs(after))
  if (Math.abs(difference) <= rounding) return 0
  const error = errorOf(one, other)
  if (error <= rounding) return Math.sign(difference) * CLEAR
  return Number.isFinite(error) ? Math.max(-CLEAR, Math.min(CLEAR, difference / error)) : NaN
}

// The rise that the noise leaves possible.
const mayRise = (parts, range) => {
  const one = parts[0], other = parts.at(-1)
  if (one.length < 2 || other.length < 2) return NaN
  return share(mean(other) - mean(one) + 2 * errorOf(one, other), range)
}

// The share of the beginning that was lost, where it is clear that it was.
const fellBy = (x, parts) => {
  if (x.length < FEWEST) return 0
  const first = mean(parts[0]), last = parts.at(-1), start = least(x.slice(0, 3))
  let fell = 0
  if (errors(parts[0], last) < -3) fell = first ? (first - mean(last)) / Math.abs(first) : 1
  if (start) fell = Math.max(fell, (start - most(last)) / Math.abs(start))
  const begun = mean(x.slice(0, 2)), later = most(parts.slice(2).flat().map(Math.abs))
  return begun > 0 && later < begun / 10 ? Math.max(fell, 1 - later / begun) : fell
}

// The share of what was gained that was lost again.
const turnedBy = (parts, top) => {
  if (!(errors(parts[0], parts[top]) > 3 && errors(parts.at(-1), parts[top]) > 4)) return 0
  const best = mean(parts[top])
  return (best - mean(parts.at(-1))) / (best - mean(parts[0]))
}

// The share of the second highest value that no value of the last part reaches, if it is
// more than twice the noise.
const slidBy = (x, reached) => {
  if (x.length < 4) return 0
  const second = [...x].sort((a, b) => a - b).at(-2)
  const noise = median(x.slice(2).map((c, i) => Math.abs(x[i] - 2 * x[i + 1] + c))) / BEND
  return second !== 0 && second - reached > 2 * noise ? (second - reached) / Math.abs(second) : 0
}

// The largest value over the median of those before it; zeros are left out.
const jumpOf = (sizes) => {
  let largest = 1, before = []
  for (const size of sizes) {
    if (!(size > 0)) continue
    if (before.length >= FEWEST) largest = Math.max(largest, size / median(before))
    before = [...before.slice(1 - BEFORE), size]
  }
  return largest
}

// The number of values that are lost at the end, if more than in any gap before it.
const goneOf = (values) => {
  let gap = 0, longest = 0
  for (const value of values) {
    if (Number.isFinite(value)) { longest = Math.max(longest, gap); gap = 0 } else gap += 1
  }
  return gap > longest ? gap : 0
}

export const measure = (values, fromStart = true) => {
  const x = values.filter(Number.isFinite)
  const lost = values.length - x.length
  if (!x.length) { // of nan no case holds
    const nothing = Object.keys(measure([0])).map((name) => [name, NaN])
    return { ...Object.fromEntries(nothing), steps: lost, lost, gone: lost }
  }
  const number = Math.min(PARTS, x.length)
  const end = (i) => Math.floor(x.length * i / number)
  const parts = Array.from({ length: number }, (_, i) => x.slice(end(i), end(i + 1)))
  const means = parts.map(mean), sizes = x.map(Math.abs)
  const first = means[0], last = means.at(-1), top = means.indexOf(most(means)), range = most(x) - least(x)
  return {
    steps: values.length, lost, gone: goneOf(values), begin: x[0], first, last, usual: median(parts.at(-1)),
    early: !fromStart || x.length < 3 ? NaN : sizes[2] > 2 * sizes[0] ? 0 : least(sizes.slice(0, 3)),
    min: least(x), max: most(x), mean: mean(x), range, size: most(sizes), extreme: most(means.map(Math.abs)),
    z: errors(parts[0], parts.at(-1)), rise_z: errors(parts[0], parts[top]), may_rise: mayRise(parts, range),
    growth: share(last, first), fell: fellBy(x, parts), turned: turnedBy(parts, top), slid: slidBy(x, most(parts.at(-1))),
    leapt: Math.max(0, least(parts.at(-1)) - most(x.slice(0, 2))), jump: jumpOf(sizes),
  }
}

// Whether the first line of a log is from the first steps of its run; where no counter is
// logged that is not known.
const beginsWithRun = (log) => {
  const counted = COUNTERS.map((name) => log.get(name)).find((values) => values?.length > 1)
  return counted ? counted[0] <= 1.5 * (counted[1] - counted[0]) : false
}

// Whether the counter of steps goes back: two runs, or one that went on.
export const goesBack = (log) => {
  const counted = COUNTERS.map((name) => log.get(name)).find((values) => values?.length > 1)
  return counted?.some((value, i) => i > 0 && value < counted[i - 1]) ?? false
}

// The names of a figure in a log, in the order of its table.
const namesOf = (figure, log) => figure.keys.flatMap((key) => {
  if (!key.includes("*")) return log.has(key) ? [key] : []
  const { has } = namesKnown([{ keys: [key] }])
  return [...log.keys()].filter(has)
})

const COMPARE = { "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b }

// What is to be said of each known figure: the worst first, and of those that are equally
// bad the causes before what they bring about.
export const judge = (log, { figures, order, lost, some_lost: someLost }, lang) => {
  const fromStart = beginsWithRun(log)
  const judged = (figure) => figure.keys.some((key) => key.includes("*")) ? namesOf(figure, log) : namesOf(figure, log).slice(0, 1)
  const measured = new Map(figures.map((figure) =>
    [figure.id, judged(figure).map((name) => [name, measure(log.get(name), fromStart)])]))
  const others = { "any.gone": 0 }
  for (const figure of figures) {
    for (const [, features] of measured.get(figure.id)) {
      if (!figure.may_be_nan) others["any.gone"] = Math.max(others["any.gone"], features.gone)
      for (const [name, value] of Object.entries(features)) others[`${figure.id}.${name}`] ??= value
    }
  }
  const caseOf = (figure, features) => {
    const counted = features.lost > 0 && !figure.may_be_nan
    if (counted && features.gone > 0) return { ...lost, ...figure.lost }
    const all = { ...others, ...features }
    const holds = ([name, sign, limit]) => COMPARE[sign](all[name] ?? NaN, limit)
    const found = figure.cases.find((one) => one.if.every(holds) && !(one.unless ?? []).some(holds)) ?? { level: "fine" }
    return counted && found.level === "fine" ? someLost : found
  }
  const rank = (one) => [LEVELS.indexOf(one.level), Number(one.follows), order.indexOf(one.row)]
  const before = (a, b) => rank(a).map((x, i) => x - rank(b)[i]).find(Boolean) ?? 0
  const found = figures.flatMap((figure) => measured.get(figure.id).map(([key, features]) => {
    const found = caseOf(figure, features)
    return { key, name: figure[lang], level: found.level ?? "fine", says: found[lang] ?? "", row: found.row ?? figure.row,
      follows: found.follows ?? false, claims: found.claims ?? [],
      begin: features.begin, last: features.last, steps: features.steps, lost: features.lost }
  }).sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level)).slice(0, 1))
  // Of the figures that are not finite the one that was lost first is broken; the others are noted.
  const begins = ({ key }) => log.get(key).findIndex((value) => !Number.isFinite(value)) / log.get(key).length
  const gone = found.filter((one) => one.row === "nan" && one.level === "broken")
  const firstGone = gone.reduce((a, b) => a && begins(a) <= begins(b) ? a : b, null)
  return found.map((one) => gone.includes(one) && one !== firstGone ? { ...one, level: "note" } : one).sort(before)
}

// The names that belong to no figure.
export const notJudged = (log, figures) => {
  const { has } = namesKnown(figures)
  return [...log.keys()].filter((name) => !has(name) && !NO_FIGURES.has(name))
}
