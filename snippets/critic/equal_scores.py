"""A group whose scores are equal or nearly equal: what it teaches."""

# --8<-- [start:comment]
import torch
for last in 1.0, 0.999, 0.0:  # the fourth score
    s = torch.tensor([1.0, 1, 1, last])
    A = (s - s.mean()) / (s.std() + 1e-6)
    print(last, *(f"{x:6.3f}" for x in A))
# --8<-- [end:comment]

# --8<-- [start:judge]
from ppo_ref.group_advantages import dr_grpo, grpo

def judged(f, scores):  # one token an answer
    r = scores[:, None]
    return f(
        token_level_rewards=r,
        response_mask=r == r,
        groups=torch.zeros(len(r)).long(),
    ).advantages[:, 0]

equal = torch.ones(4)
near = torch.tensor([1, 1, 1, 0.999])
for f in grpo, dr_grpo:
    assert judged(f, equal).tolist() == [0] * 4
assert judged(grpo, s).allclose(A)
assert judged(grpo, near).allclose(A, rtol=0.01)
A = judged(dr_grpo, near)
print("Dr. GRPO", *(f"{x:8.5f}" for x in A))
# --8<-- [end:judge]

# --8<-- [start:weights]
size = 8  # answers to a prompt
for k in 1, 2, 4, 6, 7, 8:  # of them right, score 1
    x = (torch.arange(size) < k).double()
    pull = [
        judged(f, x).abs().sum().item()
        for f in (dr_grpo, grpo)
    ]
    print(f"{k} of {size} right:", end="")
    print(*(f"{x:7.2f}" for x in pull))
    if k < size:  # right by left is 1 / std
        factor = torch.tensor(pull[1] / pull[0])
        assert factor.isclose((1 / x.std()).float())
# --8<-- [end:weights]

# --8<-- [start:residue]
x = torch.full((7,), 0.35)  # seven equal scores
mean, square = sum(x) / 7, sum(x * x) / 7
std = (square - mean**2).sqrt()  # exactly: 0
print(f"std {std:.1e}")
A = (0 - mean) / (std + 1e-6)
print(f"A of an eighth that scores 0: {A:.0f}")
eight = torch.cat([x, 0 * x[:1]])
print(f"grpo: {judged(grpo, eight)[-1]:.2f}")
assert std > 0 and not judged(grpo, x).any()
# --8<-- [end:residue]

# --8<-- [start:settled]
right = 0.95  # how often an answer scores 1
for size in 2, 4, 8, 16:
    equal = right**size + (1 - right) ** size
    print(f"{size:2} answers: {equal:.0%}")
# --8<-- [end:settled]
