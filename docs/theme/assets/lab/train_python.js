// What a scene of `train` shows, in Python: it comes when somebody wants to copy it.
import { batchesUntil } from "./train_push.js"

// The same in Python: it runs as pasted and prints these numbers.
const head = `import torch
from ppo_ref.examples import world

w = world()
`
const climb = (n, goal) => `for _ in range(${n}):
    z.requires_grad_()
    log_probs = w.log_softmax(z)
${goal.replace(/^/gm, "    ")}
    (g,) = torch.autograd.grad(goal, z)
    z = (z + g).detach()
log_probs = w.log_softmax(z)
P = w.response_probs(log_probs)
`
const onBatch = (rows, values, goal) => (n) => `rows = ${rows}  # of the world: the batch
mask = w.response_mask[rows]
old = w.old_log_probs[rows]
scores = w.scores[rows]
A = scores[:, None] - w.${values}[rows]
z = w.edge_log_probs.clone()
${climb(n, `new = w.token_log_probs(log_probs)[rows]
ratio = (new - old).exp()
${goal}`)}new = w.token_log_probs(log_probs)[rows]
print("J", (P @ w.scores).item())
print("ratio", (new - old).exp()[mask].tolist())
`
const CODE = {
  ratio: ({ n }) => onBatch("[0, 9]", "values", "goal = (ratio * A)[mask].mean()")(n),
  clip: ({ n, clip }) => onBatch("[8, 8]", "exact_values", clip
    ? "near = ratio.clamp(1 - 0.2, 1 + 0.2)\ngoal = torch.min(ratio * A, near * A)\ngoal = goal[mask].mean()"
    : "goal = (ratio * A)[mask].mean()")(n),
  leash: ({ n, beta }) => `proxy = w.scores.clone()
proxy[13] = 2  # "Let us think step by step"
ref = w.edge_ref_log_probs
beta = ${beta}
z = ref.clone()
${climb(n, `P = w.response_probs(log_probs)
kld = w.token_log_probs(log_probs - ref).sum(1)
goal = P @ proxy - beta * (P @ kld)`)}print("proxy", (P @ proxy).item())
print("J", (P @ w.scores).item())
print("Let", P[13].item())
`,
  entropy: ({ n }) => `z = w.edge_log_probs.clone()
${climb(n, "goal = w.mean_score(log_probs)")}right = P[w.scores == 1]
reach = w.prefix_probs(log_probs)
each = -log_probs.exp() * log_probs
entropy = reach[w.parents] @ each / reach.sum()
print("J", right.sum().item())
print("entropy", entropy.item())
print("first", right[0].item())
print("others", right[1:].sum().item())
`,
  sampling: ({ temperature, topP }) => `temperature, top_p = ${temperature}, ${topP}
actor = w.edge_log_probs
q = w.log_softmax(actor / temperature)
for place in range(len(w.prefixes)):
    (after,) = torch.where(w.parents == place)
    p, order = q[after].exp().sort(descending=True)
    out = p.cumsum(0) - p >= top_p - 1e-12
    q[after[order[out]]] = -torch.inf
q = w.log_softmax(q)
reach = w.prefix_probs(q)
weights = reach[w.parents] * actor.exp()
weight = weights[q > -torch.inf].sum() / reach.sum()
print("score in the log", w.mean_score(q).item())
print("J", w.mean_score(actor).item())
print("weight of a token", weight.item())
`,
}
const pushCode = ({ batch, base }) => `rows = ${JSON.stringify(batchesUntil(batch).at(-1)).replaceAll(",", ", ")}  # drawn
z = w.edge_log_probs.clone().requires_grad_()
log_probs = w.token_log_probs(w.log_softmax(z))
log_P = log_probs.sum(1)[rows]
J = w.mean_score(w.log_softmax(z))
score = w.scores[rows]
b = ${{ 0: "0", mean: "score.mean()", J: "J.detach()" }[base]}
goal = ((score - b) * log_P).mean()
(push,) = torch.autograd.grad(
    goal, z, retain_graph=True
)
(truth,) = torch.autograd.grad(J, z)
first = w.parents == 0  # Yes, No, Let
print("push", push[first].tolist())
print("truth", truth[first].tolist())
`
export const python = (name, state) => head + (CODE[name] ?? pushCode)(state)
