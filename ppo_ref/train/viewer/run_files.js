// What the run viewer reads: a run that comes with ppo_ref, the folder of one that
// `python -m ppo_ref train` wrote, or a dump of one batch as JSON. Texts in, a run out:
// nothing here touches the page or the network, and node tests all of it.
//
// What is damaged is left out and told as a fault { file, line?, key, ... }; the rest
// stays. Only a text in which nothing can be shown throws its fault.

// What was made to stop it is told as well: a file may be nested without end, and no
// value of it is turned into text that is not known to be flat.

const MOST = 1e6 // iterations, as runs.js tells: one number is not to ask for more

export const STATISTICS = "statistics.jsonl", TOKENS = "tokens.jsonl", CONFIG = "config.json"

// What a dump may hold by our name of it, then by verl's; as in ppo_ref/check/dump/reading.py.
export const NAMES = {
  values: ["values"],
  advantages: ["advantages"],
  returns: ["returns"],
  scores: ["token_level_scores", "rm_scores"],
  rewards: ["token_level_rewards"],
  old_log_probs: ["old_log_probs"],
  ref_log_probs: ["ref_log_prob", "ref_log_probs"],
  rollout_log_probs: ["rollout_log_probs"],
}
const AGAIN = "encoded_again" // of a stored run: the tokens of the same text, no numbers
const BESIDE = { new_log_probs: ["new_log_probs"] } // of our own, for the ratio

