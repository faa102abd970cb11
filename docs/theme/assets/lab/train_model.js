// The actor of the world while it is trained: a logit for each of its 44 cells, softmax
// over siblings, learning rate 1. Every gradient is an exact formula. Nothing here touches
// the page: node compares all of it with ppo_ref and autograd (tests/site/lab/test_train.py).
import { NODES, PLACES, bordersOf, sum } from "./cells_model.js"
import { ANSWERS, criticValue } from "./world.js"

// Edge e leads to node e + 1: what is said of an edge has 44 numbers, of a node 45. What
// goes on from a node comes after it, so that one pass over the edges is enough.
const EDGES = NODES.slice(1)
const edgeOf = new Map(EDGES.map((node, e) => [node, e]))
const parentOf = EDGES.map(({ parent }) => NODES.indexOf(parent))
const familyOf = NODES.map(({ children }) => children.map((child) => edgeOf.get(child)))
const besideOf = parentOf.map((at) => familyOf[at])
export const LONG = 13 // "Let us think step by step"
export const rowsOf = ANSWERS.map(({ tokens }) => tokens.map((token) => edgeOf.get(token)))

export const edgeAt = (node) => edgeOf.get(node)
export const TRUE = ANSWERS.map(({ score }) => score)
export const PROXY = TRUE.map((score, row) => row === LONG ? 2 : score)
export const ACTOR = Float64Array.from(EDGES, ({ actor }) => Math.log(actor))
export const REFERENCE = Float64Array.from(EDGES, ({ reference }) => Math.log(reference))

const numbers = (of) => new Float64Array(of.length)
// Log-probs of the edges from logits.
export const normal = (logits) => {
  const highest = numbers(NODES).fill(-Infinity), totals = numbers(NODES)
  for (let e = 0; e < EDGES.length; e++) highest[parentOf[e]] = Math.max(highest[parentOf[e]], logits[e])
  for (let e = 0; e < EDGES.length; e++) totals[parentOf[e]] += Math.exp(logits[e] - highest[parentOf[e]])
  return logits.map((z, e) => z - highest[parentOf[e]] - Math.log(totals[parentOf[e]]))
}

// How often each node is reached.
export const reachOf = (logs) => {
  const reach = numbers(NODES).fill(1)
  for (let e = 0; e < EDGES.length; e++) reach[e + 1] = reach[parentOf[e]] * Math.exp(logs[e])
  return reach
}
// What is to be expected at each node, where each edge costs something.
export const valuesOf = (logs, scores, cost = numbers(EDGES)) => {
  const values = numbers(NODES)
  rowsOf.forEach((edges, row) => { values[edges.at(-1) + 1] = scores[row] })
  for (let e = EDGES.length - 1; e >= 0; e--) values[parentOf[e]] += Math.exp(logs[e]) * (values[e + 1] - cost[e])
  return values
}
export const meanOf = (logs, scores = TRUE) => valuesOf(logs, scores)[0]
export const answersOf = (logs) => rowsOf.map((edges) => Math.exp(sum(edges.map((e) => logs[e]))))
const tokensIn = (reach) => sum(NODES.map(({ children }, i) => children.length ? reach[i] : 0))

// Of a mean score, minus beta times the KL to the reference: the chance to get to a place,
// times that of the token there, times how much better it goes on with it.
export const exactGradient = (logs, scores, beta = 0) => {
  const cost = logs.map((log, e) => beta * (log - REFERENCE[e]))
  const reach = reachOf(logs), values = valuesOf(logs, scores, cost)
  return logs.map((_, e) => reach[e + 1] * (values[e + 1] - cost[e] - values[parentOf[e]]))
}

// Of tokens that were drawn, each with its edge, its advantage and its old log-prob: a
// token pushes its own logit up and those beside it down. Outside the range of a clip it
// pushes nothing.
export const batchGradient = (logs, tokens, { count = tokens.length, clip = Infinity } = {}) => {
  const gradient = numbers(EDGES)
  for (const { edge, advantage, old } of tokens) {
    const ratio = Math.exp(logs[edge] - old)
    if (advantage > 0 ? ratio > 1 + clip : ratio < 1 - clip) continue
    const weight = advantage * ratio / count
    gradient[edge] += weight
    for (const beside of besideOf[edge]) gradient[beside] -= weight * Math.exp(logs[beside])
  }
  return gradient
}

export const EPSILON = 0.2
export const BATCHES = 1000 // to draw
export const BASES = ["0", "mean", "J"]
export const BETAS = [0, 0.1, 0.2, 0.25, 0.5]
const tokensOf = (rows, valueOf) => rows.flatMap((row) => rowsOf[row].map((edge) => ({
  edge, old: ACTOR[edge], advantage: TRUE[row] - valueOf(EDGES[edge].parent) })))

