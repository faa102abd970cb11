"""One rollout in several rows: what a group counts, and what a critic is told."""

# --8<-- [start:comment]
import torch
row_of = torch.tensor([0, 0, 0, 1])  # its rollout
s = torch.tensor([0.0, 0, 0, 1])  # that one's score
by_row = s - (s.sum() - s) / (len(s) - 1)
each = torch.tensor([0.0 - 1, 1 - 0])  # rollouts
once = each[row_of]  # copied to the rows
print("by row    ", *(f"{x:5.2f}" for x in by_row))
print("by rollout", *(f"{x:5.2f}" for x in once))
# --8<-- [end:comment]

# --8<-- [start:judge]
from ppo_ref.group_advantages import rloo

one_prompt = torch.zeros_like(row_of)
rows = {
    "response_mask": s[:, None] >= 0,
    "groups": one_prompt,
}
r = s[:, None]  # paid at the end of a rollout
unaware = rloo(token_level_rewards=r, **rows)
assert unaware.advantages[:, 0].allclose(by_row)

rows["rollouts"] = row_of
told = rloo(token_level_rewards=r, **rows)
assert told.advantages[:, 0].equal(once)
# --8<-- [end:judge]

# --8<-- [start:tree]
from itertools import product

p = torch.ones(3).double() / 3
score = torch.tensor([1.0, 0, 0]).double()
cut = torch.tensor([1, 1, 4])  # rows of each answer
slope = torch.eye(3) - p  # of log-probs, by logits

def pull(by_rollouts):  # the mean over 81 groups
    total = 0
    for group in product(range(3), repeat=4):
        g = torch.tensor(group)
        row_of = torch.arange(4)
        row_of = row_of.repeat_interleave(cut[g])
        new = torch.tensor([-1])
        first = row_of.diff(prepend=new) > 0
        s = score[g][row_of][:, None]
        given = {"groups": 0 * row_of}
        if by_rollouts:
            given["rollouts"] = row_of
            s = s * first[:, None]
        A = rloo(
            token_level_rewards=s,
            response_mask=s >= 0,
            **given,
        ).advantages[first, 0]
        total = total + A @ slope[g] / 4 / 81
    return total

def of_critic(V):  # the mean over its rollouts
    return p * (score - V) @ slope

exact = p * (score - p @ score)
for name, gradient in (
    ("exact gradient", exact),
    ("RLOO over rollouts", pull(True)),
    ("RLOO over rows", rows := pull(False)),
    ("critic that says 0.3", of_critic(0.3)),
    ("critic that says 5.0", of_critic(5.0)),
):
    cells = (f"{x:7.3f}" for x in gradient)
    print(f"{name:20}", *cells)
    right = torch.allclose(gradient, exact)
    assert right == (gradient is not rows)
assert rows[2] > rows[1]  # cut into 4: cheaper
# --8<-- [end:tree]

# --8<-- [start:joined]
from ppo_ref.advantages import gae

V = torch.tensor([[0.5, 0.4, 0.6, 0.7, 0.5, 0.8]])
r = torch.tensor([[0.0, 0, 0, 0, 0, 1]])
copies = torch.tensor([[0.0, 1, 0, 1, 0, 1]])

def estimate(r, V, end=None):
    return gae(
        token_level_rewards=r,
        values=V,
        response_mask=r == r,
        gae_lambda=lam,
        bootstrap_values=end,
    ).advantages

def rows_of_two(r, joined=False):
    A, end = [], None
    for t in 4, 2, 0:  # from the last row
        at = slice(t, t + 2)
        A = [estimate(r[:, at], V[:, at], end), *A]
        if joined:
            end = V[:, t] + lam * A[0][:, 0]
    return torch.cat(A, 1)

for lam in 1.0, 0.9:
    print(f"lambda {lam}")
    for name, A in (
        ("in one row", whole := estimate(r, V)),
        ("joined", chain := rows_of_two(r, True)),
        ("copied score", rows_of_two(copies)),
        ("last row only", rows_of_two(r)),
    ):
        cells = (f"{x:5.2f}" for x in A[0])
        print(f"{name:13}", *cells)
    assert chain.allclose(whole)
# --8<-- [end:joined]

# --8<-- [start:unchanged]
same = unaware.advantages.allclose(told.advantages)
assert same, "rloo was delegated unchanged"
# --8<-- [end:unchanged]
