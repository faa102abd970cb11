// PPO at the level of tokens, as ppo_ref computes it, for the widgets of the lab.
//
// Rows are arrays of numbers, one for each token slot; a mask is an array of booleans,
// true where the token counts, gaps allowed. What stands outside the mask is never read,
// and results are 0 there. Nothing here touches the page: node compares all of it with
// ppo_ref (tests/site/lab/test_lab.py).

const EPSILON = 1e-8 // under the root, where advantages are whitened
const FARTHEST = 20 // nats, the bound on a log-ratio

const map = (rows, f) => rows.map((row, i) => row.map((x, t) => f(x, i, t)))
const counted = (rows, mask) => rows.flatMap((row, i) => row.filter((_, t) => mask[i][t]))

export const mean = (rows, mask) => {
  const all = counted(rows, mask)
  return all.reduce((sum, x) => sum + x, 0) / all.length
}

// The slots of a row that count, first to last.
export const slots = (mask) => mask.flatMap((counts, t) => counts ? [t] : [])

// The score of each answer, on its last token.
export const tokenScores = (scores, mask) =>
  mask.map((row, i) => row.map((_, t) => t === slots(row).at(-1) ? scores[i] : 0))

export const tokenRewards = ({ tokenScores, kl, mask, beta }) =>
  map(tokenScores, (score, i, t) => mask[i][t] ? score - beta * kl[i][t] : 0)

// TD errors, advantages and returns; V is 0 after the last token.
export const gae = ({ rewards, values, mask, gamma, lambda }) => {
  const zeros = () => map(rewards, () => 0)
  const [deltas, advantages, returns] = [zeros(), zeros(), zeros()]
  mask.forEach((row, i) => {
    let nextValue = 0, later = 0
    for (const t of slots(row).reverse()) {
      deltas[i][t] = rewards[i][t] + gamma * nextValue - values[i][t]
      later = advantages[i][t] = deltas[i][t] + gamma * lambda * later
      returns[i][t] = later + values[i][t]
      nextValue = values[i][t]
    }
  })
  return { deltas, advantages, returns }
}

// To mean 0 and variance 1 over the tokens that count; needs two of them.
export const whiten = (x, mask) => {
  const center = mean(x, mask)
  const all = counted(x, mask)
  const variance = all.reduce((sum, a) => sum + (a - center) ** 2, 0) / (all.length - 1)
  return map(x, (a, i, t) => mask[i][t] ? (a - center) / Math.sqrt(variance + EPSILON) : 0)
}

// Of one token: its loss, whether the clip decides it, and its push. The push is minus
// the loss differentiated by the log-prob: above 0 the token becomes more probable.
export const policyToken = ({ logRatio, advantage, low, high, dual = Infinity }) => {
  const ratio = Math.exp(Math.min(Math.max(logRatio, -FARTHEST), FARTHEST))
  const near = Math.min(Math.max(ratio, 1 - low), 1 + high)
  const clipped = -advantage * near > -advantage * ratio
  const unbounded = Math.max(-advantage * ratio, -advantage * near)
  const bounded = advantage < 0 && -advantage * dual < unbounded
  const flat = bounded || clipped || Math.abs(logRatio) > FARTHEST
  return {
    ratio, clipped, bounded,
    loss: bounded ? -advantage * dual : unbounded,
    push: flat ? 0 : advantage * ratio,
  }
}

// The loss of each token and their mean, the share that the clip decides, the mean KL.
export const policyLoss = ({ logRatios, advantages, mask, low, high, dual }) => {
  const tokens = map(logRatios, (logRatio, i, t) =>
    policyToken({ logRatio, advantage: advantages[i][t], low, high, dual }))
  const part = (f) => map(tokens, (token, i, t) => mask[i][t] ? f(token) : 0)
  const losses = part(({ loss }) => loss)
  return {
    losses,
    pushes: part(({ push }) => push),
    clipped: part(({ clipped }) => +clipped),
    loss: mean(losses, mask),
    clipfrac: mean(part(({ clipped }) => +clipped), mask),
    kl: mean(map(logRatios, (x) => -Math.min(Math.max(x, -FARTHEST), FARTHEST)), mask),
  }
}

// Half the mean squared error of the critic.
export const valueLoss = (values, returns, mask) =>
  mean(map(values, (v, i, t) => (v - returns[i][t]) ** 2 / 2), mask)

// What one token says of KL(actor, reference): log-prob of the actor less the reference's.
export const k1 = (logRatio) => logRatio
export const k2 = (logRatio) => logRatio ** 2 / 2
export const k3 = (logRatio) => Math.expm1(-logRatio) + logRatio
