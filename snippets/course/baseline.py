"""Baseline: what one may subtract from the score, and why one does."""

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
from ppo_ref.examples import world

w = world()
score = w.scores

def log_P(z):
    log_probs = w.log_softmax(z)
    return w.token_log_probs(log_probs).sum(1)

P = log_P(w.edge_log_probs).exp()
J = P @ score
grad_log_P = torch.func.jacrev(log_P)(
    w.edge_log_probs
)  # a row for each answer, 44 logits

def pushes(b):
    return (score - b)[:, None] * grad_log_P

first = w.parents == 0  # Yes, No, Let
nothing = P @ grad_log_P
gradient = (P @ pushes(0))[first]
cells = (f"{x:z7.4f}" for x in nothing[first])
print("mean", *cells)
for b in 0, J, 10:
    g = (P @ pushes(b))[first]
    print(f"{b:4.1f}", *(f"{x:7.4f}" for x in g))
assert nothing.abs().max() < 1e-12
# --8<-- [end:free]

# --8<-- [start:variance]
def noise(b):
    """Of one answer's push: variances, summed."""
    mean = P @ pushes(b)
    return (P @ (pushes(b) - mean).square()).sum()

size = grad_log_P.square().sum(1)
best = (P * size) @ score / (P @ size)
for b in 0, 0.5, best, J, 1, 2:
    print(f"b {b:5.3f}  noise {noise(b):.4f}")
assert noise(best) < noise(best - 0.01)
assert noise(best) < noise(best + 0.01)
# --8<-- [end:variance]

# --8<-- [start:estimated]
draws = torch.Generator().manual_seed(0)

def draw(groups, n):
    drawn = P.multinomial(
        groups * n,
        replacement=True,
        generator=draws,
    )
    return drawn.view(groups, n)

def others(drawn):
    """Mean score of the other answers, for each."""
    s = score[drawn]
    return (s.sum(1, True) - s) / (s.shape[1] - 1)

def mean_push(drawn, b):
    """Of each group, on each logit."""
    weight = (score[drawn] - b) / drawn.shape[1]
    each = weight.new_zeros(len(drawn), 14)
    each.scatter_add_(1, drawn, weight)
    return each @ grad_log_P

def spread(drawn, b):
    push = mean_push(drawn, b)
    return push.var(0, correction=0).sum()

drawn = draw(40_000, 8)
worth = {}
for name, b in (
    ("none", 0),
    ("others", others(drawn)),
    ("J", J),
):
    v = spread(drawn, b)
    worth[name] = noise(0) / v
    cells = f"{v:.3f} worth {worth[name]:4.1f}"
    print(f"{name:6} {cells}")
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
all_right, all_wrong = J**8, (1 - J) ** 8
print(f"8 alike: {all_right + all_wrong:.3f}")
# --8<-- [end:both_right]

# --8<-- [start:own_score]
none_left = (score - score)[:, None] * grad_log_P
print((P @ none_left).abs().max().item())
# --8<-- [end:own_score]

# --8<-- [start:draw]
each = {}
for n in 2, 4, 8, 16, 64:
    drawn = draw(20_000, n)
    v = spread(drawn, others(drawn))
    each[n] = noise(0) / n / v
    print(f"{n:2} answers: {each[n]:.1f} each")
# --8<-- [end:draw]
