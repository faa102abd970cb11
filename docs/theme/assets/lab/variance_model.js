// The bias and variance widget without its looks: one token of the world, a critic that may
// err at what comes after it, and what each answer says of the token's advantage. Node
// compares this with ppo_ref (tests/site/lab/test_lab.py).
import { gae } from "./ppo.js"
import { PLACES, random } from "./cells_model.js"
import { ANSWERS, criticValue } from "./world.js"

// The tokens that can be judged, by what is written with them.
export const TOKENS = ["No", "Yes", "No idea", "Yes ,"]
const TREE = new Map(ANSWERS.flatMap(({ tokens }) => tokens.map((node) => [node.prefix, node])))
export const node = (prefix) => TREE.get(prefix)
const within = (prefix, token) => `${prefix} `.startsWith(`${token} `)
// Where the critic can err so that it matters for a token: where there is a choice after it.
export const placesAfter = (token) => PLACES.filter(({ prefix }) => within(prefix, token))

export const CRITICS = {
  exact: {}, wrong: { No: 0.9 },
  course: Object.fromEntries(PLACES.map((place) => [place.prefix, criticValue(place)])),
}
export const BEGIN = { token: "No", says: CRITICS.wrong, lambda: 0.5, gamma: 1, seed: 0, count: 40 }
export const MOST = 200 // samples

// What the critic says after a prefix: the exact value, unless it errs there. Before the
// token that is judged it is exact: an error there is the same whichever token is chosen.
export const value = ({ token, says }, { prefix, exact }) => within(prefix, token) ? says[prefix] ?? exact : exact

// The answers that go through a token, and how likely each is among them.
export const through = (token) => {
  const rows = ANSWERS.filter(({ tokens }) => tokens.some(({ prefix }) => prefix === token))
  const all = rows.reduce((sum, { probability }) => sum + probability, 0)
  return rows.map((answer) => ({ ...answer, weight: answer.probability / all }))
}

// The TD errors from the judged token on, in each of them; of these and lambda the estimates
// of its advantage are made.
const residuals = (state) => through(state.token).map(({ tokens, before, score, weight }) => ({ weight, deltas: gae({
  rewards: [tokens.map((_, t) => t === tokens.length - 1 ? score : 0)],
  values: [before.map((place) => value(state, place))],
  mask: [tokens.map(() => true)],
  gamma: state.gamma, lambda: 0,
}).deltas[0].slice(node(state.token).depth - 1) }))
const sums = (rows, decay) => rows.map(({ weight, deltas }) => ({ weight,
  advantage: deltas.reduceRight((later, delta) => delta + decay * later, 0) }))
export const estimates = (state) => sums(residuals(state), state.gamma * state.lambda)

// The true advantage is that of gamma = 1: a smaller gamma makes it another task.
export const truth = (token) => node(token).exact - node(token).parent.exact

export const moments = (all, right) => {
  const average = (f) => all.reduce((sum, { weight, advantage }) => sum + weight * f(advantage), 0)
  const mean = average((x) => x), bias = mean - right
  const variance = average((x) => (x - mean) ** 2)
  return { mean, bias, variance, squared: bias ** 2 + variance }
}

const GRID = Array.from({ length: 101 }, (_, i) => i / 100)
export const curve = (state) => {
  const rows = residuals(state), right = truth(state.token)
  return GRID.map((lambda) => ({ lambda, ...moments(sums(rows, state.gamma * lambda), right) }))
}
export const best = (points) => points.reduce((least, point) => point.squared < least.squared - 1e-12 ? point : least)
export const monteCarlo = (token) => node(token).exact * (1 - node(token).exact)

// Which of these answers are written: the same for the same seed.
export const drawn = ({ seed, count, token }) => {
  const rows = through(token)
  return random(count, seed).map((at) => {
    let left = at
    const found = rows.findIndex(({ weight }) => (left -= weight) < 0)
    return found < 0 ? rows.length - 1 : found
  })
}

// The address has what differs from the beginning, as in t1_l0.4_g0.9_s7_n200_v9-0.5_v10: the
// second of the tokens, and 0.5 for what the critic says after place 9; it is exact after
// place 10.
const KNOBS = { l: "lambda", g: "gamma", s: "seed", n: "count" }
const HIGHEST = { lambda: 1, gamma: 1, seed: 2 ** 31 - 1, count: MOST }
export const written = (state, begin) => [
  ...(state.token === begin.token ? [] : [`t${TOKENS.indexOf(state.token)}`]),
  ...Object.entries(KNOBS).filter(([, key]) => state[key] !== begin[key]).map(([letter, key]) => `${letter}${state[key]}`),
  ...PLACES.map(({ prefix }, i) => [i, begin.says[prefix], state.says[prefix]])
    .filter(([, was, is]) => was !== is).map(([i, , is]) => is === undefined ? `v${i}` : `v${i}-${is}`),
].join("_")

const PART = /^(?:t(?<token>\d)|(?<letter>[lgsn])(?<number>\d+(?:\.\d+)?)|v(?<place>\d+)(?:-(?<value>\d(?:\.\d+)?))?)$/
export const read = (sent, begin) => {
  const state = { ...begin, says: { ...begin.says } }
  for (const part of sent.split("_")) {
    const { token, letter, number, place, value } = part.match(PART)?.groups ?? {}
    if (TOKENS[token]) state.token = TOKENS[token]
    const key = KNOBS[letter], whole = key === "seed" || key === "count"
    if (key && number <= HIGHEST[key] && (!whole || Number.isInteger(Number(number)))) state[key] = Number(number)
    if (!PLACES[place]) continue
    if (value === undefined) delete state.says[PLACES[place].prefix]
    else if (value <= 1) state.says[PLACES[place].prefix] = Number(value)
  }
  return state
}

// The same in Python: it runs as pasted and prints these numbers.
export const python = (state) => {
  const { token, lambda, gamma } = state
  const says = Object.fromEntries(Object.entries(state.says).filter(([prefix]) => within(prefix, token)))
  const rows = ANSWERS.flatMap(({ tokens }, row) => tokens.some(({ prefix }) => prefix === token) ? [row] : [])
  return `from ppo_ref.advantages import gae
from ppo_ref.examples import world

w = world()
exact = w.prefix_values(w.edge_log_probs).tolist()
exact = dict(zip(w.prefixes, exact))
w = world(critic=exact | ${JSON.stringify(says)})
rows, t = ${JSON.stringify(rows)}, ${node(token).depth - 1}  # with ${JSON.stringify(token)}
P = w.response_probs(w.edge_log_probs)[rows]
P = P / P.sum()
truth = exact[${JSON.stringify(token)}] - exact[${JSON.stringify(node(token).parent.prefix)}]
rewards = 0 * w.values
last = w.response_mask.sum(1) - 1
rewards[range(len(last)), last] = w.scores

def estimates(lam):  # in each answer that has the token
    return gae(
        token_level_rewards=rewards, values=w.values,
        response_mask=w.response_mask,
        gamma=${gamma}, gae_lambda=lam).advantages[rows, t]

def variance(A):
    return P @ (A - P @ A)**2

def squared(lam):
    A = estimates(lam)
    return ((P @ A - truth)**2 + variance(A)).item()

A = estimates(${lambda})
print("bias", (P @ A - truth).item())
print("variance", variance(A).item())
print("squared", squared(${lambda}))
print("best", min((k / 100 for k in range(101)),
    key=lambda lam: round(squared(lam), 12)))
` + (state.count ? `drawn = A[[int(n) for n in "${drawn(state).join("")}"]]
print("mean", drawn.mean().item())
print("spread", drawn.var(correction=0).item())
` : "")
}
