// The cells of the world's drawing: every answer as a path of cells, each as wide as it is
// likely, below what it begins with. Node compares it with ppo_ref
// (tests/site/lab/test_wall.py).
import { ANSWERS, ROOT } from "./world.js"

const below = (node) => [node, ...node.children.flatMap(below)]
export const NODES = below(ROOT)
// Where there is something to choose, and the borders that can be moved there: border k
// stands between child k and the next one.
export const PLACES = NODES.filter(({ children }) => children.length > 1)
export const BORDERS = PLACES.flatMap((node) => node.children.slice(1).map((_, k) => ({ node, k })))

export const sum = (numbers) => numbers.reduce((total, x) => total + x, 0)

// `moved` has the borders of a prefix as shares of its cell, from left to right. What is
// not in it stands where the actor has it.
export const probabilities = (node, moved) => {
  const borders = moved[node.prefix]
  return borders ? [...borders, 1].map((border, i) => border - (borders[i - 1] ?? 0)) : node.children.map(({ actor }) => actor)
}
export const bordersOf = (probs) => probs.slice(1).map((_, k) => sum(probs.slice(0, k + 1)))

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
export const vanished = (node, cells) => node.children.filter(({ prefix }) => cells.get(prefix).p < VANISHED)
export const meanScore = (moved) => lay(moved).get("").value

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
