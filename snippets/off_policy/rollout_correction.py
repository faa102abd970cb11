"""Weights for token, response and geometric mean: what each corrects, and its price."""

# --8<-- [start:verdict]
import torch

token = torch.tensor([0.0, 1.0])  # wrong, right
answers = torch.cartesian_prod(*[token] * 8)
score = answers[:, 0] * answers[:, 7]

engine = torch.where(answers == 1, 0.6, 0.4)
trainer = torch.where(answers == 1, 0.5, 0.5)
ratio = trainer / engine
product = ratio.prod(1, keepdim=True)
weights = {
    "none": torch.ones(256, 8),
    "token": ratio,
    "geometric mean": product ** (1 / 8),
    "product": product,
}

# d log-prob / d logit of each token, trainer's
slope = answers - 0.5
drawn = engine.prod(1)  # the engine writes
for name, weight in weights.items():
    gradient = score * (weight * slope).sum(1)
    mean = drawn @ gradient
    print(f"{name:14} {mean:.3f}")

# As if the trainer wrote, without a weight
true = trainer.prod(1) @ (score * slope.sum(1))
print(f"{'true':14} {true:.3f}")
assert mean.isclose(true)  # the product
assert true == 0.25
# --8<-- [end:verdict]

# --8<-- [start:levels]
import math

import torch
from ppo_ref import rollout_correction as rc

device = "cpu"  # or "cuda"
p, q = 0.5, 0.6  # P(right): trainer, engine


def all_answers(T, q=q):
    """Right tokens are 1: answers, log-probs."""
    bits = torch.arange(2**T)[:, None]
    x = (bits >> torch.arange(T) & 1).double()
    x = x.to(device)
    old = torch.full_like(x, math.log(p))
    rollout = torch.where(
        x > 0, math.log(q), math.log(1 - q)
    ).double()
    return x, old, rollout


def product_weights(old, rollout):  # a column
    log_ratio = old - rollout
    return log_ratio.sum(1, keepdim=True).exp()


def estimates(T):
    x, old, rollout = all_answers(T)
    seen = rollout.sum(1).exp()
    score = x[:, 0] * x[:, -1]  # both ends right
    grad = score[:, None] * (x - p)  # by the logit
    given = {
        "old_log_probs": old,
        "rollout_log_probs": rollout,
        "response_mask": x > -1,
        "cap": math.inf,
    }
    token = rc.token_weights(**given)
    product = product_weights(old, rollout)
    share = 1 / (seen @ product[:, 0] ** 2)
    weights = (
        torch.ones_like(x),
        token,
        product,
        product ** (1 / T),
    )
    grads = [(w * grad).sum(1) for w in weights]
    true = (p**T * grad).sum()  # trainer samples
    return true, *(seen @ g for g in grads), share


head = "true none token product geo share"
print("T", *(f"{name:>7}" for name in head.split()))
table = {}
for T in 2, 4, 8:
    table[T] = row = estimates(T)
    print(T, *(f"{x:7.3f}" for x in row))
    assert row[3].isclose(row[0])  # the product
# --8<-- [end:levels]

# --8<-- [start:cap]
print("  q  most at cap   none  token capped")
biases = {}
for wrong in 0.4, 0.2, 0.1:  # of the engine
    x, old, rollout = all_answers(8, 1 - wrong)
    score = x[:, 0] * x[:, -1]
    chance = rollout.sum(1).exp()
    given = {
        "old_log_probs": old,
        "rollout_log_probs": rollout,
        "response_mask": x > -1,
    }
    w = rc.token_weights(**given, cap=math.inf)
    capped = rc.token_weights(**given, cap=2.0)
    row = [
        chance @ (score * (weight * (x - p)).sum(1))
        for weight in (w**0, w, capped)
    ]
    most = w.max()
    at = chance @ (w > 2).double().mean(1)
    cells = " ".join(f"{g:6.3f}" for g in row)
    some = f"{1 - wrong} {most:5.2f} {at:6.2f}"
    print(some, cells)
    biases[wrong] = [g - p**2 for g in row]
assert biases[0.1][2] > 4 * biases[0.1][1]
# --8<-- [end:cap]

# --8<-- [start:length]
def products(T):
    """Each product of ratios, and its chance."""
    right = torch.arange(T + 1.0).double()
    wrong = T - right
    log_q = right * math.log(q)
    log_q += wrong * math.log(1 - q)
    ways = -torch.lgamma(right + 1)
    ways -= torch.lgamma(wrong + 1)
    ways += math.lgamma(T + 1)
    log_w = T * math.log(p) - log_q
    return log_w.exp(), (ways + log_q).exp()


print("   T   mean    <1/2      >2")
for T in 10, 100, 1000:
    w, chance = products(T)
    mean = chance @ w
    cases = w < 1 / 2, w > 2
    row = [chance[case].sum() for case in cases]
    cells = " ".join(f"{x:7.4f}" for x in row)
    print(f"{T:4} {mean:6.3f} {cells}")
    assert mean.isclose(mean.new_tensor(1.0))
up = w.argsort()  # at 1000 tokens
middle = chance[up].cumsum(0) > 1 / 2
median = w[up][middle][0]
print(f"median {median:.1e}")
kl = q * math.log(q / p)
kl += (1 - q) * math.log((1 - q) / (1 - p))
print(f"KL {kl:.4f} nats a token")
# --8<-- [end:length]

# --8<-- [start:average]
import torch

device = "cpu"  # or "cuda"
torch.manual_seed(0)
z = torch.randn(2, 1000, 50).to(device)  # two sides
engine, trainer = z.log_softmax(2)
log_ratio = trainer - engine
for name, x in (
    ("ratio", log_ratio.exp()),
    ("log", log_ratio),
):
    mean = (engine.exp() * x).sum(1)  # 1000 states
    low, high = mean.min(), mean.max()
    print(f"{name:5} {low:6.3f} to {high:6.3f}")
    if name == "ratio":
        ratio_mean = mean
assert (ratio_mean > 1.05).any(), "1 in every state"
# --8<-- [end:average]

# --8<-- [start:filter]
def accepted(old, rollout, low, high):
    """Answers by their geometric mean (Geo-RS)."""
    mean = (old - rollout).mean(1).exp()
    return (low <= mean) & (mean <= high)


x, old, rollout = all_answers(8)
grad = x[:, 0] * x[:, -1] * (x - p).sum(1)
true, found = table[8][0], []
for bounds in (0.95, 1.05), (0.9, 1.1):
    kept = accepted(old, rollout, *bounds)
    chance = rollout.sum(1).exp() * kept
    share = chance.sum()
    found.append(chance @ grad / share)
    print(f"kept {share:.2f}: {found[-1]:.3f}")
right = [true.isclose(x) for x in found]
assert any(right), "a filter is no weight"
# --8<-- [end:filter]