const isNested = (x) => typeof x === "object" && x !== null
const isObject = (x) => isNested(x) && !Array.isArray(x)
const isTable = (x) => Array.isArray(x) && x.length > 0 && x.every(Array.isArray)
const flat = (x) => isNested(x) ? "…" : x
const cut = (x) => { // what came, short enough for a sentence; what it holds in turn is left out
  const text = (typeof x === "string" ? x : JSON.stringify(Array.isArray(x) ? x.slice(0, 40).map(flat) : flat(x))) ?? "nothing"
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

// What a text of JSON says, or the text itself. Python writes NaN and Infinity, which
// JSON has not; a token may be called so. A string that is not closed goes on to the
// end: it would be read again from each quote in it.
const parsed = (text) => {
  try { return JSON.parse(text) } catch {}
  try {
    return JSON.parse(text.replace(/"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g, (x) => x[0] === '"' ? x : "null"))
  } catch { return text }
}

// The objects in the lines of a file, each with its line.
function* lines(file, text, faults) {
  for (const [i, line] of text.split("\n").entries()) {
    if (!line.trim()) continue
    const found = parsed(line)
    if (isObject(found)) yield [i + 1, found]
    else faults.push({ file, line: i + 1, key: "object", got: cut(found) })
  }
}

const named = () => Object.create(null) // any name may come
const noRun = () => ({ kind: "run", about: {}, figures: named(), watched: [], recorded: new Map(), last: 0, faults: [] })

// The iteration of a line must be one that there can be.
const isPlaced = (run, file, line, { iteration }, least = 1) => {
  const placed = Number.isInteger(iteration) && least <= iteration && iteration <= MOST
  if (!placed) run.faults.push({ file, line, key: "iteration", got: cut(iteration) })
  return placed
}

const addStatistics = (run, file, line, statistics) => {
  const { iteration } = statistics
  if (!isPlaced(run, file, line, statistics)) return
  run.last = Math.max(run.last, iteration)
  for (const [name, x] of Object.entries(statistics)) {
    if (name === "iteration") continue
    if (Number.isFinite(x)) (run.figures[name] ??= [])[iteration] = x
    else run.faults.push({ file, line, key: "number", name, got: cut(x) })
  }
}

// One answer: its tokens as text, and every row of numbers that is whole.
const answer = (run, file, line, { question, response, score, ...rest }, slot = (t) => `[${t}]`) => {
  if (!Array.isArray(response) || typeof question !== "string") {
    run.faults.push({ file, line, key: "answer", got: cut(response) })
    return null
  }
  const rows = named()
  for (const [name, row] of Object.entries(rest)) {
    if (!Array.isArray(row) || name === AGAIN) continue
    if (row.length !== response.length) run.faults.push({ file, line, key: "length", name, must: response.length, got: row.length })
    else {
      const odd = row.findIndex((x) => !Number.isFinite(x))
      if (odd >= 0) run.faults.push({ file, line, key: "number", name: name + slot(odd), got: cut(row[odd]) })
      rows[name] = row.map((x) => Number.isFinite(x) ? x : null)
    }
  }
  return { question, tokens: response.map((x) => String(flat(x))), score: Number.isFinite(score) ? score : null, rows }
}

const addAnswer = (run, file, line, record) => {
  const { iteration } = record
  const found = isPlaced(run, file, line, record) && answer(run, file, line, record)
  if (!found) return
  if (!run.recorded.has(iteration)) run.recorded.set(iteration, [])
  run.recorded.get(iteration).push(found)
}

// What was watched after an iteration: as many answers each time, and numbers of each.
const addWatched = (run, file, line, record) => {
  const { answers, log_probs, values = log_probs, iteration } = record
  const count = run.watched.find(Boolean)?.answers.length ?? answers?.length
  const whole = [answers, log_probs, values].every((rows) => Array.isArray(rows) && rows.length === count)
    && answers.every((x) => typeof x === "string")
    && [...log_probs, ...values].every((row) => Array.isArray(row) && row.every(Number.isFinite))
  if (!whole) run.faults.push({ file, line, key: "answer", got: cut(log_probs) })
  else if (isPlaced(run, file, line, record, 0)) run.watched[iteration] = record
}

// A file as those in ppo_ref/train/stored: a header, figures and records, line by line.
const stored = (file, text) => {
  const run = noRun()
  for (const [at, line] of lines(file, text, run.faults)) {
    if ("format" in line && at === 1) run.about = line
    else if (line.record === "watched") addWatched(run, file, at, line)
    else if (line.record === "response") addAnswer(run, file, at, line)
    else if (!("record" in line)) addStatistics(run, file, at, line)
  }
  if (!run.last) throw { file, key: "nothing", got: cut(text) }
  const { iterations = run.last } = run.about
  if (iterations !== run.last) run.faults.push({ file, key: "iterations", must: cut(iterations), got: run.last })
  return run
}

const folder = (files) => {
  const run = noRun()
  for (const [at, line] of lines(STATISTICS, files[STATISTICS], run.faults)) addStatistics(run, STATISTICS, at, line)
  if (!run.last) throw run.faults[0] ?? { file: STATISTICS, key: "nothing", got: "" }
  for (const file of [TOKENS, CONFIG]) if (!(file in files)) run.faults.push({ file, key: "missing", got: Object.keys(files).join(", ") })
  for (const [at, line] of lines(TOKENS, files[TOKENS] ?? "", run.faults)) addAnswer(run, TOKENS, at, line)
  const about = parsed(files[CONFIG] || "{}")
  if (isObject(about)) run.about = about
  else run.faults.push({ file: CONFIG, key: "object", got: cut(about) })
  return run
}

// A dump of one batch: rows of the same length by name, a mask, ids or texts of tokens.
const dump = (file, text) => {
  const content = parsed(text)
  if (content === text) throw { file, key: "json", got: text.slice(-40) }
  if (!isObject(content)) throw { file, key: "dump", got: cut(content) }
  const run = { ...noRun(), kind: "dump" }
  const known = Object.entries({ ...NAMES, ...BESIDE }).flatMap(([name, theirs]) => {
    const found = theirs.find((one) => one in content)
    return found ? [[name, found]] : []
  })
  const tables = known.filter(([, theirs]) => isTable(content[theirs]))
  if (!tables.length) throw { file, key: "dump", got: cut(Object.keys(content).join(", ")) }
  for (const [, theirs] of known) {
    if (!isTable(content[theirs])) run.faults.push({ file, key: "table", name: theirs, got: cut(content[theirs]) })
  }
  const [, like] = tables[0], slots = content[like][0].length, count = content[like].length
  const last = (row) => Array.isArray(row) ? row.slice(-slots) : []
  const mask = content.response_mask ?? (isTable(content.attention_mask) ? content.attention_mask.map(last) : undefined)
  const masked = isTable(mask)
  if (!masked) run.faults.push({ file, key: "mask", got: cut(Object.keys(content).join(", ")) })
  const texts = [content.tokens, content.responses].find(isTable)
  const scored = [...NAMES.scores, ...NAMES.rewards].map((one) => content[one]).find(isTable)
  run.answers = Array.from({ length: count }, (_, i) => {
    // Where no row is whole, there is nothing to show: many would make a large file of a small one.
    const width = tables.some(([, theirs]) => content[theirs][i]?.length === slots) ? slots : 0
    const counts = Array.from({ length: width }, (_, t) => !masked || Boolean(Number(flat(mask[i]?.[t]))))
    const inside = (row) => row.filter((_, t) => counts[t])
    const tokens = counts.map((_, t) => texts?.[i]?.[t] ?? "·")
    const row = { question: String(i), response: inside(tokens) }
    for (const [name, theirs] of tables) {
      const numbers = content[theirs][i]
      if (numbers?.length === slots) row[name] = inside(numbers)
      else run.faults.push({ file, key: "slots", name: `${theirs}[${i}]`, must: slots, got: numbers?.length ?? 0 })
    }
    const scores = scored?.[i]
    const score = scores?.length === slots ? inside(scores).reduce((sum, x) => sum + (Number.isFinite(x) ? x : NaN), 0) : null
    const place = counts.flatMap((one, t) => one ? [t] : [])
    return answer(run, file, undefined, { ...row, score }, (t) => `[${i}][${place[t]}]`)
  })
  return run
}

// The run in these files, by name: one .jsonl of ppo_ref/train/stored, the files of a run's
// folder, or a dump. Throws a fault where there is nothing to show.
export const readRun = (files) => {
  const names = Object.keys(files)
  const one = (end) => names.find((name) => name.endsWith(end) && name !== CONFIG)
  if (STATISTICS in files) return folder(files)
  const lined = names.find((name) => name.endsWith(".jsonl") && name !== TOKENS)
  if (lined) return stored(lined, files[lined])
  if (one(".json")) return dump(one(".json"), files[one(".json")])
  throw { file: STATISTICS, key: "missing", got: cut(names.join(", ") || "nothing") }
}

// What of an answer is shown by token, by the name of the choice.
export const QUANTITIES = {
  advantages: (rows) => rows.advantages,
  values: (rows) => rows.values,
  ratio: ({ new_log_probs: now, old_log_probs: old }) => now && old
    && now.map((x, t) => x === null || old[t] === null ? null : Math.exp(x - old[t])),
  probability: ({ old_log_probs, rollout_log_probs }) => (old_log_probs ?? rollout_log_probs)
    ?.map((x) => x === null ? null : Math.exp(x)),
  rewards: (rows) => rows.rewards ?? rows.token_level_rewards ?? rows.scores,
}

// The same of the question that is watched, where its record has it: the ratio is that
// of this iteration's update.
export const watchedNumbers = (run, at, i, quantity) => {
  const { log_probs, values } = run.watched[at] ?? {}
  if (!log_probs) return undefined
  if (quantity === "values") return values?.[i]
  if (quantity === "ratio") {
    const before = run.watched[at - 1]?.log_probs[i]
    return before && log_probs[i].map((x, t) => Math.exp(x - before[t]))
  }
  return quantity === "probability" ? log_probs[i].map(Math.exp) : undefined
}

// The iteration whose answers are shown at `at`: the nearest that recorded some.
export const recordedAt = (run, at) => {
  const before = [...run.recorded.keys()].filter((iteration) => iteration <= at)
  return before.length ? before.reduce((a, b) => Math.max(a, b)) : undefined
}
