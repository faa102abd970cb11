"""KL in the reward or in the loss: which token is charged for which divergence."""

# --8<-- [start:comment]
import torch
z = torch.zeros(2, 2).requires_grad_()  # two uses
p = z.softmax(1)  # A or B, as the reference
own = (p * (2 * p).log()).sum(1)  # its KL
often = torch.stack([p[0, 1].detach(), p[1, 1]])
(own + often * 0.368).sum().backward()  # KL after B
print(*(f"{x:.3f}" for x in z.grad[:, 1]))
assert z.grad[0, 1] == 0 < z.grad[1, 1]
# --8<-- [end:comment]

# --8<-- [start:credit]
import torch
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

device = "cpu"  # or "cuda"
torch.manual_seed(0)
z, ref = torch.randn(2, 4, 3).double().to(device)
ref = ref.log_softmax(1)  # row 0: token 0
z.requires_grad_()  # row 1 + a: token 1 after a
x = z.log_softmax(1)


def rows(table):  # a row for each of nine responses
    first = table[0][:, None].expand(3, 3)
    both = torch.stack([first, table[1:]], 2)
    return both.view(9, 2)


def slope(y):
    z.grad = None
    y.backward(retain_graph=True)
    return z.grad


log_probs, ref_log_probs = rows(x), rows(ref)
both = {
    "log_probs": log_probs,
    "ref_log_probs": ref_log_probs,
}
weight = log_probs.sum(1).exp()  # of a response
chance = weight.detach()  # sampled: data
k1 = kl_k1(**both)
to_go = k1.flip(1).cumsum(1).flip(1).detach()
paid = to_go * log_probs
slopes = {
    "KL of responses": weight @ k1.sum(1),
    "reward, k1": chance @ paid.sum(1),
    "loss, k2": chance @ kl_k2(**both).sum(1),
    "loss, k3": chance @ kl_k3(**both).sum(1),
}
slopes = {k: slope(y) for k, y in slopes.items()}
head = "token 0", "token 1"
print(" " * 15, *(f"{name:>17}" for name in head))
for name, g in slopes.items():
    g = g[[0, 2]].flatten()
    print(f"{name:15}", *(f"{v:z5.2f}" for v in g))
right, reward, k2, _ = slopes.values()
assert reward.allclose(right)
assert k2[1:].allclose(right[1:])  # the last token
assert not k2[0].allclose(right[0])
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
assert k2.allclose(reward), "not on token 0"
# --8<-- [end:moved]

# --8<-- [start:twice]
beta = 0.1
twice = beta * reward + beta * k2
ratio = twice[2] / (beta * right[2])
print(*(f"{v:.1f}" for v in ratio))
assert twice[2].allclose(beta * right[2]), "twice"
# --8<-- [end:twice]
