"""Stale data: recomputed, divided by the engine, weighed; and dropped by age."""

# --8<-- [start:verdict]
import torch
old = torch.tensor([1, 1, 1]) / 3  # wrote the data
p = torch.tensor([0.6, 0.3, 0.1])  # current policy
A = torch.tensor([-1.0, 0, 1])  # score less mean
slope = torch.eye(3) - p  # of log p, by the logits
weight = p / old
rows = {  # frequency, weight if any, advantage
    "true": p * A,
    "recomputed": old * A,
    "weighted": old * weight * A,
}
for name, row in rows.items():
    cells = (f"{x:z7.3f}" for x in row @ slope)
    print(f"{name:10}", *cells)
wrong = old * A @ slope
assert not wrong.allclose(p * A @ slope)
# --8<-- [end:verdict]

# --8<-- [start:settings]
import torch
from ppo_ref.aggregation import token_sum
from ppo_ref.losses import policy_loss

device = "cpu"  # or "cuda"
moved = torch.tensor([[0.5, 1.0, 1.5, 3.0]])
moved = moved.double().to(device)  # weights
engine = torch.zeros_like(moved)
now = moved.log()


def slopes(A, old, weights=None, new=now):
    """Of the objective, by the log-probs."""
    x = new.clone().requires_grad_()
    loss = policy_loss(
        log_probs=x,
        old_log_probs=old,
        advantages=torch.full_like(x, A),
        response_mask=x < 9,
        rollout_weights=weights,
        aggregate=token_sum,
    ).loss
    return torch.autograd.grad(-loss, x)[0][0]


capped = moved.clamp(max=2)
rows = {
    "recomputed": (now, None),
    "the engine's": (engine, None),
    "decoupled": (now, capped),
}
found = {}


def show(name, row):
    cells = (f"{x:z5.1f}" for x in row)
    print(f"{name:12}", *cells)


show("weight", moved[0])
for A in 1, -1:
    print(f"A = {A:+}")
    for name, (below, weights) in rows.items():
        row = slopes(A, below, weights)
        found[name, A] = row
        show(name, row)
assert (found["recomputed", 1] == 1).all()
assert found["the engine's", 1][2] == 0  # clipped
assert found["decoupled", 1][2] == moved[0, 2]
# --8<-- [end:settings]

# --8<-- [start:anchor]
import torch

engine = torch.zeros(4)  # log-probs less its own
now = torch.tensor([0.5, 1.0, 1.5, 3.0]).log()
new = now + 0.1  # one update later
for name, prox in (
    ("engine's", engine),
    ("halfway", (engine + now) / 2),
    ("current", now),
):
    weight = (prox - engine).exp()
    ratio = (new - prox).exp()
    both = weight * ratio
    print(f"{name:8}", *(f"{x:.3f}" for x in both))
    assert both.allclose((new - engine).exp())
# --8<-- [end:anchor]

# --8<-- [start:age]
import torch

limit, n = 8, 8  # steps a rollout may last; answers
device = "cpu"  # or "cuda"
steps = torch.arange(1.0, 13).to(device)
score = 1 - steps / 13  # what lasts long is hard
kept = steps <= limit
rows = {"drawn": kept | True, "trained on": kept}
given, means = (steps, score), {}
print(f"{'':12} share  steps  score")
for name, some in rows.items():
    share = some.float().mean()
    row = share, *(x[some].mean() for x in given)
    means[name] = row
    cells = (f"{x:6.2f}" for x in row)
    print(f"{name:12}", *cells)
groups = share**n
print(f"whole groups {groups:6.2f}")
assert means["trained on"][2] > means["drawn"][2]
# --8<-- [end:age]

# --8<-- [start:always]
import torch

old = torch.tensor([1, 1, 1]) / 3  # has sampled
z = torch.tensor([0.6, 0.3, 0.1]).log()  # trained
A = torch.tensor([-1.0, 0.0, 1.0])


def slope(data, written_by):
    x = z.clone().requires_grad_()
    now = x.softmax(0)
    (data @ (now / written_by * A)).backward()
    return x.grad


now = z.exp()
true = slope(now, now)  # on its own answers
recomputed = slope(old, now)
for row in true, recomputed:
    print(*(f"{x:z6.3f}" for x in row))
same = recomputed.allclose(true)
assert same, "another policy sampled"
# --8<-- [end:always]

# --8<-- [start:exact]
import torch
from ppo_ref.losses import policy_loss

away = torch.tensor([[-0.3, -0.1, 0.1, 0.3]])
now = torch.zeros_like(away).requires_grad_()
policy_loss(  # the engine's row is the old one
    log_probs=now,
    old_log_probs=now.detach() - away,
    advantages=torch.ones_like(away),
    response_mask=away < 9,
).loss.backward()
print("ratio", *(f"{x:.2f}" for x in away[0].exp()))
print("slope", *(f"{-x:z.2f}" for x in now.grad[0]))
assert now.grad.all(), "clipped, and nothing moved"
# --8<-- [end:exact]
