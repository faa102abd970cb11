"""Long answers: the mean, the limit, gamma, lambda, and what a tool has written."""

# --8<-- [start:weights]
import torch
from ppo_ref import aggregation
from ppo_ref.examples import world

w = world()
LIMIT = 6
rows = [8, 13]  # "Yes!" and "Let us think..."
mask = w.response_mask[rows]
three, six = mask.sum(1).tolist()

def fixed(losses, mask):
    sums = aggregation.sequence_mean_token_sum
    return sums(losses, mask) / LIMIT

means = {
    "token mean": aggregation.token_mean,
    "of each": aggregation.sequence_mean_token_mean,
    "fixed": fixed,
}
weight = {}
for name, mean in means.items():
    losses = torch.zeros(2, LIMIT).requires_grad_()
    mean(losses, mask).backward()
    short, long = losses.grad[:, 0]  # of a token
    weight[name, "short"] = short
    weight[name, "long"] = long
    print(f"{name:10} {short:.3f} {long:.3f}")
as_hard = weight["of each", "short"]
as_hard = as_hard / weight["of each", "long"]
length_ratio = as_hard.new_tensor(six / three)
assert as_hard.isclose(length_ratio)
# --8<-- [end:weights]

# --8<-- [start:direction]
from itertools import product

P = w.response_probs(w.edge_log_probs)
J = P @ w.scores
length = w.response_mask.sum(1)

def log_P(z):
    log_probs = w.log_softmax(z)
    return w.token_log_probs(log_probs).sum(1)

grad_log_P = torch.func.jacrev(log_P)(
    w.edge_log_probs
)
push = (w.scores - J)[:, None] * grad_log_P
exact = P @ push  # the gradient of J

def token_mean(n):
    """Its mean over all batches of n answers."""
    every = [*product(range(14), repeat=n)]
    every = torch.tensor(every)
    chance = P[every].prod(1)
    tokens = length[every].sum(1)
    return chance / tokens @ push[every].sum(1)

def along(direction):
    """Cosine of the angle with the gradient."""
    size = direction.norm() * exact.norm()
    return direction @ exact / size

found = {
    "of each": P / length @ push,
    "token mean, 2": token_mean(2),
    "token mean, 3": token_mean(3),
    "fixed": P / LIMIT @ push,
}
for name, direction in found.items():
    print(f"{name:13} {along(direction):.4f}")
# --8<-- [end:direction]

# --8<-- [start:cut]
from ppo_ref import advantages

cut = 1  # "Yes, 1+1=2," and then the limit
row = slice(cut, cut + 1)
values = w.exact_values[row]
score_at_end = torch.zeros_like(values)
score_at_end[0, -1] = w.scores[cut]
delta = advantages.td_residuals(
    token_level_rewards=score_at_end,
    values=values,
    response_mask=w.response_mask[row],
)[0]
print("V    ", *(f"{x:5.2f}" for x in values[0]))
print("delta", *(f"{x:5.2f}" for x in delta))
# --8<-- [end:cut]

# --8<-- [start:longer]
ended = w.scores.clone()
right_later = 0.9
for limit, goes_on in (6, 0), (9, right_later):
    ended[[1, 13]] = float(goes_on)  # were cut off
    mean = P @ ended
    A_let = ended[13] - mean
    print(f"limit {limit}: J {mean:.3f}", end=" ")
    print(f"Let {A_let:6.3f}")
# --8<-- [end:longer]

# --8<-- [start:discounted]
gamma = 0.9
worth = gamma ** (length - 1)
for answer in 7, 5, 0:
    n = length[answer].item()
    print(f"{n} tokens {worth[answer]:.3f}")

def best(first, rows):
    """Its chance to be right, its worth now."""
    p = P[rows] / P[rows].sum()
    right = p @ w.scores[rows]
    now = p @ (w.scores * worth)[rows]
    print(f"{first:5} {right:.2f} {now:.3f}")
    return now

by_comma = best("comma", range(7))
by_mark = best("!", range(7, 9))
# --8<-- [end:discounted]

# --8<-- [start:train]
def train(gamma, updates=800):
    """By exact gradients of what is discounted."""
    z = w.edge_log_probs.clone().requires_grad_()
    worth = w.scores * gamma ** (length - 1)
    lengths = []
    for _ in range(updates):
        p = log_P(z).exp()
        lengths.append((p @ length.double()).item())
        (g,) = torch.autograd.grad(p @ worth, z)
        z = (z + g).detach().requires_grad_()
    return p.detach(), lengths

print("gamma     J tokens  1+1=2 Yes! 2")
written, ends_in = {}, {}
for x in 1, gamma:
    p, lengths = train(x)
    ends_in[x], written[x] = p, lengths[-1]
    cells = p @ w.scores, lengths[-1], p[0], p[7]
    at_last = p[7]
    print(f"{x:5}", *(f"{v:6.3f}" for v in cells))
assert ends_in[gamma][7] > 0.9 > ends_in[1][7]
# --8<-- [end:train]

# --8<-- [start:guess]
near_one = 0.999
far = near_one**1000
print(f"{far:.3f}")
# --8<-- [end:guess]

# --8<-- [start:heard]
lam, left_over = 0.95, 0.5
print("tokens  heard  lambda for half")
half_heard = {}
for n in 6, 100, 1000:
    heard = lam ** (n - 1)
    half_heard[n] = left_over ** (1 / (n - 1))
    print(f"{n:6} {heard:6.0e} {half_heard[n]:.4f}")
# --8<-- [end:heard]

# --8<-- [start:tool]
def deltas(mask):
    r = torch.zeros(1, 6, dtype=torch.float64)
    r[0, 5] = w.scores[0]
    return advantages.td_residuals(
        token_level_rewards=r,
        values=w.exact_values[:1],
        response_mask=mask,
    )[0]

own = torch.tensor([[True] * 4 + [False, True]])
every_one = deltas(w.response_mask[:1])
of_own = deltas(own)
print("all", *(f"{x:z5.2f}" for x in every_one))
print("own", *(f"{x:z5.2f}" for x in of_own))
assert of_own.sum().isclose(every_one.sum())
# --8<-- [end:tool]

# --8<-- [start:bootstrap]
at_cut = 0.9
went_on = advantages.td_residuals(
    token_level_rewards=score_at_end,
    values=values,
    response_mask=w.response_mask[row],
    bootstrap_values=values.new_tensor([at_cut]),
)[0]
print(*(f"{x:5.2f}" for x in went_on))
# --8<-- [end:bootstrap]

# --8<-- [start:sure]
sure = gamma ** (6 - 1)  # six tokens
guess_at = gamma ** (2 - 1)  # two tokens
at_least = sure / guess_at
print(f"{at_least:.3f}")
assert at_least == gamma ** (6 - 2)
# --8<-- [end:sure]

# --8<-- [start:drift]
four = [7, 0, 8, 13]  # short, long; right, wrong
A = w.scores[four] - w.scores[four].mean()
a_token = A / length[four] / len(four)
for answer, x in zip(four, a_token):
    name = ("wrong", "right")[int(w.scores[answer])]
    print(name, length[answer].item(), f"{x:6.3f}")
# --8<-- [end:drift]
