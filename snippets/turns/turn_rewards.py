"""Rewards per turn: four estimates of one gradient, all groups of four enumerated."""

# --8<-- [start:fee]
import torch
earned = torch.tensor([1.0, 1.0, 0.0, 0.0])
went_on = torch.tensor([1, 1, 0, 0]).bool()
whole = earned - earned.mean()
by_turn = earned - earned[went_on].mean() * went_on
print("add up first", whole.tolist())
print("turn by turn", by_turn.tolist())
assert whole.all() and not by_turn.any()
# --8<-- [end:fee]

# --8<-- [start:tokens]
import torch
from ppo_ref.advantages import gae
from ppo_ref.rewards import turn_level_scores

device = "cpu"  # or "cuda"
mask = [1, 1, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]
mask = torch.tensor(mask).to(device) > 0
scores = [[0.25, 1.0], [0.5, 0.0]]  # by turn
scores = torch.tensor(scores).to(device)
r = turn_level_scores(scores, mask)
critic = 0.75
advantages, _ = gae(
    token_level_rewards=r,
    values=torch.full_like(r, critic),
    response_mask=mask,
)
shown = {"rewards": r, "advantages": advantages}
for name, rows in shown.items():
    print(name)
    for row in rows:
        print(*(f"{x:5.2f}" for x in row))
assert r.sum(1).equal(scores.sum(1))
# --8<-- [end:tokens]

# --8<-- [start:progress]
state = r.new_tensor([0.25, 0.5, 0.375, 1.0])
progress = state.diff()  # of three turns
to_go = progress.flip(0).cumsum(0).flip(0)
print(*to_go.tolist())
assert to_go.equal(state[-1] - state[:-1])
# --8<-- [end:progress]

# --8<-- [start:groups]
from itertools import product

# Turn 1 earns 0 or 2 by luck. It stops, or goes on
# to a good or a bad turn 2.
kinds = [*product([0, 2], ["stop", "good", "bad"])]
luck = torch.tensor([k[0] for k in kinds])
went = torch.tensor([k[1] != "stop" for k in kinds])
good = torch.tensor([k[1] == "good" for k in kinds])
p = torch.where(went, 0.125, 0.25).double()
n = 4  # rollouts of a group, in all possible ways
group = torch.tensor([*product(range(6), repeat=n)])
weight = p[group].prod(1)

def others(x, count):  # their mean, where it counts
    x, count = x * count, count.double()
    rest = count.sum(1, keepdim=True) - count
    total = x.sum(1, keepdim=True) - x
    return total / rest.clamp(min=1)

def estimates(best, worst):
    r1 = luck[group].double()
    r2 = torch.where(good, best, worst) * went
    r2, on = r2[group].double(), went[group]
    R, every = r1 + r2, torch.ones_like(on)
    b = others(R, every)
    less1 = r1 - others(r1, every)
    less2 = (r2 - others(r2, on)) * on
    taken = n + on.sum(1, keepdim=True)
    mean = (R + r2).sum(1, keepdim=True) / taken
    return {
        "one sum": (R - b, R - b),
        "to go": (R - b, less2),
        "all steps": (R - mean, r2 - mean),
        "by turn": (less1 + less2, less2),
    }

def gradients(A1, A2):  # of both logits, and noise
    go = torch.where(went, 0.5, -0.5)[group]
    choice = torch.where(good, 0.5, -0.5) * went
    choice = choice[group]
    g = (A1 * go).mean(1), (A2 * choice).mean(1)
    means = [(weight * x).sum() for x in g]
    spread = (weight * (g[1] - means[1]) ** 2).sum()
    return *means, spread.sqrt()

tables = []
for pay in (1.5, 0.5), (0.0, -1.0):
    earned = sum(pay) / 2
    print(f"turn 2 earns {earned} on average")
    table = {"true": (0.25 * earned, 0.125)}
    for name, A in estimates(*pay).items():
        table[name] = gradients(*A)
    for name, row in table.items():
        cells = (f"{x:6.3f}" for x in row)
        print(f"{name:9}", *cells)
    for name in "one sum", "to go":
        found = torch.stack(table[name][:2])
        exact = p.new_tensor(table["true"])
        assert found.allclose(exact)
    tables.append(table)
earns, costs = tables

def entry(table, name, column):
    return table[name][column]
# --8<-- [end:groups]

# --8<-- [start:impossible]
same = [
    a.isclose(b) for a, b in
    zip(table["one sum"][:2], table["to go"][:2])
]
assert not all(same), "the same mean gradient"
# --8<-- [end:impossible]

# --8<-- [start:steps]
go, choice = table["true"]
print(f"true      {go / choice:5.2f}")
go, choice, _ = table["all steps"]
print(f"all steps {go / choice:5.2f}")
assert go.isclose(-choice), "not the true direction"
# --8<-- [end:steps]
