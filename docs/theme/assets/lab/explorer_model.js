// The step explorer without its looks: what it begins with, every number it shows, and
// the same as Python. Node compares all three with ppo_ref (tests/site/lab/test_lab.py).
import * as ppo from "./ppo.js"

const filled = (x) => [Array(6).fill(x), Array(6).fill(x)]
const batch = { // ppo_ref.examples.shared_batch
  scores: [1, 0],
  kl: [[0.03, 0.02, 0.03, 0.02, 0.03, 0.01], [-0.2, -0.05, -0.05, -0.01, 0, 0]],
  values: [[0.82, 0.85, 0.88, 0.9, 0.92, 0.95], [0.82, 0.4, 0.2, 0.1, 0.25, 0.8]],
  ratios: filled(1),
  mask: [Array(6).fill(true), [true, true, true, true, false, false]],
}
const knobs = { answer: 0, gamma: 1, lambda: 0.95, beta: 0.01, low: 0.2, high: 0.2, dual: 3, white: true, bug: "" }

export const PRESETS = {
  batch: { ...knobs, ...batch },
  verl: { ...knobs, ...batch, lambda: 1, beta: 0 }, // docs/facts: gae_defaults, kl_in_reward
  old_verl: { ...knobs, ...batch, lambda: 1, beta: 0.001, dual: 0 }, // up to 0.3
  one: { // dialogue 001, question 1, as snippets/pipeline/token_rows.py has it
    ...knobs, ...batch, lambda: 1, beta: 0.1, white: false,
    scores: [1, 1],
    kl: filled(0.1),
    values: [[0.85, 0.88, 0.9, 0.93, 0.96, 0.99], [0.85, 0.88, 0.9, 0.93, 0.96, 0.99]],
    mask: filled(true),
  },
  fit: { // dialogue 001, question 3: V says 0.8, the return is 0.95
    ...knobs, ...batch, lambda: 1, beta: 0, white: false,
    scores: [0.95, 0.95],
    kl: filled(0),
    values: [[0.8, 0, 0, 0, 0, 0], [0.8, 0, 0, 0, 0, 0]],
    mask: [[true, false, false, false, false, false], [true, false, false, false, false, false]],
  },
  three: { // dialogue 004, question 4: ppo_ref.examples.three_tokens
    ...knobs, ...batch, beta: 0, white: false,
    scores: [1, 0],
    kl: filled(0),
    values: [[0.3, 0.4, 0.6, 0, 0, 0], [0.3, 0.4, 0.6, 0, 0, 0]],
    mask: [[true, true, true, false, false, false], [true, true, true, false, false, false]],
  },
}

// What a question page shows of it: where it begins, which rows and knobs. `total` adds
// the sum of each row, `fit` a button that puts the targets in place of the values.
const both = (row) => [[...row], [...row]]
const counted = (n) => both([0, 1, 2, 3, 4, 5].map((t) => t < n))
const plain = { ...knobs, ...batch, scores: [1, 1], kl: filled(0), beta: 0, white: false }
const three = { ...PRESETS.three, lambda: 1 }
export const VIEWS = {
  inputs: {
    begin: { ...plain, lambda: 0.9, values: both([0.3, 0.4, 0.9, -0.7, 0.6, 0.7]), mask: both([true, true, false, false, true, true]) },
    rows: ["mask", "rewards", "values", "deltas", "advantages"], knobs: ["lambda", "gamma"], digits: 3,
  },
  why_sum_deltas: { // two answers of ppo_ref.examples.two_token_tree
    begin: { ...plain, scores: [1, 0], lambda: 0, values: both([0.25, 0.1, 0, 0, 0, 0]), mask: counted(2) },
    rows: ["rewards", "values", "deltas", "advantages"], knobs: ["lambda"], slots: 2, answers: 2, total: true,
  },
  token_excesses: { begin: three, rows: ["values", "deltas", "advantages"], knobs: ["lambda"], slots: 3, digits: 3, total: true },
  return_minus_value: { begin: three, rows: ["rewards", "values", "deltas", "advantages", "returns"], knobs: ["lambda"], slots: 3, digits: 3 },
  td_error: {
    begin: { ...plain, lambda: 0, values: filled(0), mask: counted(4) },
    rows: ["rewards", "values", "returns"], knobs: ["lambda"], slots: 4, digits: 3, fit: true,
  },
  token_level_rewards: {
    begin: PRESETS.batch, rows: ["mask", "score", "kl", "rewards"], knobs: ["beta"], answers: 2, digits: { rewards: 4 }, total: true },
  slot_after_eos: {
    begin: { ...plain, answer: 1, scores: [1, 0], values: batch.values, mask: batch.mask },
    rows: ["mask", "values", "deltas", "advantages"], knobs: ["lambda"], digits: 3,
  },
}

// What each bug does, of those on debug/asserts, and to which numbers. The section of that page,
// #assert-..., has the assert that fires.
const late = (rows) => rows.map((row) => row.map((x, t) => row[t + 1] ?? x))
const shift = (name) => `${name} = torch.cat([${name}[:, 1:], ${name}[:, -1:]], 1)`
export const BUGS = {
  values: { assert: "values", inputs: (s) => ({ values: late(s.values) }), python: [shift("values")] },
  log_probs: {
    assert: "log-probs",
    inputs: (s) => ({ kl: late(s.kl), ratios: late(s.ratios) }),
    python: [shift("kl"), shift("ratios")],
  },
  padding: { assert: "padding" },
  score: { assert: "score" },
  reference: {
    assert: "kl",
    inputs: (s) => ({ kl: s.kl.map((row) => row.map((x) => x + 0.15)) }),
    python: ["kl = kl + 0.15"],
  },
  engine: {
    assert: "ratio",
    inputs: (s) => ({ ratios: s.ratios.map((row) => row.map((x) => x * 1.1)) }),
    python: ["ratios = ratios * 1.1"],
  },
  returns: { assert: "return-to-go" },
  targets: { assert: "targets" },
  split: { assert: "gradient" },
  steps: { assert: "steps" },
}

