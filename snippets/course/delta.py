"""The TD error of one token, and what all of them add up to."""

# --8<-- [start:deltas]
import torch
from ppo_ref.examples import shared_batch

batch = shared_batch()
V, score = batch.values, batch.scores
length = batch.response_mask.sum(1).tolist()
delta = torch.zeros_like(V)
for i, n in enumerate(length):
    before = V[i, :n]
    after = torch.zeros_like(before)
    after[:-1] = V[i, 1:n]  # 0 after the end
    r = torch.zeros_like(before)
    r[-1] = score[i]  # the score comes last
    delta[i, :n] = r + after - before
    cells = (f"{x:5.2f}" for x in delta[i, :n])
    print(f"answer {i}:", *cells)
# --8<-- [end:deltas]

# --8<-- [start:judge]
from ppo_ref.advantages import td_residuals

rewards = torch.zeros_like(V)
rewards[0, 5], rewards[1, 3] = score
judge = td_residuals(
    token_level_rewards=rewards,
    values=V,
    response_mask=batch.response_mask,
)
assert judge.allclose(delta)
# --8<-- [end:judge]

# --8<-- [start:sums]
for i, n in enumerate(length):
    rest = [delta[i, t:n].sum() for t in range(n)]
    rest = torch.stack(rest)
    assert rest.allclose(score[i] - V[i, :n])
    cells = (f"{x:5.2f}" for x in rest)
    print(f"answer {i}:", *cells)
# --8<-- [end:sums]

# --8<-- [start:tree]
def first_1(V_0, V_1):
    """The TD errors if the first token is 1."""
    d_0 = V_1 - V_0
    d_1 = 0 - V_1, 1 - V_1  # then 0, then 1
    mean = sum(d_1) / 2
    print(f"delta_0 {d_0:5.2f}")
    print(f"delta_1 {d_1[0]:5.2f} or {d_1[1]:.2f}")
    print(f"mean    {mean:5.2f}")
    return d_0, d_1, mean

V_0, V_1 = 0.25, 0.5
d_0, d_1, mean = first_1(V_0, V_1)
# --8<-- [end:tree]

# --8<-- [start:wrong]
bad_V_1 = 0.1
bad_d_0, bad_d_1, bad_mean = first_1(V_0, bad_V_1)
total = bad_d_0 + bad_mean
print(f"together {total:.2f}")
# --8<-- [end:wrong]

# --8<-- [start:three]
guess = 0.3, 0.4, 0.6
three = (
    guess[1] - guess[0],
    guess[2] - guess[1],
    1 - guess[2],
)
print(*(f"{d:.1f}" for d in three))
print(f"sum {sum(three):.1f}")
# --8<-- [end:three]

# --8<-- [start:slip]
guess = torch.tensor([0.5, 0.7, 0.3, 0.9])
after = torch.tensor([0.7, 0.3, 0.9, 0.0])
r = torch.tensor([0.0, 0.0, 0.0, 1.0])
slip = r + after - guess
print("delta", *(f"{x:5.2f}" for x in slip))
print("G - V", *(f"{x:5.2f}" for x in 1 - guess))
# --8<-- [end:slip]

# --8<-- [start:shifted]
after = V[1, 1:5]  # one slot too far
shifted = after - V[1, :4]
print(*(f"{x:5.2f}" for x in shifted))
# --8<-- [end:shifted]
