"""Explained variance and loss of four critics, and of a language model's critic."""

# --8<-- [start:comment]
import torch
returns = torch.tensor([1.0, 1, 0, 0, 0, 1])
good = torch.tensor([2, 2, 2, 1, 1, 1]).double() / 3
noise = torch.tensor([1.0, -1, 1, -1, 0, 0])
for V in 0 * noise + 0.5, good, noise, 10 * noise:
    ev = 1 - (returns - V).var() / returns.var()
    loss = ((returns - V) ** 2).mean()
    print(f"EV {ev:7.2f}  loss {loss:5.2f}")
# --8<-- [end:comment]

# --8<-- [start:critics]
import torch
from ppo_ref.diagnostics import explained_variance

torch.manual_seed(0)
drawn = torch.randint(2, (4000, 200)) - 0.5
step = torch.full((200,), (0.5 / 199) ** 0.5)
step[0] = 0.5**0.5  # half of the score's variance
after = (drawn * step).cumsum(1)
exact = after - drawn * step  # before each token
score = after[:, -1:]
returns = score.expand(4000, 200)
mask = torch.ones(4000, 200).bool()
noise = torch.randn(4000, 200) / 2

seen = {}
print("critic      EV  loss")
for name, V in (
    ("constant", 0 * noise),
    ("random", noise),
    ("half", (exact + noise) / 2),
    ("exact", exact),
):
    loss = ((V - returns) ** 2).mean()
    ev = explained_variance(
        values=V,
        returns=returns,
        response_mask=mask,
    )
    seen[name] = ev
    print(f"{name:8} {ev:5.2f} {loss:5.3f}")
assert seen["random"] < -0.5
assert loss > 0.04 and ev < 0.9  # exact, and yet
# --8<-- [end:critics]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("smollm2_ppo")
names = "score", "value", "explained_variance"
score, value, explained = map(run.column, names)
for i in 0, 2, 4, 9, 29:
    print(f"{i + 1:2}: score {score[i]:.2f}",
          f"value {value[i]:.2f}",
          f"EV {explained[i]:5.2f}")
assert score[4] > 3 * score[0]
best, worst = max(explained), min(explained)
print(f"EV from {worst:.2f} to {best:.2f}")
assert -0.1 < best < 0.1
# --8<-- [end:real]
