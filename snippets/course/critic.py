"""The critic: a baseline for every prefix, learned by regression."""

# --8<-- [start:tree]
import torch

P = torch.full((4,), 0.25)  # 00 01 10 11
score = torch.tensor([0.0, 0.0, 0.0, 1.0])
V_start = score.mean()  # nothing written
V_after_0 = score[:2].mean()
V_after_1 = score[2:].mean()
print(f"V {V_start:.2f}", end=" ")
print(f"{V_after_0:.2f} {V_after_1:.2f}")

V = torch.tensor([  # before each of two tokens
    [V_start, V_after_0],
    [V_start, V_after_0],
    [V_start, V_after_1],
    [V_start, V_after_1],
])
# --8<-- [end:tree]

# --8<-- [start:free]
grad_log_P = torch.tensor([  # from step 2
    [-0.5, -0.5, 0.0],
    [-0.5, 0.5, 0.0],
    [0.5, 0.0, -0.5],
    [0.5, 0.0, 0.5],
])

def pushes(V):
    """Token 0: parameter 0; token 1: 1 and 2."""
    A = score[:, None] - V
    return A[:, [0, 1, 1]] * grad_log_P

def report(name, V):
    mean = P @ pushes(V)
    noise = (P @ (pushes(V) - mean).square()).sum()
    cells = " ".join(f"{x:.3f}" for x in mean)
    print(f"{name:6} {cells}  noise {noise:.4f}")

report("none", torch.zeros(4, 2))
report("mean", torch.full((4, 2), 0.25))
report("V(s_t)", V)
# --8<-- [end:free]

# --8<-- [start:example]
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask, values = batch.response_mask, batch.values
G = batch.scores[:, None] * mask  # the returns
A = (G - values) * mask
for row, n in enumerate(mask.sum(1)):
    for name, x in zip("VGA", (values, G, A)):
        cells = (f"{v:5.2f}" for v in x[row, :n])
        print(f"answer {row} {name}", *cells)

r = torch.zeros(2, 6, dtype=torch.float64)
r[0, 5] = 1  # the score, on the last token
judge = gae(
    token_level_rewards=r, values=values,
    response_mask=mask, gamma=1.0, gae_lambda=1.0,
)
assert judge.advantages.allclose(A)
# --8<-- [end:example]

# --8<-- [start:head]
from torch import nn

torch.manual_seed(0)
embed = nn.Embedding(100, 8)
body = nn.GRU(8, 8, batch_first=True)
head = nn.Linear(8, 1)  # the value head

def critic(ids):
    hidden, _ = body(embed(ids))
    out = head(hidden)[:, :, 0]  # one per position
    # The answer is in positions -6 to -1.
    return out[:, -7:-1]  # one to the left

ids = torch.randint(99, (2, 9))  # 3 of the prompt
other = ids.clone()
other[:, 3 + 2] += 1  # another token 2
print(tuple(critic(ids).shape))
changed = critic(ids) != critic(other)
print(changed[0].int().tolist())
# --8<-- [end:head]

# --8<-- [start:loss]
from ppo_ref.losses import value_loss

v = values.clone().requires_grad_()
N = mask.sum()
loss = ((v - G).square() * mask).sum() / (2 * N)
loss.backward()
print(f"loss {loss:.4f}")
pull = -N * v.grad
print("pull", *(f"{x:.2f}" for x in pull[1, :4]))

judge = value_loss(
    values=values, old_values=values, returns=G,
    response_mask=mask,
    value_clip_range=torch.inf,  # no clip
)
assert judge.loss.allclose(loss)
assert pull.allclose(A)
# --8<-- [end:loss]

# --8<-- [start:settle]
start = values[0, 0].item()  # of both answers
for steps in 0, 10, 100:
    guess = start
    for _ in range(steps):
        slope = ((guess - 1) + (guess - 0)) / 2
        guess -= 0.1 * slope
    squares = (guess - 1) ** 2, (guess - 0) ** 2
    left = sum(squares) / (2 * 2)  # 2 answers
    cells = f"V {guess:.2f} loss {left:.4f}"
    print(f"{steps:3} steps: {cells}")
# --8<-- [end:settle]

# --8<-- [start:lucky]
lucky = (1 - values[1, :4]).tolist()
print(*(f"{x:.2f}" for x in lucky))
# --8<-- [end:lucky]

# --8<-- [start:exact]
error = score[:, None] - V
print(f"{(P @ error.square()).mean() / 2:.4f}")
# --8<-- [end:exact]

# --8<-- [start:too_late]
late = torch.stack([V[:, 1], score], 1)
report("late", late)
# --8<-- [end:too_late]
