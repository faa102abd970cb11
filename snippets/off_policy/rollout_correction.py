"""Weights for token, response and geometric mean: what each corrects, and its price."""

# --8<-- [start:verdict]
import torch

token = torch.tensor([0.0, 1.0])  # wrong, right
answers = torch.cartesian_prod(*[token] * 8)
last = answers[:, 7]
both = answers[:, 0] * last

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
found = {}
print("                last  both")
for name, weight in weights.items():
    found[name] = row = []
    for score in last, both:
        A = score - drawn @ score  # less the mean
        terms = A * (weight * slope).sum(1)
        row.append(drawn @ terms)
    print(f"{name:14}", *(f"{g:.3f}" for g in row))

# As if the trainer wrote, without a weight
chance = trainer.prod(1)
sums = slope.sum(1)
true = [chance @ (s * sums) for s in (last, both)]
print(f"{'true':14}", *(f"{g:.3f}" for g in true))
unweighted = found["none"][0]
assert found["token"][0].isclose(true[0])
assert not found["token"][1].isclose(true[1])
# --8<-- [end:verdict]

# --8<-- [start:levels]
import math

import torch
from ppo_ref import rollout_correction as rc

device = "cpu"  # or "cuda"
p, q = 0.5, 0.6  # P(right): trainer, engine


def all_bits(T):
    bits = torch.arange(2**T)[:, None]
    return (bits >> torch.arange(T) & 1).double()


def all_answers(T, q=q):
    """Right tokens are 1: answers, log-probs."""
    x = all_bits(T).to(device)
    old = torch.full_like(x, math.log(p))
    rollout = torch.where(
        x > 0, math.log(q), math.log(1 - q)
    ).double()
    return x, old, rollout


def product_weights(old, rollout):  # a column
    log_ratio = old - rollout
    return log_ratio.sum(1, keepdim=True).exp()


def errors(T, adds_up):
    """In a random task: how far each is off."""
    x = all_bits(T)
    first = 2 ** torch.arange(T)
    row = torch.arange(2**T)[:, None]
    at = first - 1 + row % first  # of the prefix
    z = torch.randn(2**T - 1).double()  # trainer
    other = z + 0.4 * torch.randn(2**T - 1)
    side = 2 * x - 1
    old = (side * z[at]).sigmoid().log()
    rollout = (side * other[at]).sigmoid().log()
    score = torch.randn(2**T).double()
    if adds_up:
        score = x @ torch.randn(T).double()
    slope = x - z[at].sigmoid()

    def gradient(log_probs, weight):
        chance = log_probs.sum(1).exp()
        A = score - chance @ score  # baseline
        terms = (chance * A)[:, None] * weight
        terms = (terms * slope).ravel()
        total = torch.zeros(2**T - 1).double()
        total.index_add_(0, at.ravel(), terms)
        return total

    true = gradient(old, 1)  # the trainer writes
    token = rc.token_weights(
        old_log_probs=old,
        rollout_log_probs=rollout,
        response_mask=x > -1,
        cap=math.inf,
    )
    product = product_weights(old, rollout)
    found = [
        gradient(rollout, weight)
        for weight in (
            1,
            token,
            product ** (1 / T),
            product,
        )
    ]
    off = (torch.stack(found) - true).norm(dim=1)
    return off / true.norm()


torch.manual_seed(0)
print("score T  none token   geo product  helps")
table, low_helps = {}, 1
for kind in "sum", "any":
    for T in 2, 4, 8:
        tasks = [
            errors(T, kind == "sum")
            for _ in range(200)
        ]
        off = torch.stack(tasks)
        helps = off[:, 1] < off[:, 0]
        helps = helps.double().mean()
        table[kind, T] = row = off.median(0).values
        cells = " ".join(f"{x:5.2f}" for x in row)
        print(f"{kind:5} {T} {cells} {helps:8.2f}")
        low_helps = min(low_helps, helps)
        assert off[:, 3].max() < 1e-9  # product
# --8<-- [end:levels]

# --8<-- [start:cap]
print("  q  most at cap   none  token capped")
rows = {}
for wrong in 0.4, 0.2, 0.1:  # of the engine
    x, old, rollout = all_answers(1, 1 - wrong)
    chance = rollout.exp()
    A = x - (1 - wrong)  # score less its mean
    given = {
        "old_log_probs": old,
        "rollout_log_probs": rollout,
        "response_mask": x > -1,
    }
    w = rc.token_weights(**given, cap=math.inf)
    capped = rc.token_weights(**given, cap=2.0)
    rows[wrong] = row = [
        (chance * A * weight * (x - p)).sum()
        for weight in (w**0, w, capped)
    ]
    most = w.max()
    at = chance[w > 2].sum()
    cells = " ".join(f"{g:6.3f}" for g in row)
    some = f"{1 - wrong} {most:5.2f} {at:6.2f}"
    print(some, cells)
exact = x.new_tensor(p * (1 - p))
assert row[1].isclose(exact)  # the token weight
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
small = 0.02  # KL of a whole answer: no weight
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
grad = (x[:, 7] - q) * (x - p).sum(1)
found = []
for bounds in (0.95, 1.05), (0.9, 1.1):
    kept = accepted(old, rollout, *bounds)
    chance = rollout.sum(1).exp() * kept
    share = chance.sum()
    found.append(chance @ grad / share)
    print(f"kept {share:.2f}: {found[-1]:.3f}")
true = grad.new_tensor(p * (1 - p))
right = [true.isclose(x) for x in found]
assert any(right), "a filter is no weight"
# --8<-- [end:filter]
