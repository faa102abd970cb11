// The ten tokens of the batch, updated again and again on the same two answers, without the
// looks: how far the ratio of each has gone. Node compares it with ppo_ref
// (tests/site/lab/test_lab.py).
import { ANSWERS, ROOT, criticValue } from "./world.js"

const CLIP = 0.2, RATE = 1
export const MOST = 5 // updates

// ppo_ref.examples.shared_batch: two answers; return minus value is the advantage.
const TOKENS = [0, 9].flatMap((row) => {
  const { tokens, before, score } = ANSWERS[row]
  return tokens.map((node, t) => ({ node, advantage: score - criticValue(before[t]) }))
})

const below = (node) => node.children.flatMap((child) => [child, ...below(child)])
const softmax = (logits, { parent }) => {
  const all = parent.children.reduce((sum, child) => sum + Math.exp(logits.get(child)), 0)
  return (node) => Math.exp(logits.get(node)) / all
}

// What each token is after so many updates, and whether its own push has stopped. A token's
// push moves its siblings, too: they share a softmax.
export const beads = ({ updates, clip }) => {
  const logits = new Map(below(ROOT).map((node) => [node, Math.log(node.actor)]))
  const now = () => TOKENS.map(({ node, advantage }) => {
    const ratio = softmax(logits, node)(node) / node.actor
    return { node, advantage, ratio, out: clip && (advantage > 0 ? ratio > 1 + CLIP : ratio < 1 - CLIP) }
  })
  for (let n = 0; n < updates; n++) {
    const steps = new Map()
    for (const { node, advantage, ratio, out } of now()) {
      if (out) continue
      const p = softmax(logits, node)
      for (const other of node.parent.children) {
        const step = advantage * ratio * ((other === node) - p(other)) / TOKENS.length
        steps.set(other, (steps.get(other) ?? 0) + RATE * step)
      }
    }
    for (const [node, step] of steps) logits.set(node, logits.get(node) + step)
  }
  return now()
}
