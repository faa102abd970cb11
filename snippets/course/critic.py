"""The critic: a baseline for every prefix, learned by regression."""

# --8<-- [start:count]
from ppo_ref.examples import WORDS, world

w = world()
P = w.response_probs(w.edge_log_probs)
rows = [9, 10, 11, 12]  # all that begin with No
share = P[rows] / P[rows].sum()
right = w.scores[rows]
for row, p in zip(rows, share):
    ids = w.responses[row][w.response_mask[row]]
    words = [WORDS["en"][i] for i in ids]
    print(f"{p:.3f} {w.scores[row]:.0f}", *words)
V_no = share @ right
print(f"V {V_no:.3f}")
# --8<-- [end:count]

# --8<-- [start:start]
exact = w.prefix_values(w.edge_log_probs)
V_of = dict(zip(w.prefixes, exact.tolist()))
first = w.edge_log_probs[w.parents == 0].exp()
after = [V_of["Yes"], V_of["No"], V_of["Let"]]
start = sum(p * V for p, V in zip(first, after))
J = w.mean_score(w.edge_log_probs).item()
print(f"V(s_0) {start:.4f} J {J:.4f}")
assert abs(start - J) < 1e-9
assert abs(V_of["No"] - V_no) < 1e-9
# --8<-- [end:start]

# --8<-- [start:free]
import torch

mask = w.response_mask
G = w.scores[:, None] * mask  # the returns
logits = w.edge_log_probs.clone().requires_grad_()

def gradients(A):
    """What each answer alone does to the logits."""
    log_p = w.token_log_probs(w.log_softmax(logits))
    each = (A * log_p).sum(1)
    rows = torch.eye(len(each), dtype=each.dtype)
    (pushes,) = torch.autograd.grad(
        each, logits, rows, is_grads_batched=True,
    )
    return pushes

def report(name, A):
    pushes = gradients(A)
    mean = P @ pushes
    noise = P @ (pushes - mean).square().sum(1)
    roots = mean[w.parents == 0]
    cells = " ".join(f"{x:z7.4f}" for x in roots)
    print(f"{name:5} {cells}  noise {noise:.3f}")
    return mean, roots, noise.item()

V = w.exact_values
mean_0, roots_0, noise_0 = report("0", G)
less_J = (G - J) * mask
mean_J, roots_J, noise_J = report("J", less_J)
mean_V, roots_V, noise_V = report("V", G - V)
assert mean_J.allclose(mean_0)
assert mean_V.allclose(mean_0)
# --8<-- [end:free]

# --8<-- [start:distance]
last = mask.sum(1) - 1
V_after = V.roll(-1, 1)
V_after[range(14), last] = w.scores
truth = V_after - V
chosen = mask & (w.old_log_probs < 0)
weight = P[:, None] * chosen  # how often it occurs

def distance(A):
    off = (weight * (A - truth).square()).sum()
    return (off / weight.sum()).sqrt().item()

pushed = {"score": G, "- J": G - J, "- V": G - V}
far = {}
for name, A in pushed.items():
    far[name] = distance(A)
    print(f"{name:5} {far[name]:.3f}")
# --8<-- [end:distance]

# --8<-- [start:example]
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch

batch = shared_batch()
both, values = batch.response_mask, batch.values
returns = batch.scores[:, None] * both
A = (returns - values) * both
for row, n in enumerate(both.sum(1)):
    for name, x in zip("VGA", (values, returns, A)):
        cells = (f"{v:5.2f}" for v in x[row, :n])
        print(f"answer {row} {name}", *cells)
# --8<-- [end:example]

# --8<-- [start:judge]
r = torch.zeros(2, 6, dtype=torch.float64)
r[0, 5] = 1  # the score, on the last token
judge = gae(
    token_level_rewards=r, values=values,
    response_mask=both, gamma=1.0, gae_lambda=1.0,
)
assert judge.advantages.allclose(A)
# --8<-- [end:judge]

# --8<-- [start:loss]
from ppo_ref.losses import value_loss

v = values.clone().requires_grad_()
N = both.sum()
errors = (v - returns) * both
loss = errors.square().sum() / (2 * N)
loss.backward()
print(f"loss {loss:.4f}")
pull = -N * v.grad
print("pull", *(f"{x:.2f}" for x in pull[1, :4]))

judge = value_loss(
    values=values, old_values=values,
    returns=returns, response_mask=both,
    value_clip_range=torch.inf,  # no clip
)
assert judge.loss.allclose(loss)
assert pull.allclose(A)
# --8<-- [end:loss]

# --8<-- [start:settle]
rate = 0.1
for steps in 0, 1, 10, 100:
    guess = 0.40
    for _ in range(steps):
        pulls = right - guess  # one an answer
        guess += rate * (share @ pulls).item()
    error = share @ (right - guess).square()
    cells = f"V {guess:.2f} error {error:.4f}"
    print(f"{steps:3} steps: {cells}")
# --8<-- [end:settle]

# --8<-- [start:moved]
off = (w.values - V).abs() > 0.005
for row, t in (9, 1), (0, 4), (0, 5):
    old, new = w.values[row, t], V[row, t]
    print(f"{old:.2f} -> {new:.2f}")
    off &= w.values != old
assert not off.any()  # there are no others
# --8<-- [end:moved]

# --8<-- [start:least]
length = mask.sum(1).double()

def all_answers(V):
    """The loss, each answer as often as likely."""
    squares = ((V - G).square() * mask).sum(1)
    return (P @ squares / (2 * P @ length)).item()

print(f"exact V {all_answers(V):.4f}")
print(f"critic  {all_answers(w.values):.4f}")
# --8<-- [end:least]

# --8<-- [start:too_late]
late, _, _ = report("late", G - V_after)
assert late.abs().max() < 1e-9
# --8<-- [end:too_late]
