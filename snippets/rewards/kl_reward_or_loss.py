"""KL in the reward or in the loss: which token is charged for which divergence."""

from two_tokens import both, chance, k1, reward, slope, to_go, weight

# On the page two_tokens.py stands above "credit".

# --8<-- [start:comment]
from torch import autograd, tensor, zeros
z = zeros(2, requires_grad=True)  # logits of A, B
p = z.softmax(0)  # the reference has 0.5 for each
own = (p * (p / 0.5).log()).sum()  # KL of token 0
later = p @ tensor([0.0, 1.0])  # KL of token 1
for x in own + later.detach(), own + later:
    print(*autograd.grad(x, z, retain_graph=True))
# --8<-- [end:comment]

# --8<-- [start:signs]
loss, in_reward = own + later.detach(), own + later
(a,) = autograd.grad(loss, z, retain_graph=True)
(b,) = autograd.grad(in_reward, z)
assert a[1] == 0 < b[1]
# --8<-- [end:signs]

# --8<-- [start:credit]
from ppo_ref.kl import kl_k2, kl_k3

new = both["log_probs"]
ratio = (new - new.detach()).exp()  # 1, at first
times = ratio * kl_k3(**both)
right = slope(weight @ k1.sum(1))  # of the KL
ways = {
    "reward, k1": reward(to_go),
    "loss, k2": chance @ kl_k2(**both).sum(1),
    "loss, k3": chance @ kl_k3(**both).sum(1),
    "loss, ratio * k3": chance @ times.sum(1),
}
found = []
print(" " * 16, "token 0 token 1")
for way, y in ways.items():
    g = slope(y)
    found.append(g)
    parts = slice(1), slice(1, 4)  # by token
    same = [g[i].allclose(right[i]) for i in parts]
    cells = ("yes" if s else "no" for s in same)
    print(f"{way:16}", *(f"{c:>7}" for c in cells))
paid, k2, k3, trl = found
assert paid.allclose(right) and trl.allclose(k2)
assert k2[1:].allclose(right[1:])  # the last token
assert not k2[0].allclose(right[0])
assert not k3[1:].allclose(right[1:])
# --8<-- [end:credit]

# --8<-- [start:group]
import torch
from ppo_ref.group_advantages import grpo

device = "cpu"  # or "cuda"
kl = torch.tensor([[1.0, 2, 3, 6]], device=device).T
print(" beta  advantages of four right answers")
for beta in 0.001, 0.1:
    advantages = grpo(
        token_level_rewards=1 - beta * kl,
        response_mask=kl > 0,
        groups=torch.zeros_like(kl[:, 0]).long(),
    ).advantages[:, 0]
    cells = (f"{a:z5.2f}" for a in advantages)
    print(f"{beta:5}", *cells)
assert advantages[3] < -1.3
# --8<-- [end:group]

# --8<-- [start:moved]
assert k2.allclose(paid), "not on token 0"
# --8<-- [end:moved]

# --8<-- [start:twice]
beta = 0.1
twice = beta * paid + beta * k2
ratio = twice[2] / (beta * right[2])
print(*(f"{v:.1f}" for v in ratio))
assert twice[2].allclose(beta * right[2]), "twice"
# --8<-- [end:twice]

# --8<-- [start:sign]
near = torch.tensor([0.5, 0.3, 0.2]).log()
ends = {}
for sign in 1, -1:
    logits = torch.tensor([0.5, 0.5, 0.0])
    for _ in range(200):
        logits.requires_grad_()
        own = logits.log_softmax(0)
        cost = own.exp() @ (own - near)
        step = sign * cost
        (g,) = torch.autograd.grad(step, logits)
        logits = (logits - g).detach()
    ends[sign] = cost.item()
    print(f"{sign:+d} * kl ends at {cost:z.2f}")
assert abs(ends[1]) < 1e-6 and ends[-1] > 1
# --8<-- [end:sign]
