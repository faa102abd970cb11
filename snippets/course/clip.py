"""The clip: a batch used too long, the four cases, the shared batch, no bound."""

# --8<-- [start:too_long]
import torch

V = torch.tensor([0.25, 0.50])  # before each token
A_10 = 0 - V  # the answer 10 scored 0

def plain(ratio, A):
    return ratio * A

def train(objective, updates):
    z = torch.zeros(2)  # logits of a 1
    for _ in range(updates):
        z.requires_grad_()
        p = z.sigmoid()
        p_10 = torch.stack([p[0], 1 - p[1]])
        goal = objective(p_10 / 0.5, A_10).mean()
        (g,) = torch.autograd.grad(goal, z)
        z = (z + 1 * g).detach()  # learning rate 1
    return z.sigmoid()
# --8<-- [end:too_long]

# --8<-- [start:unclipped]
def show(objective):
    J = {}
    print("updates first second    J")
    for n in 0, 2, 5, 20, 100:
        first, second = train(objective, n)
        J[n] = first * second
        cells = f"{first:5.2f} {second:6.2f}"
        print(f"{n:7} {cells} {J[n]:5.3f}")
    return J

J = show(plain)
# --8<-- [end:unclipped]

# --8<-- [start:cases]
eps = 0.2

def clipped(ratio, A):
    bounded = ratio.clamp(1 - eps, 1 + eps)
    return torch.min(ratio * A, bounded * A)

print(" A ratio plain  clip   min slope")
for a in 1.0, -1.0:
    for r in 0.7, 1.3:
        r = torch.tensor(r, requires_grad=True)
        near = r.clamp(1 - eps, 1 + eps) * a
        least = clipped(r, a)
        (slope,) = torch.autograd.grad(least, r)
        row = r, r * a, near, least, slope
        cells = (f"{x.item():5.1f}" for x in row)
        print(f"{a:+2.0f}", *cells)
# --8<-- [end:cases]

# --8<-- [start:repaired]
safe = show(clipped)
# --8<-- [end:repaired]

# --8<-- [start:shared]
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask = batch.response_mask
old = batch.old_log_probs
A = batch.scores[:, None] - batch.values

p = old.exp()
z = torch.logit(p) + 10 * A * (1 - p) / 10
new = z.sigmoid().log()
ratio = (new - old).exp()
out = (A > 0) & (ratio > 1 + eps)
out |= (A < 0) & (ratio < 1 - eps)
for row, n in enumerate(mask.sum(1)):
    cells = (f"{x:.3f}" for x in ratio[row, :n])
    print(f"answer {row}", *cells)
    flags = (f"{x:5}" for x in out[row, :n])
    print("outside ", *flags)
# --8<-- [end:shared]

# --8<-- [start:judge]
from ppo_ref.losses import policy_loss

new.requires_grad_()
judged = policy_loss(
    log_probs=new,
    old_log_probs=old,
    advantages=A,
    response_mask=mask,
    clip_range=eps,
)
goal = clipped((new - old).exp(), A)[mask].mean()
assert judged.loss.isclose(-goal)
(g,) = torch.autograd.grad(judged.loss, new)
assert (g[mask] == 0).equal(out[mask])
clip_fraction = out[mask].double().mean()
assert judged.clip_fraction == clip_fraction
print(f"clip fraction {clip_fraction:.2f}")
# --8<-- [end:judge]

# --8<-- [start:how_far]
edge = torch.where(A < 0, 1 - eps, 1 + eps)
for row, t in (1, 1), (0, 2):
    there = p[row, t] * edge[row, t]
    print(f"{p[row, t]:.3f} -> {there:.3f}")
# --8<-- [end:how_far]

# --8<-- [start:first]
judged = policy_loss(
    log_probs=old,
    old_log_probs=old,
    advantages=A,
    response_mask=mask,
)
print(f"clip fraction {judged.clip_fraction:.2f}")
# --8<-- [end:first]

# --8<-- [start:no_min]
slopes = {}
for keep_min in True, False:
    r = torch.tensor(0.7, requires_grad=True)
    goal = r.clamp(1 - eps, 1 + eps)  # A = 1
    if keep_min:
        goal = torch.min(r, goal)
    (slope,) = torch.autograd.grad(goal, r)
    slopes[keep_min] = slope.item()
    print(f"min {keep_min}: slope {slope:.0f}")
# --8<-- [end:no_min]
