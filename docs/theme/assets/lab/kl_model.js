// The KL of one position without its looks: two distributions over a few tokens, and who
// samples. Node compares it with ppo_ref (tests/site/lab/test_lab.py).
import { k1, k2, k3 } from "./ppo.js"
import { ROOT } from "./world.js"

// The example of rewards/kl_of_one_token, its picture's, and of rewards/kl_estimators; and the
// first token of the course's world.
export const SETS = {
  four: { actor: [0.6, 0.2, 0.15, 0.05], ref: [0.3, 0.3, 0.2, 0.2] },
  first: { actor: ROOT.children.map(({ actor }) => actor), ref: ROOT.children.map(({ reference }) => reference) },
}
export const begin = (set) => ({ set, actor: [...SETS[set].actor], ref: [...SETS[set].ref], temperature: 1 })
export const BEGIN = begin("four")

// The address has what differs from where its tokens begin, as JSON.
export const read = (sent) => {
  const found = JSON.parse(sent), state = begin(Object.hasOwn(SETS, found.set) ? found.set : "four")
  for (const key of ["actor", "ref"]) {
    const row = found[key]
    if (!Array.isArray(row) || row.length !== state[key].length || !row.every(Number.isFinite)) continue
    const all = row.map((x) => Math.min(Math.max(x, 0.001), 0.999)), sum = all.reduce((a, b) => a + b)
    state[key] = Math.abs(sum - 1) < 1e-4 ? all : all.map((x) => x / sum)
  }
  if (Number.isFinite(found.temperature)) state.temperature = Math.min(Math.max(found.temperature, 0.25), 4)
  return state
}
export const written = (state) => {
  const other = Object.entries(state).filter(([key, x]) => JSON.stringify(x) !== JSON.stringify(key === "set" ? "four" : begin(state.set)[key]))
  return other.length ? JSON.stringify(Object.fromEntries(other)) : ""
}

// One probability is set, the others share the rest as before; none is 0.
export const moved = (row, at, x) => {
  const rest = row.reduce((sum, p, i) => i === at ? sum : sum + p, 0)
  const others = row.map((p, i) => i === at ? x : Math.max(p / rest * (1 - x), 0.002))
  const sum = others.reduce((a, b) => a + b)
  return others.map((p) => Number((p / sum).toFixed(6)))
}

export const measured = ({ actor, ref, temperature }) => {
  const kld = actor.map((p, i) => Math.log(p) - Math.log(ref[i]))
  const hot = actor.map((p) => p ** (1 / temperature)), total = hot.reduce((a, b) => a + b)
  const sampled = hot.map((x) => x / total)
  const mean = (f) => sampled.reduce((sum, s, i) => sum + s * f(kld[i]), 0)
  return {
    actor, ref, kld, sampled, area: kld.map((k, i) => k * sampled[i]),
    below: mean((k) => +(k < 0)), mean: mean(k1), k2: mean(k2), k3: mean(k3),
  }
}

export const python = ({ actor, ref, temperature }) => `import torch
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

actor = torch.tensor([[${actor.join(", ")}]], dtype=torch.float64)
ref = torch.tensor([[${ref.join(", ")}]], dtype=torch.float64)
sampled = (actor.log() / ${temperature}).softmax(1)  # at a temperature
given = {"log_probs": actor.log(), "ref_log_probs": ref.log()}
kld = kl_k1(**given)
print("below", sampled[kld < 0].sum().item())
for name, k in ("mean", kl_k1), ("k2", kl_k2), ("k3", kl_k3):
    print(name, (sampled * k(**given)).sum().item())
`
