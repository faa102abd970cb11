"""Answers cut off: who stays in which mean."""

# --8<-- [start:comment]
import torch
R = torch.tensor([1.0, 1.0, 0.0, 0.0])
done = R > 0  # the other two are cut
A = R - R.mean()
own = torch.where(done, R - R[done].mean(), 0)
print("punished", A.tolist())
print("masked  ", torch.where(done, A, 0).tolist())
print("left out", own.tolist())
# --8<-- [end:comment]

# --8<-- [start:three]
import torch

z = torch.zeros(1).double().requires_grad_()
R = torch.cartesian_prod(*[torch.arange(2)] * 4)
R = R.double()  # 16 groups; 1: finished, 0: cut
p = z.sigmoid()  # of finishing
logp = torch.where(R > 0, p.log(), (1 - p).log())

def push(advantages):  # expected, on finishing
    goal = (advantages * logp).mean()
    (g,) = torch.autograd.grad(
        goal, z, retain_graph=True
    )
    return g.item()

A = R - R.mean(1, keepdim=True)
done = R.sum(1, keepdim=True).clamp(min=1)
own = R.sum(1, keepdim=True) / done  # their mean
ways = {
    "punished": A,
    "masked": A * R,  # no loss where it is cut
    "left out": (R - own) * R,
}
pushes = []
for name, advantages in ways.items():
    pushes.append(push(advantages))
    print(f"{name:8} {pushes[-1]:z.4f}")
assert pushes[1] == pushes[0] / 2 > pushes[2] == 0
# --8<-- [end:three]

# --8<-- [start:none]
import torch
from functools import wraps
from math import nan

ends = {2, 7}  # every EOS id, and the pad id

def finished_only(reward):
    """A cut answer has no score, not even 0."""
    @wraps(reward)
    def scores(*, completion_ids, **given):
        found = reward(
            completion_ids=completion_ids, **given
        )
        return [
            r if ids[-1] in ends else None
            for r, ids in zip(found, completion_ids)
        ]
    return scores

@finished_only
def right(*, completion_ids, **given):
    return [1.0 * (3 in x) for x in completion_ids]

group = [[3, 2], [4, 7], [3, 5], [4, 5]]  # two cut
found = right(completion_ids=group)
print(found)
some = [nan if r is None else r for r in found]
r = torch.tensor(some)  # from here as in TRL
A = (r - r.nanmean()).nan_to_num(0)
print(*(f"{x:.1f}" for x in A))
assert A.sum() == 0 and not A[2:].any()
# --8<-- [end:none]

# --8<-- [start:share]
from itertools import product
from math import isclose

for p in 0.95, 0.75, 0.25:  # of finishing
    punished = masked = 0.0
    for row in product((0, 1), repeat=4):
        chance = p ** sum(row)
        chance *= (1 - p) ** row.count(0)
        for r in row:
            push = (r - sum(row) / 4) * (r - p)
            punished += chance * push
            masked += chance * push * r
    rest = masked / punished
    print(f"{1 - p:3.0%} cut: {rest:.0%} remains")
    assert isclose(rest, 1 - p)
# --8<-- [end:share]

# --8<-- [start:fair]
from itertools import product

push = 0.0
for R in product((0, 1), repeat=4):  # 1: finished
    for r in R:
        A = r * (r - sum(R) / 4)  # masked where 0
        push += A * (r - 0.5) / 64
print(f"push towards finishing {push:.4f}")
assert push == 0, "finishing still pays"
# --8<-- [end:fair]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("smollm2_ppo")
cut = run.column("truncated")
for i in 0, 1, 2, 3, 4, 9:
    print(f"{i + 1:2}: cut off {cut[i]:.2f}")
assert cut[0] > 0.1 and max(cut[9:]) == 0
# --8<-- [end:real]
