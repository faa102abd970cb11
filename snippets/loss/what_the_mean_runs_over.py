"""What the mean of a loss runs over: all batches of three kinds of answers."""

# --8<-- [start:comment]
import torch
from itertools import product

# right, wrong and short, wrong and long
score = torch.tensor([1.0, 0.0, 0.0])
length = torch.tensor([2.0, 2.0, 8.0])
# d log-prob / d logits of each, equally likely
slope = torch.eye(3) - 1 / 3

def push(divisor):
    total = torch.zeros(3)
    for batch in product(range(3), repeat=4):
        batch = list(batch)
        A = score[batch] - score[batch].mean()
        weight = A / divisor(length[batch])
        total += weight @ slope[batch]
    return total / total[0]

own_tokens = push(lambda n: n)
all_tokens = push(lambda n: n.sum())
constant = push(lambda n: torch.tensor(1.0))

print("divided by  right  short   long")
for name, row in (
    ("own tokens", own_tokens),
    ("all tokens", all_tokens),
    ("constant", constant),
):
    print(f"{name:10}", *(f"{x:6.3f}" for x in row))

fair = torch.tensor([1.0, -0.5, -0.5])
assert constant.allclose(fair)
assert not all_tokens.allclose(fair)
# --8<-- [end:comment]

# --8<-- [start:judge]
import torch
from itertools import product
from ppo_ref import aggregation

score = torch.tensor([1.0, 0, 0]).double()
lengths = torch.tensor([2, 2, 8])
z = torch.zeros(3).double().requires_grad_()
slots = torch.arange(8)

def gradient(aggregate):  # over all 81 batches
    total = 0
    for rows in product(range(3), repeat=4):
        rows = torch.tensor(rows)
        A = score[rows] - score[rows].mean()
        mask = slots < lengths[rows, None]
        logp = z.log_softmax(0)[rows]
        losses = torch.zeros(4, 8).double()
        losses[:, 0] = -A * logp  # the only choice
        total = total - aggregate(losses, mask) / 81
    (g,) = torch.autograd.grad(total, z)
    return g / g[0]

goal = z.softmax(0) @ score  # what is wanted
(true,) = torch.autograd.grad(goal, z)
rows = {"true gradient": true / true[0]}
for name in (
    "sequence_mean_token_mean",
    "token_mean",
    "sequence_mean_token_sum",
):
    function = getattr(aggregation, name)
    rows[name] = gradient(function)
print(f"{'':24}  right  short   long")
for name, row in rows.items():
    print(f"{name:24}", *(f"{x:6.3f}" for x in row))
true, answer, token, constant = rows.values()
assert constant.allclose(true)
assert not token.allclose(true)
assert not answer.allclose(true)
# --8<-- [end:judge]

# --8<-- [start:growing]
import torch
from torch.distributions import Multinomial

R = torch.tensor([1.0, 0, 0]).double()
L = torch.tensor([2.0, 2, 8]).double()
p = torch.ones(3).double() / 3

short = []
print("answers  right  short   long")
for N in 4, 16, 64, 256:
    n = torch.arange(N + 1).double()
    n = torch.cartesian_prod(n, n)
    n = n[n.sum(1) <= N]  # right, short
    n = torch.cat([n, N - n.sum(1, True)], 1)
    share = Multinomial(N, p).log_prob(n).exp()
    A = R - n[:, :1] / N
    push = share @ (n * A / (n @ L)[:, None])
    push -= push.mean()
    row = push / push[0]
    print(f"{N:7}", *(f"{x:6.3f}" for x in row))
    short.append(row[1])
assert short[0] < -0.6
assert abs(short[-1] + 0.5) < 0.01
# --8<-- [end:growing]

# --8<-- [start:token]
import torch
from ppo_ref.aggregation import (
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)

n = torch.tensor([2, 8])  # two answers
mask = torch.arange(8) < n[:, None]
print("a token of one of     2 tokens  8 tokens")
for mean in (
    sequence_mean_token_mean,
    token_mean,
    sequence_mean_token_sum,
):
    x = torch.zeros(2, 8).requires_grad_()
    (g,) = torch.autograd.grad(mean(x, mask), x)
    cells = (f"{w:8.4f}" for w in g[:, 0])
    print(f"{mean.__name__:24}", *cells)
    even = bool((g[mask] == g[0, 0]).all())
    by_answer = mean == sequence_mean_token_mean
    assert even != by_answer
# --8<-- [end:token]

# --8<-- [start:cancels]
import torch

logp = torch.zeros(2, 8).requires_grad_()
n = torch.tensor([2, 8])  # two wrong answers
mask = torch.arange(8) < n[:, None]
loss = (logp * mask).sum(1) / n  # A is -1
(g,) = torch.autograd.grad(loss.sum(), logp)
print("first token:", g[:, 0].tolist())
assert g[0, 0] == g[1, 0], "the long one pays less"
# --8<-- [end:cancels]

# --8<-- [start:dapo]
import torch

answers = torch.arange(3)  # right, short, long
batches = torch.cartesian_prod(*[answers] * 4)
score = torch.tensor([1.0, 0.0, 0.0])[batches]
length = torch.tensor([2.0, 2.0, 8.0])[batches]
A = score - score.mean(1, keepdim=True)
weight = A / length.sum(1, keepdim=True)
push = torch.bincount(
    batches.ravel(), weight.ravel()
)
push -= push.mean()  # by softmax's logits
right, short, long = push / push[0]
print(f"short {short:.3f}, long {long:.3f}")
assert short.isclose(long), "long ones pay less"
# --8<-- [end:dapo]
