// The way of one answer through an iteration of PPO, without its looks: seven stations,
// and at each what becomes of its six tokens. Node compares it with ppo_ref
// (tests/site/lab/test_stations.py).
import { gae, tokenRewards } from "./ppo.js"
import { ANSWERS, criticValue } from "./world.js"

export const ROW = 11 // right by luck
export const BETA = 0.01, LAMBDA = 0.95, CUT = 2, RATE = 1

// After one step of the policy gradient with this answer alone. Each of its tokens has
// siblings of its own; what is pushed up takes from them.
const ratioOf = (token, push) => {
  const weigh = (other) => other.actor * Math.exp(push * ((other === token) - other.actor))
  const all = token.parent.children.reduce((sum, other) => sum + weigh(other), 0)
  return weigh(token) / all / token.actor
}

export const numbers = () => {
  const { tokens, before, score } = ANSWERS[ROW]
  const last = tokens.length - 1, mask = [tokens.map(() => true)]
  const probabilities = tokens.map(({ actor }) => actor)
  const kl = [tokens.map(({ actor, reference }) => Math.log(actor) - Math.log(reference))]
  const tokenScores = [tokens.map((_, t) => t === last ? score : 0)]
  const rewards = tokenRewards({ tokenScores, kl, mask, beta: BETA })
  const values = before.map((node) => criticValue(node))
  const { deltas: [deltas], advantages: [advantages], returns: [returns] } =
    gae({ rewards, values: [values], mask, gamma: 1, lambda: LAMBDA })
  const ratios = tokens.map((token, t) => ratioOf(token, RATE * advantages[t] / tokens.length))
  return { tokens, score, probabilities, rewards: rewards[0], values, deltas, advantages, returns, ratios,
    answer: probabilities.reduce((product, p) => product * p, 1),
    cut: rewards[0].slice(0, CUT).reduce((sum, r) => sum + r, 0) + values[CUT] }
}

// The stations in the order of the data, each named by its topic. A mark is drawn from one
// height to another: on a token (`on`), or before it, where V stands (`before`). What is
// faint has no part in it.
export const stations = () => {
  const { probabilities, rewards, values, advantages, returns, ratios, score, cut } = numbers()
  const bars = (row, base = 0) => row.map((x) => ({ at: "on", from: base, to: x, number: x }))
  const posts = (row) => row.map((x) => ({ at: "before", from: 0, to: x, number: x }))
  return [
    { topic: "pipeline", marks: bars(probabilities) },
    { topic: "rewards", marks: bars(rewards) },
    { topic: "alignment", marks: posts(values), score },
    { topic: "bootstrap", cut, marks: rewards.map((r, t) => t === CUT
      ? { at: "before", from: 0, to: values[t], number: values[t] }
      : { at: "on", from: 0, to: r, number: r, faint: t > CUT }) },
    { topic: "gae", marks: bars(advantages) },
    { topic: "critic", marks: values.map((v, t) => ({ at: "before", from: v, to: returns[t], number: returns[t] })) },
    { topic: "on_policy", marks: ratios.map((ratio) => ({ at: "on", from: 0, to: ratio - 1, number: ratio })) },
  ]
}
