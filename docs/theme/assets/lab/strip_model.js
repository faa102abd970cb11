// The strip without its looks: one answer of the world, what the critic says before each
// of its tokens, and what GAE makes of that. Node compares it with ppo_ref
// (tests/site/lab/test_strip.py).
import { gae } from "./ppo.js"
import { ANSWERS, ROOT, criticValue } from "./world.js"

// The answers that a reader may choose from, by their row.
export const CHOICES = [0, 9, 11, 12]
export const BEGIN = { answer: 11, gamma: 1, lambda: 0.95, critic: "", says: {} }

// Whose values they are, where nobody has said otherwise: those of the course's critic, the
// exact ones, or J everywhere, as of who has no critic.
export const CRITICS = { "": criticValue, exact: ({ exact }) => exact, mean: () => ROOT.exact }
// What the Lab offers to begin with.
export const PRESETS = { course: { critic: "", says: {} }, high: { critic: "", says: { No: 0.9 } },
  exact: { critic: "exact", says: {} }, mean: { critic: "mean", says: {} } }

// What each view begins with, and what is lit then. One with advantages has lambda, and the
// two first tokens that it weighs against each other over all answers. In the view of the
// critic the steps lead to the score, not to the next post.
export const VIEWS = {
  critic: { begin: { ...BEGIN, answer: 9, lambda: 1 }, atFirst: { kind: "V", t: 1 }, toScore: true },
  delta: { begin: BEGIN, atFirst: { kind: "d", t: 0 } },
  gae: { begin: BEGIN, atFirst: { kind: "A", t: 0 }, first: ["No", "Yes"], section: "three" },
  free: { begin: BEGIN, atFirst: { kind: "A", t: 0 }, first: ["No", "Yes"], all: true },
}
export const choices = ({ all }) => all ? [...ANSWERS.keys()] : CHOICES

// What the figures of that section are worth now, by their expressions there. They are
// about the answer that the view begins with, whichever is drawn.
export const figures = (state, begin) => {
  const { deltas, advantages } = estimate({ ...state, answer: begin.answer })
  const found = { lam: state.lambda }
  deltas.forEach((x, t) => { found[`delta[${t}]`] = x })
  advantages.forEach((x, t) => { found[`lucky[${t}]`] = x })
  return found
}

export const values = (row, { critic, says }) => ANSWERS[row].before.map((node) => says[node.prefix] ?? CRITICS[critic](node))

// The numbers of one answer: TD errors, advantages, and the part of each advantage that
// is carried back from the token behind it.
export const estimate = ({ answer, gamma, lambda, critic, says }) => {
  const { tokens, score } = ANSWERS[answer]
  const V = values(answer, { critic, says })
  const rewards = V.map((_, t) => t === V.length - 1 ? score : 0)
  const { deltas: [deltas], advantages: [advantages] } = gae({
    rewards: [rewards], values: [V], mask: [V.map(() => true)], gamma, lambda })
  return { tokens, score, values: V, deltas, advantages,
    exact: ANSWERS[answer].before.map(({ exact }) => exact),
    gains: V.map((v) => score - v),
    carried: advantages.map((x, t) => x - deltas[t]) }
}

// How far a value at a place is off: over all answers that go through it, the mean of the
// squared distance to their scores. The exact value has the least.
export const meanSquare = (answer, t, value) => {
  const { prefix } = ANSWERS[answer].before[t]
  const through = ANSWERS.filter(({ before }) => before.some((node) => node.prefix === prefix))
  const all = through.reduce((sum, { probability }) => sum + probability, 0)
  return through.reduce((sum, { probability, score }) => sum + probability / all * (value - score) ** 2, 0)
}

// Over all answers that begin with a token: what each of them says of its advantage, their
// mean, and the truth.
export const overAnswers = (word, state) => {
  const rows = [...ANSWERS.keys()].filter((row) => ANSWERS[row].tokens[0].en === word)
  const all = rows.reduce((sum, row) => sum + ANSWERS[row].probability, 0)
  const each = rows.map((row) => ({ row, weight: ANSWERS[row].probability / all,
    advantage: estimate({ ...state, answer: row }).advantages[0] }))
  const mean = each.reduce((sum, { weight, advantage }) => sum + weight * advantage, 0)
  const [token] = ANSWERS[rows[0]].tokens
  return { each, mean, truth: token.exact - token.parent.exact }
}

// The address has what differs from the beginning, as in a9_g0.9_l0.5_cexact_v11.2-0.9:
// answer 9, gamma 0.9, lambda 0.5, the exact values, but 0.9 before token 2 of answer 11.
const place = (prefix) => {
  for (const row of ANSWERS.keys()) {
    const t = ANSWERS[row].before.findIndex((node) => node.prefix === prefix)
    if (t >= 0) return `${row}.${t}`
  }
}
export const written = (state, begin) => [
  ...(state.answer === begin.answer ? [] : [`a${state.answer}`]),
  ...(state.gamma === begin.gamma ? [] : [`g${state.gamma}`]),
  ...(state.lambda === begin.lambda ? [] : [`l${state.lambda}`]),
  ...(state.critic === begin.critic ? [] : [`c${state.critic}`]),
  ...Object.entries(state.says).map(([prefix, value]) => `v${place(prefix)}-${value}`),
].join("_")

const PART = /^(?:a(?<answer>\d+)|g(?<gamma>[\d.]+)|l(?<lambda>[\d.]+)|c(?<critic>[a-z]+)|v(?<row>\d+)\.(?<t>\d)-(?<value>[\d.]+))$/
const share = (text) => Number.isFinite(Number(text)) && Number(text) <= 1
export const read = (sent, begin, view = {}) => {
  const state = { ...begin, says: { ...begin.says } }
  for (const part of sent.split("_")) {
    const { answer, gamma, lambda, critic, row, t, value } = part.match(PART)?.groups ?? {}
    if (choices(view).includes(Number(answer))) state.answer = Number(answer)
    if (lambda && share(lambda)) state.lambda = Number(lambda)
    if (view.all && gamma && share(gamma)) state.gamma = Number(gamma)
    if (view.all && critic && Object.hasOwn(CRITICS, critic)) state.critic = critic
    const node = ANSWERS[row]?.before[t]
    if (node && share(value)) state.says[node.prefix] = Number(value)
  }
  return state
}

// The same in Python: it runs as pasted and prints these numbers.
const CRITIC_IN_PYTHON = { "": "",
  exact: "w.prefix_values(w.edge_log_probs).tolist()",
  mean: "[w.mean_score(w.edge_log_probs).item()] * len(w.prefixes)" }
export const python = ({ answer, gamma, lambda, critic, says }) => `import torch
from ppo_ref.advantages import gae, td_residuals
from ppo_ref.examples import world

${critic ? `w = world()
said = ${CRITIC_IN_PYTHON[critic]}
critic = dict(zip(w.prefixes, said))
w = world(critic=critic | ${JSON.stringify(says)})` : `w = world(critic=${JSON.stringify(says)})`}
row = ${answer}
rewards = torch.zeros_like(w.values)
last = w.response_mask.sum(1) - 1
rewards[range(len(last)), last] = w.scores
batch = {
    "token_level_rewards": rewards,
    "values": w.values,
    "response_mask": w.response_mask,
}
gamma = ${gamma}
deltas = td_residuals(**batch, gamma=gamma)
advantages = gae(
    **batch, gamma=gamma, gae_lambda=${lambda}
).advantages
n = last[row] + 1
print("values", w.values[row, :n].tolist())
print("deltas", deltas[row, :n].tolist())
print("advantages", advantages[row, :n].tolist())
`
