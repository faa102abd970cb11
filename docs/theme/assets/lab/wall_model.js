// The wall without its looks: every answer of the world as a cell that is as wide as it is
// likely, below what it begins with. Node compares it with ppo_ref
// (tests/site/lab/test_wall.py).
import { ANSWERS, ROOT } from "./world.js"

const below = (node) => [node, ...node.children.flatMap(below)]
export const NODES = below(ROOT)
// Where there is something to choose, and the borders that can be moved there: border k
// stands between child k and the next one.
export const PLACES = NODES.filter(({ children }) => children.length > 1)
export const BORDERS = PLACES.flatMap((node) => node.children.slice(1).map((_, k) => ({ node, k })))
export const MOST = 1000 // answers to draw

// In the view of the first step only one border is away from its place; V has no name
// yet, and there is no reference.
export const BEGIN = { moved: {}, open: "", reference: false, drawn: 0 }
export const VIEWS = { goal: { first: true }, free: { first: false } }

const sum = (numbers) => numbers.reduce((total, x) => total + x, 0)

// `moved` has the borders of a prefix as shares of its cell, from left to right. What is
// not in it stands where the actor has it.
export const probabilities = (node, moved) => {
  const borders = moved[node.prefix]
  return borders ? [...borders, 1].map((border, i) => border - (borders[i - 1] ?? 0)) : node.children.map(({ actor }) => actor)
}
export const bordersOf = (probs) => probs.slice(1).map((_, k) => sum(probs.slice(0, k + 1)))

// The borders of a prefix once one of them stands at a share. Those on either side keep
// their proportions; if they were squeezed to nothing, those that the actor gave them.
export const slide = (node, moved, k, share) => {
  const now = probabilities(node, moved), begun = probabilities(node, {})
  const spread = (from, to, room) => {
    const probs = sum(now.slice(from, to)) > 0 ? now.slice(from, to) : begun.slice(from, to)
    return probs.map((p) => room * p / sum(probs))
  }
  const borders = bordersOf([...spread(0, k + 1, share), ...spread(k + 1, now.length, 1 - share)])
  return borders.map((border, i) => i === k ? share : Math.round(border * 1e6) / 1e6)
}

// The cells by their prefix: where each begins and how wide it is, as shares of the whole;
// how likely it is to be written, and after what is above it; and the green share of the
// floor below it.
export const lay = (moved) => {
  const cells = new Map()
  const put = (node, at, width, p) => {
    const cell = { node, at, width, reach: width, p }
    cells.set(node.prefix, cell)
    const probs = probabilities(node, moved)
    const values = node.children.map((child, i) =>
      put(child, at + width * sum(probs.slice(0, i)), width * probs[i], probs[i]).value)
    cell.value = values.length ? sum(values.map((value, i) => probs[i] * value)) : node.exact
    return cell
  }
  put(ROOT, 0, 1, 1)
  return cells
}
const VANISHED = 1e-9
// As it is drawn with a prefix open: what can no longer be written there has no width to be
// opened to, so each token on the way to it is taken as certain; what is above it has no
// borders then. What a cell is worth stays.
export const laidOpen = (moved, open) => {
  const cells = lay(moved)
  const node = cells.get(open).node
  if (cells.get(open).width >= VANISHED) return cells
  const certain = { ...moved }
  for (let child = node; child.parent; child = child.parent) {
    const { prefix, children } = child.parent
    certain[prefix] = bordersOf(children.map((other) => +(other === child)))
  }
  for (const [prefix, { at, width }] of lay(certain)) Object.assign(cells.get(prefix), { at, width })
  for (let above = node.parent; above; above = above.parent) cells.get(above.prefix).above = true
  return cells
}
// The tokens after a prefix that are not written any more: no cell of theirs can be tapped.
export const vanished = (node, moved) => {
  const probs = probabilities(node, moved)
  return node.children.filter((_, i) => probs[i] < VANISHED)
}
export const meanScore = (moved) => lay(moved).get("").value

