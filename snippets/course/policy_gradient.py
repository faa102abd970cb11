"""The policy gradient on a tree of four answers."""

# --8<-- [start:tree]
import torch

names = "00", "01", "10", "11"
score = torch.tensor([0.0, 0.0, 0.0, 1.0])

def log_P(theta):
    """Of each answer: its two tokens, added."""
    one = theta.sigmoid().log()
    zero = (-theta).sigmoid().log()
    return torch.stack([
        zero[0] + zero[1],
        zero[0] + one[1],
        one[0] + zero[2],
        one[0] + one[2],
    ])

theta = torch.zeros(3, requires_grad=True)
P = log_P(theta).exp()
J = P @ score
for name, p, s in zip(names, P, score, strict=True):
    print(f"{name}  P {p:.2f}  score {s:.0f}")
print(f"J = {J:.2f}")
# --8<-- [end:tree]

# --8<-- [start:exact]
(exact,) = torch.autograd.grad(J, theta)
print(*(f"{g:.3f}" for g in exact))
# --8<-- [end:exact]

# --8<-- [start:average]
mean = torch.zeros(3)
for i, name in enumerate(names):
    one_log_P = log_P(theta)[i]
    (g,) = torch.autograd.grad(one_log_P, theta)
    print(name, *(f"{x:6.3f}" for x in g))
    mean += P[i].detach() * score[i] * g
print("mean", *(f"{x:.3f}" for x in mean))
assert mean.allclose(exact)
# --8<-- [end:average]

# --8<-- [start:loss]
drawn = [0, 3, 1, 3, 2, 0, 3, 1]  # 3 means 11
loss = -(score[drawn] * log_P(theta)[drawn]).mean()
loss.backward()
uphill = 0 - theta.grad  # turn the sign back
print(*(f"{g:.4f}" for g in uphill))
# --8<-- [end:loss]

# --8<-- [start:shared]
from ppo_ref.examples import shared_batch

batch = shared_batch()
p = batch.old_log_probs.exp()
push = batch.scores[:, None] * (1 - p)
for row, n in enumerate(batch.response_mask.sum(1)):
    print(f"answer {row}")
    for name, x in ("p", p), ("push", push):
        cells = (f"{v:.3f}" for v in x[row, :n])
        print(f"{name:4}", *cells)
# --8<-- [end:shared]

# --8<-- [start:all_right]
J = log_P(theta).exp() @ torch.ones(4)
(g,) = torch.autograd.grad(J, theta)
assert g.abs().max() < 1e-6
print("nothing to gain")
# --8<-- [end:all_right]

# --8<-- [start:ten]
J = log_P(theta).exp() @ (10 * score)
(g,) = torch.autograd.grad(J, theta)
print(*(f"{x:.2f}" for x in g))
# --8<-- [end:ten]

# --8<-- [start:lopsided]
sure = torch.tensor([2.2, 0.0, 0.0])
sure.requires_grad_()
J = log_P(sure).exp() @ score
(g,) = torch.autograd.grad(J, sure)
print(f"J = {J:.2f}:", *(f"{x:.3f}" for x in g))
# --8<-- [end:lopsided]
