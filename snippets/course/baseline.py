"""A baseline under the score, on the tree of step 2."""

# --8<-- [start:example]
from ppo_ref.examples import shared_batch

batch = shared_batch()
s = batch.scores
b = s.mean()
p = batch.old_log_probs.exp()
push = (s - b)[:, None] * (1 - p)
print(f"baseline {b:.1f}")
for row, n in enumerate(batch.response_mask.sum(1)):
    cells = (f"{x:6.3f}" for x in push[row, :n])
    print(f"answer {row}: {s[row] - b:+.1f}")
    print("  push", *cells)
# --8<-- [end:example]

# --8<-- [start:free]
import torch

P = torch.full((4,), 0.25)  # 00 01 10 11
score = torch.tensor([0.0, 0.0, 0.0, 1.0])
grad_log_P = torch.tensor([  # by prefix
    [-0.5, -0.5, 0.0],
    [-0.5, 0.5, 0.0],
    [0.5, 0.0, -0.5],
    [0.5, 0.0, 0.5],
])

def pushes(b):
    """One row for each answer."""
    return (score - b)[:, None] * grad_log_P

print("mean", *(f"{x:.3f}" for x in P @ grad_log_P))
for b in 0, 0.25, 10:
    gradient = P @ pushes(b)
    print(f"{b:4}", *(f"{x:.3f}" for x in gradient))
# --8<-- [end:free]

# --8<-- [start:variance]
def variance(b):
    """Of the push of one drawn answer."""
    mean = P @ pushes(b)
    return P @ (pushes(b) - mean).square()

print("   b  three variances        sum")
for b in 0, 0.25, 0.5, 1:
    v = variance(b)
    cells = " ".join(f"{x:.4f}" for x in v)
    print(f"{b:4}  {cells}  {v.sum():.4f}")
# --8<-- [end:variance]

# --8<-- [start:estimated]
every = torch.arange(4)
batches = torch.cartesian_prod(*[every] * 8)

def noise(batches, b):
    """Sum of the variances of the mean push."""
    push = score[batches] - b
    push = push[..., None] * grad_log_P[batches]
    return push.mean(1).var(0, correction=0).sum()

def others(batches):
    """Mean score of the other answers, for each."""
    s = score[batches]
    return (s.sum(1, True) - s) / (s.shape[1] - 1)

plain = noise(batches, 0)
worth = {}
for name, b in (
    ("no baseline", 0),
    ("mean of others", others(batches)),
    ("true mean", 0.25),
):
    v = noise(batches, b)
    worth[name] = 8 * plain / v
    print(f"{name:14} {v:.4f}", end="")
    print(f"  worth {worth[name]:4.1f}")
# --8<-- [end:estimated]

# --8<-- [start:both_right]
from ppo_ref.group_advantages import dr_grpo, rloo

r = torch.zeros(2, 6, dtype=torch.float64)
r[0, 5] = r[1, 3] = 1  # both answers score 1
for estimate in dr_grpo, rloo:
    A = estimate(
        token_level_rewards=r,
        response_mask=batch.response_mask,
        groups=torch.tensor([0, 0]),
    ).advantages
    print(estimate.__name__, A.abs().max().item())
# --8<-- [end:both_right]

# --8<-- [start:own_score]
none_left = (score - score)[:, None] * grad_log_P
print(*(P @ none_left).tolist())
# --8<-- [end:own_score]

# --8<-- [start:draw]
torch.manual_seed(0)
each = {}
for n in 2, 4, 8, 16, 64:
    drawn = torch.randint(4, (100_000, n))
    v = noise(drawn, others(drawn))
    each[n] = noise(drawn, 0) / v
    print(f"{n:2} answers: {each[n]:.2f} each")
# --8<-- [end:draw]
