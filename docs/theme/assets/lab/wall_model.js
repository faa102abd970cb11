// The wall without its looks: every answer of the world as a cell that is as wide as it is
// likely, below what it begins with. Node compares it with ppo_ref
// (tests/site/lab/test_wall.py).
import { BORDERS, NODES, PLACES, bordersOf, falls, laidOpen, lay, meanScore, probabilities, random, sum } from "./cells_model.js"
import { ANSWERS } from "./world.js"

export { PLACES, laidOpen, lay }

export const MOST = 1000 // answers to draw

// In the view of the first step only one border is away from its place; V has no name
// yet, and there is no reference.
export const BEGIN = { moved: {}, open: "", reference: false, drawn: 0 }
export const VIEWS = { goal: { first: true }, free: { first: false } }

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

// The furthest that J gets by one border alone. J is linear in where a border stands, so
// it is highest at an end.
export const best = () => Math.max(...BORDERS.flatMap(({ node, k }) =>
  [0, 1].map((share) => meanScore({ [node.prefix]: slide(node, {}, k, share) }))))

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
