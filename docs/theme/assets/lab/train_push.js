// Batches that are drawn, and where each pushes: for the scenes of `train` that need them.
import { random, sum } from "./cells_model.js"
import { ACTOR, BATCHES, TRUE, answersOf, batchGradient, exactGradient, meanOf, rowsOf } from "./train_model.js"
import { ANSWERS } from "./world.js"

// The batches of eight that everybody draws, one after another, and how each pushes.
const SIZE = 8
const ends = ANSWERS.map((_, row) => row === ANSWERS.length - 1 ? 1 : sum(answersOf(ACTOR).slice(0, row + 1)))
export const batchesUntil = (last) => {
  const drawn = random(SIZE * last).map((at) => ends.findIndex((end) => at < end))
  return Array.from({ length: last }, (_, i) => drawn.slice(SIZE * i, SIZE * (i + 1)))
}
const BASELINES = { 0: () => 0, mean: (rows) => sum(rows.map((row) => TRUE[row])) / rows.length, J: () => meanOf(ACTOR) }
export const baseline = (rows, base) => BASELINES[base](rows)
export const push = (rows, base) => {
  const b = baseline(rows, base)
  const tokens = rows.flatMap((row) => rowsOf[row].map((edge) => ({ edge, advantage: TRUE[row] - b, old: ACTOR[edge] })))
  return batchGradient(ACTOR, tokens, { count: rows.length })
}
// How many of the first batches push "Yes" down, and how many do not push it, after each.
const counted = new Map()
export const downsOf = (base) => {
  if (!counted.has(base)) {
    let down = 0, none = 0
    counted.set(base, batchesUntil(BATCHES).map((rows) => {
      const [yes] = push(rows, base)
      if (Math.abs(yes) < 1e-12) none++
      else if (yes < 0) down++
      return [down, none]
    }))
  }
  return counted.get(base)
}
export const TRUTH = exactGradient(ACTOR, TRUE)
