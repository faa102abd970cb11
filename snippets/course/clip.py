"""The clip: a batch used too long, the four cases, what is gained, no bound."""

# --8<-- [start:chance]
import torch
from ppo_ref.examples import world

w = world()
start = w.edge_log_probs
P = w.response_probs(start)
wrong_yes = P[:9] @ (1 - w.scores[:9])
for p in P[8], wrong_yes:
    print(f"one pair in {1 / p**2:.0f}")
# --8<-- [end:chance]

# --8<-- [start:too_long]
def plain(ratio, A):
    return ratio * A

def train(objective, rows, A, updates):
    """Log-probs of all cells after each update."""
    mask = w.response_mask[rows]
    path = [start]
    for _ in range(updates):
        z = path[-1].clone().requires_grad_()
        new = w.token_log_probs(w.log_softmax(z))
        ratio = (new - w.old_log_probs)[rows].exp()
        goal = objective(ratio, A)[mask].mean()
        (g,) = torch.autograd.grad(goal, z)
        z = (z + g).detach()  # learning rate 1
        path.append(w.log_softmax(z))
    return path

twice = [8, 8]  # "Yes!" and "Yes!"
A_twice = 0 - w.exact_values[twice]  # scored 0
print(*(f"{a:.2f}" for a in A_twice[0, :3]))
# --8<-- [end:too_long]

# --8<-- [start:unclipped]
yes_bang_end = w.edges[8, :3]

def show(path):
    J = torch.stack([w.mean_score(x) for x in path])
    print("updates   Yes     !   end      J")
    for n in 0, 1, 3, 10, 20, 100:
        p = path[n][yes_bang_end].exp()
        cells = (f"{x:.3f}" for x in p)
        print(f"{n:7}", *cells, f"{J[n]:.4f}")
    return J

far = train(plain, twice, A_twice, 100)
J = show(far)
# --8<-- [end:unclipped]

# --8<-- [start:truth]
V = w.prefix_values(start)
V = dict(zip(w.prefixes, V.tolist(), strict=True))
true_yes = V["Yes"] - V[""]
true_bang = V["Yes !"] - V["Yes"]
true_end = 0 - V["Yes !"]
for a in true_yes, true_bang, true_end:
    print(f"{a:5.2f}")
# --8<-- [end:truth]

# --8<-- [start:cases]
eps = 0.2

def clipped(ratio, A):
    bounded = ratio.clamp(1 - eps, 1 + eps)
    return torch.min(ratio * A, bounded * A)

print(" A ratio plain  clip   min slope")
for a in 1.0, -1.0:
    for x in 0.7, 1.3:
        x = torch.tensor(x, requires_grad=True)
        near = x.clamp(1 - eps, 1 + eps) * a
        least = clipped(x, a)
        (slope,) = torch.autograd.grad(least, x)
        row = x, x * a, near, least, slope
        cells = (f"{y.item():5.1f}" for y in row)
        print(f"{a:+2.0f}", *cells)
# --8<-- [end:cases]

# --8<-- [start:repaired]
near = train(clipped, twice, A_twice, 100)
J_clip = show(near)
yes_left = near[100][0].exp()
# --8<-- [end:repaired]

# --8<-- [start:when]
for name, means in ("plain", J), ("clip", J_clip):
    n = (means < means[0]).nonzero()[0].item()
    print(f"{name:5} below the start at {n}")
# --8<-- [end:when]

# --8<-- [start:pairs]
wrong = [1, 2, 4, 6, 8]  # Yes first, score 0
pairs = [
    [a, b] for a in wrong for b in wrong if a <= b
]

def ends(objective):
    """J of each pair after a hundred updates."""
    means = []
    for pair in pairs:
        A = 0 - w.exact_values[pair]
        last = train(objective, pair, A, 100)[-1]
        means.append(w.mean_score(last).item())
    return means

without, with_clip = ends(plain), ends(clipped)
for x in without, with_clip:
    print(f"{min(x):.3f} to {max(x):.3f}")
assert max(without) < min(with_clip)
assert max(with_clip) < J[0]
# --8<-- [end:pairs]

# --8<-- [start:shared]
rows = [0, 9]  # answer 0 and answer 1
mask = w.response_mask[rows]
old = w.old_log_probs[rows]
A = w.scores[rows, None] - w.values[rows]

def outside(ratio):
    """On the side of its advantage."""
    high = (A > 0) & (ratio > 1 + eps)
    low = (A < 0) & (ratio < 1 - eps)
    return (high | low) & mask

print("updates   Yes    No  idea out")
used = []
for n, x in enumerate(train(clipped, rows, A, 5)):
    used.append(w.token_log_probs(x)[rows])
    ratio = (used[n] - old).exp()
    three = ratio[0, 0], ratio[1, 0], ratio[1, 1]
    cells = (f"{r:.3f}" for r in three)
    out = outside(ratio).sum()
    print(f"{n:7}", *cells, f"{out:3}")
# --8<-- [end:shared]

# --8<-- [start:judge]
from ppo_ref.losses import policy_loss

new = used[2].clone().requires_grad_()
judged = policy_loss(
    log_probs=new,
    old_log_probs=old,
    advantages=A,
    response_mask=mask,
    clip_range=eps,
)
ratio = (used[2] - old).exp()
goal = clipped(ratio, A)[mask].mean()
assert judged.loss.isclose(-goal)
(g,) = torch.autograd.grad(judged.loss, new)
assert (g[mask] == 0).equal(outside(ratio)[mask])
clip_fraction = outside(ratio)[mask].double().mean()
assert judged.clip_fraction == clip_fraction
print(f"clip fraction {clip_fraction:.2f}")
# --8<-- [end:judge]

# --8<-- [start:one_step]
def ratio_of(token, updates):
    moved = near[updates] - start
    return moved[yes_bang_end[token]].exp()

r_bang, r_yes = ratio_of(1, 1), ratio_of(0, 100)
print(f"! after one update: ratio {r_bang:.3f}")
print(f"Yes at rest: ratio {r_yes:.3f}")
assert r_bang < 1 - eps and r_yes < 1 - eps
# --8<-- [end:one_step]

# --8<-- [start:how_far]
p = old.exp()
edge = torch.where(A < 0, 1 - eps, 1 + eps)
for row, t in (1, 1), (0, 0):
    there = p[row, t] * edge[row, t]
    print(f"{p[row, t]:.3f} -> {there:.3f}")
p_let = start[w.parents == 0][2].exp()
p_let_most = p_let * (1 + eps)
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