// What is trained in each scene, and how it begins. The slider has so many stops: where
// there are many updates, the first lie close together.
const BEGIN = { n: 0, open: "" }
export const SCENES = {
  ratio: { updates: 5, stops: 5, from: ACTOR, begin: { ...BEGIN, n: 1 }, tokens: tokensOf([0, 9], criticValue) },
  clip: { updates: 100, stops: 100, from: ACTOR, begin: { ...BEGIN, clip: false }, tokens: tokensOf([8, 8], ({ exact }) => exact) },
  leash: { updates: 1500, stops: 150, from: REFERENCE, begin: { ...BEGIN, beta: 0, stopped: -1 } },
  entropy: { updates: 500, stops: 100, from: ACTOR, begin: BEGIN },
  sampling: { updates: 0, stops: 0, from: ACTOR, begin: { open: "", temperature: 0.7, topP: 1 } },
  push: { updates: 0, stops: 0, from: ACTOR, begin: { open: "", batch: 1, base: "0" } },
  baseline: { updates: 0, stops: 0, from: ACTOR, begin: { open: "", batch: 1, base: "mean" } },
}
export const updatesAt = ({ updates, stops }, stop) => Math.round(stop + (updates - stops) * (stop / stops) ** 2)
export const stopAt = (scene, n) => {
  let stop = 0
  while (stop < scene.stops && updatesAt(scene, stop + 1) <= n) stop++
  return stop
}

const GRADIENTS = {
  ratio: (logs) => batchGradient(logs, SCENES.ratio.tokens),
  clip: (logs, { clip }) => batchGradient(logs, SCENES.clip.tokens, clip ? { clip: EPSILON } : {}),
  leash: (logs, { beta }) => exactGradient(logs, PROXY, beta),
  entropy: (logs) => exactGradient(logs, TRUE),
}
// The actor after 0, 1, 2 ... updates, as far as it is asked for.
const walked = new Map()
export const walk = (name, state, until = SCENES[name].updates) => {
  const key = [name, name === "clip" && state.clip, name === "leash" && state.beta].join()
  if (!walked.has(key)) walked.set(key, [SCENES[name].from])
  const way = walked.get(key)
  while (way.length <= until) {
    const logs = way.at(-1), gradient = GRADIENTS[name](logs, state)
    way.push(normal(logs.map((z, e) => z + gradient[e])))
  }
  return way
}

// The entropy of a token, on average over all that are written.
export const entropyOf = (logs) => {
  const reach = reachOf(logs)
  return sum(Array.from(logs, (log, e) => log > -Infinity ? -reach[e + 1] * log : 0)) / tokensIn(reach)
}
// What J would be if each place were still reached as often as by the old actor.
export const promisedOf = (logs) => {
  const reach = reachOf(ACTOR), values = valuesOf(ACTOR, TRUE)
  return values[0] + sum(Array.from(logs, (log, e) => reach[parentOf[e]] * Math.exp(log) * (values[e + 1] - values[parentOf[e]])))
}
const right = TRUE.map((score, row) => score && row)
export const sharesOf = (logs) => {
  const probs = answersOf(logs)
  return { first: probs[0], others: sum(probs.filter((_, row) => right[row])), long: probs[LONG] }
}

// The actor as an engine draws from it: at a temperature, and of the tokens of a place only
// the likeliest that together have `topP`.
export const sampler = ({ temperature, topP }) => {
  const logs = normal(ACTOR.map((log) => log / temperature))
  for (const edges of familyOf) {
    let total = 0
    for (const e of [...edges].sort((one, other) => logs[other] - logs[one])) {
      const p = Math.exp(logs[e])
      if (total >= topP - 1e-12) logs[e] = -Infinity
      total += p
    }
  }
  return normal(logs)
}
// The mean of a token's weight, its probability by the actor over that by the engine.
export const tokenWeight = (logs) => {
  const reach = reachOf(logs)
  return sum(Array.from(logs, (log, e) => log > -Infinity ? reach[parentOf[e]] * Math.exp(ACTOR[e]) : 0)) / tokensIn(reach)
}

// The borders of an actor, as cells are laid out by.
export const movedBy = (logs) => Object.fromEntries(PLACES.map((node) =>
  [node.prefix, bordersOf(node.children.map((child) => Math.exp(logs[edgeOf.get(child)])))]))

// The address has what differs from the beginning, as in n20_c1_o25: after 20 updates, with
// the clip, node 25 open.
const CODES = { n: "n", open: "o", clip: "c", beta: "b", stopped: "s", temperature: "t", topP: "p", batch: "d", base: "w" }
const indexIn = { open: (prefix) => NODES.findIndex((node) => node.prefix === prefix), base: (name) => BASES.indexOf(name), clip: Number }
export const written = (state, begin) => Object.keys(begin).filter((key) => state[key] !== begin[key])
  .map((key) => CODES[key] + (indexIn[key]?.(state[key]) ?? state[key])).join("_")

const whole = (x, low, high) => Number.isInteger(x) && x >= low && x <= high ? x : undefined
const within = (x, low, high) => x >= low && x <= high ? Math.round(x * 100) / 100 : undefined
const READ = {
  n: (x, scene) => whole(x, 0, scene.updates) === undefined ? undefined : updatesAt(scene, stopAt(scene, x)),
  stopped: (x, scene) => READ.n(x, scene),
  open: (x) => NODES[x]?.prefix, clip: (x) => [false, true][x], beta: (x) => BETAS.find((beta) => beta === x),
  temperature: (x) => within(x, 0.5, 1.5), topP: (x) => within(x, 0.8, 1),
  batch: (x) => whole(x, 1, BATCHES), base: (x) => BASES[x],
}
export const read = (sent, scene) => {
  const state = { ...scene.begin }
  for (const part of sent.split("_")) {
    const key = Object.keys(state).find((name) => CODES[name] === part[0])
    const found = /^.\d+(\.\d+)?$/.test(part) && key ? READ[key](Number(part.slice(1)), scene) : undefined
    if (found !== undefined) state[key] = found
  }
  if (state.stopped < 0) state.beta = 0 // see `onceStopped`
  return state
}
