// The bias and variance widget without its looks: every answer of a small tree, a critic
// with errors, and the advantage of one token in each of its continuations. Node compares
// this with ppo_ref (tests/site/lab/test_lab.py).
import { gae } from "./ppo.js"

// ppo_ref.examples.four_token_tree: a token is 0 or 1, evenly; three 1s score 1.
export const TOKENS = 4
const strings = (length) => Array.from({ length: 2 ** length }, (_, n) => length ? n.toString(2).padStart(length, "0") : "")
export const PREFIXES = [0, 1, 2, 3].flatMap(strings)
export const ANSWERS = strings(TOKENS)
export const score = (answer) => answer.replaceAll("0", "").length >= 3 ? 1 : 0
const average = (row) => row.reduce((sum, x) => sum + x, 0) / row.length
const EXACT = Object.fromEntries([...PREFIXES, ...ANSWERS].map((prefix) =>
  [prefix, average(ANSWERS.filter((answer) => answer.startsWith(prefix)).map(score))]))
export const exact = (prefix) => EXACT[prefix]

// Too high after a 1, too low after a 0, as the noisy critic of gae/variance.
export const SWAY = PREFIXES.map((prefix) => prefix ? (prefix.endsWith("1") ? 0.25 : -0.25) : 0)
export const BEGIN = { error: SWAY, times: 1, lambda: 0.5, gamma: 1, token: "1", seed: 0, count: 0 }

// What the critic says too much at each prefix. Right before the token that is judged it
// is exact: an error there is the same whichever token is chosen.
export const errors = ({ error, times, token }) =>
  PREFIXES.map((prefix, i) => prefix === token.slice(0, -1) ? 0 : times * error[i])

// The TD errors from the judged token on, in each answer that begins so; of them and
// lambda the estimates of its advantage are made.
const residuals = (state) => {
  const off = errors(state), from = state.token.length - 1
  const answers = ANSWERS.filter((answer) => answer.startsWith(state.token))
  return gae({
    rewards: answers.map((answer) => [0, 0, 0, score(answer)]),
    values: answers.map((answer) => [0, 1, 2, 3].map((t) => {
      const prefix = answer.slice(0, t)
      return exact(prefix) + off[PREFIXES.indexOf(prefix)]
    })),
    mask: answers.map(() => Array(TOKENS).fill(true)),
    gamma: state.gamma, lambda: 0,
  }).deltas.map((row) => row.slice(from))
}
const sums = (rows, decay) => rows.map((row) => row.reduceRight((later, delta) => delta + decay * later, 0))
export const estimates = (state) => sums(residuals(state), state.gamma * state.lambda)

// The true advantage is that of gamma = 1: a smaller gamma makes it another task.
export const truth = (token) => exact(token) - exact(token.slice(0, -1))

export const moments = (all, right) => {
  const mean = average(all), bias = mean - right
  const variance = average(all.map((x) => (x - mean) ** 2))
  return { mean, bias, variance, squared: bias ** 2 + variance }
}

const GRID = Array.from({ length: 101 }, (_, i) => i / 100)
export const curve = (state) => {
  const rows = residuals(state), right = truth(state.token)
  return GRID.map((lambda) => ({ lambda, ...moments(sums(rows, state.gamma * lambda), right) }))
}
export const best = (points) => points.reduce((least, point) => point.squared < least.squared - 1e-12 ? point : least)
export const monteCarlo = (token) => exact(token) * (1 - exact(token))

// Which continuations are written: the same for the same seed (mulberry32).
export const drawn = ({ seed, count, token }) => {
  let a = seed
  return Array.from({ length: count }, () => {
    a = (a + 0x6d2b79f5) | 0
    let x = Math.imul(a ^ (a >>> 15), 1 | a)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return Math.floor(((x ^ (x >>> 14)) >>> 0) / 2 ** 32 * 2 ** (TOKENS - token.length))
  })
}

export const python = (state) => {
  const { token, lambda, gamma } = state
  const size = 2 ** (TOKENS - token.length), first = ANSWERS.findIndex((answer) => answer.startsWith(token))
  const own = `${first}:${first + size}, ${token.length - 1}`
  return `import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import four_token_tree

tree = four_token_tree()  # a row an answer
answer, t = torch.arange(16)[:, None], torch.arange(4)
prefix = 2**t - 1 + (answer >> 4 - t)
error = torch.tensor([  # at each prefix: none, 0, 1, 00, 01, ...
    ${errors(state).join(", ")}
], dtype=torch.float64)
Q, V = tree.values[${first}, ${token.length}], tree.values[${first}, ${token.length - 1}]

def estimates(lam):  # of the token, in each answer that has it
    return gae(
        token_level_rewards=tree.token_level_rewards,
        values=tree.values + error[prefix],
        response_mask=tree.response_mask,
        gamma=${gamma}, gae_lambda=lam).advantages[${own}]

def squared(lam):
    A = estimates(lam)
    return ((A.mean() - (Q - V))**2 + A.var(correction=0)).item()

A = estimates(${lambda})
print("bias", (A.mean() - (Q - V)).item())
print("variance", A.var(correction=0).item())
print("squared", squared(${lambda}))
print("best", min((k / 100 for k in range(101)), key=squared))
` + (state.count ? `drawn = A[[int(n) for n in "${drawn(state).join("")}"]]
print("mean", drawn.mean().item())
print("spread", drawn.var(correction=0).item())
` : "")
}