// The furthest that J gets by one border alone. J is linear in where a border stands, so
// it is highest at an end.
export const best = () => Math.max(...BORDERS.flatMap(({ node, k }) =>
  [0, 1].map((share) => meanScore({ [node.prefix]: slide(node, {}, k, share) }))))

// The same numbers between 0 and 1 for everybody. Each draws a whole answer: it falls
// through the wall there.
export const SEED = 222
export const random = (count, seed = SEED) => {
  let state = seed
  return Array.from({ length: count }, () => {
    state = state + 0x6D2B79F5 | 0
    let x = Math.imul(state ^ state >>> 15, 1 | state)
    x = x + Math.imul(x ^ x >>> 7, 61 | x) ^ x
    return ((x ^ x >>> 14) >>> 0) / 2 ** 32
  })
}
const leaf = ({ tokens }) => tokens.at(-1).prefix
export const falls = (cells, at) => {
  const row = ANSWERS.findIndex((answer) => {
    const { at: left, width } = cells.get(leaf(answer))
    return at < left + width
  })
  return row < 0 ? ANSWERS.length - 1 : row
}
export const draws = ({ moved, drawn }) => {
  const cells = lay(moved)
  const balls = random(drawn).map((at) => ({ at, row: falls(cells, at) }))
  return { balls, mean: balls.length ? sum(balls.map(({ row }) => ANSWERS[row].score)) / balls.length : null }
}

// The address has what differs from the beginning, as in p9-0.2_o25_d8_r: the border of
// place 9 at 0.2, node 25 open, 8 answers drawn, the reference shown.
export const written = ({ moved, open, drawn, reference }) => [
  ...Object.entries(moved).map(([prefix, borders]) =>
    [`p${PLACES.findIndex((node) => node.prefix === prefix)}`, ...borders].join("-")),
  ...(open ? [`o${NODES.findIndex(({ prefix }) => prefix === open)}`] : []),
  ...(drawn ? [`d${drawn}`] : []),
  ...(reference ? ["r"] : []),
].join("_")

const PART = /^(?:p(?<place>\d+)(?<borders>(?:-\d(?:\.\d+)?)+)|o(?<open>\d+)|d(?<drawn>\d+)|(?<reference>r))$/
const ascend = (borders) => [0, ...borders, 1].every((x, i, all) => i === 0 || x >= all[i - 1])
export const read = (sent, begin, first = false) => {
  const state = { ...begin, moved: { ...begin.moved } }
  for (const part of sent.split("_")) {
    const { place, borders, open, drawn, reference } = part.match(PART)?.groups ?? {}
    const node = PLACES[place], at = borders?.slice(1).split("-").map(Number)
    const free = !first || Object.keys(state.moved).length === 0
    if (node && free && at.length === node.children.length - 1 && ascend(at)) state.moved[node.prefix] = at
    if (NODES[open]) state.open = NODES[open].prefix
    if (Number(drawn) <= MOST) state.drawn = Number(drawn)
    if (reference && !first) state.reference = true
  }
  return state
}

// The same in Python: it runs as pasted and prints these numbers.
export const python = ({ moved }) => {
  const entries = Object.keys(moved).map((prefix) => {
    const node = PLACES.find((place) => place.prefix === prefix)
    return `    ${JSON.stringify(prefix)}: ${JSON.stringify(probabilities(node, moved)).replaceAll(",", ", ")},\n`
  })
  return `import torch
from ppo_ref.examples import world

w = world()
# Probabilities of the next token, by what it follows.
moved = {${entries.length ? `\n${entries.join("")}` : ""}}
log_probs = w.edge_log_probs.clone()
for prefix, probs in moved.items():
    after = w.parents == w.prefixes.index(prefix)
    probs = torch.tensor(probs, dtype=log_probs.dtype)
    log_probs[after] = probs.log()
values = w.prefix_values(log_probs)
print("J", w.mean_score(log_probs).item())
for prefix in moved:
    value = values[w.prefixes.index(prefix)]
    print("V", prefix, value.item())
print("probabilities", w.response_probs(log_probs).tolist())
`
}