// Every row that the explorer shows, and the numbers below them.
export const compute = (state) => {
  const { scores, mask, gamma, lambda, beta, low, high, bug, white } = state
  const { kl, values, ratios } = { ...state, ...BUGS[bug]?.inputs?.(state) }
  const dual = state.dual || undefined
  const everything = mask.map((row) => row.map(() => true))
  const tokenScores = bug === "score"
    ? mask.map((row, i) => row.map((_, t) => t === row.length - 1 ? scores[i] : 0))
    : ppo.tokenScores(scores, mask)
  const rewards = ppo.tokenRewards({ tokenScores, kl, mask, beta })
  const result = ppo.gae({ rewards, values, mask, gamma, lambda })
  const { deltas, advantages } = result
  const whitened = ppo.whiten(advantages, bug === "padding" ? everything : mask)
  const used = !white ? advantages
    : whitened.map((row, i) => row.map((x, t) => mask[i][t] ? x : 0))
  const returns = bug === "returns" ? ppo.gae({ rewards, values, mask, gamma, lambda: 0.5 }).returns
    : bug === "targets" ? used.map((row, i) => row.map((x, t) => mask[i][t] ? x + values[i][t] : 0))
    : result.returns
  const logRatios = ratios.map((row) => row.map(Math.log))
  const policy = ppo.policyLoss({ logRatios, advantages: used, mask, low, high, dual })
  const means = mask.map((row, i) => ppo.mean([policy.losses[i]], [row]))
  return {
    tokenScores, kl, rewards, values, deltas, advantages, returns, used, ratios,
    losses: policy.losses, pushes: policy.pushes, clipped: policy.clipped,
    loss: bug === "split" ? means.reduce((sum, x) => sum + x, 0) / means.length : policy.loss,
    valueLoss: ppo.valueLoss(values, returns, mask),
    clipfrac: policy.clipfrac, ppoKl: policy.kl,
    steps: bug === "steps" ? mask.length : 1,
  }
}

// The same in Python: it runs as pasted and prints these numbers.
export const python = (state) => {
  const { scores, kl, values, ratios, mask, gamma, lambda, beta, low, high, dual, white, bug } = state
  const rows = (x) => `[${x.map((row) => `\n    [${row.map((y) => y === true ? "True" : y === false ? "False" : y).join(", ")}],`).join("")}\n]`
  const tensor = (x) => `torch.tensor(${rows(x)}, dtype=torch.float64)`
  const gae = (lambda_) => `gae(
    token_level_rewards=rewards, values=values, response_mask=mask,
    gamma=${gamma}, gae_lambda=${lambda_})`
  return [
    "import torch",
    "from ppo_ref.advantages import gae, td_residuals",
    "from ppo_ref.losses import policy_loss, value_loss",
    "from ppo_ref.masking import masked_whiten",
    "from ppo_ref.rewards import token_level_rewards, token_level_scores",
    "",
    `scores = torch.tensor([${scores}], dtype=torch.float64)`,
    `mask = torch.tensor(${rows(mask)})`,
    `kl = ${tensor(kl)}`,
    `values = ${tensor(values)}`,
    `ratios = ${tensor(ratios)}`,
    ...(BUGS[bug]?.python ?? []).map((line) => `${line}  # the bug`),
    bug === "score"
      ? "token_scores = torch.zeros_like(kl)\ntoken_scores[:, -1] = scores  # the bug"
      : "token_scores = token_level_scores(scores, mask)",
    `rewards = token_level_rewards(
    token_level_scores=token_scores, kl=kl, response_mask=mask,
    kl_coef=${beta})`,
    `deltas = td_residuals(
    token_level_rewards=rewards, values=values, response_mask=mask,
    gamma=${gamma})`,
    `advantages, returns = ${gae(lambda)}`,
    !white ? "used = advantages"
      : bug === "padding" ? "used = masked_whiten(advantages, torch.ones_like(mask)) * mask  # the bug"
      : "used = masked_whiten(advantages, mask)",
    ...(bug === "returns" ? [`_, returns = ${gae(0.5)}  # the bug: another lambda`] : []),
    ...(bug === "targets" ? ["returns = (used + values) * mask  # the bug: whitened"] : []),
    `policy = policy_loss(
    log_probs=ratios.log(), old_log_probs=torch.zeros_like(kl),
    advantages=used, response_mask=mask,
    clip_range=(${low}, ${high}), dual_clip=${dual || "None"})`,
    ...(bug === "split"
      ? [`loss = sum(  # the bug: a mean of means
    policy_loss(
        log_probs=ratios[i:i + 1].log(), old_log_probs=torch.zeros_like(kl[i:i + 1]),
        advantages=used[i:i + 1], response_mask=mask[i:i + 1],
        clip_range=(${low}, ${high}), dual_clip=${dual || "None"}).loss
    for i in range(2)) / 2`]
      : ["loss = policy.loss"]),
    `critic = value_loss(
    values=values, old_values=values, returns=returns,
    response_mask=mask, value_clip_range=0.5)`,
    "for name in (\"rewards\", \"deltas\", \"advantages\", \"returns\", \"used\"):",
    "    print(name, globals()[name].tolist())",
    "print(\"loss\", loss.item(), \"valueLoss\", critic.loss.item())",
    "print(\"clipfrac\", policy.clip_fraction.item(), \"ppoKl\", policy.approx_kl.item())",
    "",
  ].join("\n")
}
