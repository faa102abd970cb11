"""On-policy distillation: the gradient of a KL as a reward, as a loss, over a top-k."""

# --8<-- [start:comment]
import torch
z = torch.tensor(2 * [[0, 1.0, 2]]).requires_grad_()
S, p = z.log_softmax(1), z.softmax(1)  # student
gap = S - torch.tensor([0.5, 0.3, 0.2]).log()
loss = p[1].detach() @ (S[1] * gap[1].detach())
(p[0] @ gap[0] + loss).backward()  # KL, advantage
print(z.grad)
assert z.grad[0].allclose(z.grad[1])
# --8<-- [end:comment]

# --8<-- [start:credit]
import torch
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

device = "cpu"  # or "cuda"
torch.manual_seed(0)
z, T = torch.randn(2, 4, 3).double().to(device)
T = T.log_softmax(1)  # row 0: token 0
z.requires_grad_()  # row 1 + a: token 1 after a
S = z.log_softmax(1)


def rows(table):  # a row for each of nine responses
    first = table[0][:, None].expand(3, 3)
    both = torch.stack([first, table[1:]], 2)
    return both.view(9, 2)


def slope(y):
    z.grad = None
    y.backward(retain_graph=True)
    return z.grad


both = {
    "log_probs": rows(S),
    "ref_log_probs": rows(T),
}
weight = both["log_probs"].sum(1).exp()
chance = weight.detach()  # sampled: data
k1 = kl_k1(**both)
to_go = k1.flip(1).cumsum(1).flip(1)
start = z.new_ones(1)
reach = torch.cat([start, S[0].exp()]).detach()
kl = (S.exp() * (S - T)).sum(1)  # at each prefix
back = (T.exp() * (T - S)).sum(1)


def reward(cost):  # each token pays its cost
    paid = cost.detach() * both["log_probs"]
    return chance @ paid.sum(1)


slopes = {
    "KL of responses": weight @ k1.sum(1),
    "reward, to go": reward(to_go),
    "KL of tokens": reach @ kl,
    "reward, own": reward(k1),
    "loss, k2": chance @ kl_k2(**both).sum(1),
    "other KL, tokens": reach @ back,
    "loss, k3": chance @ kl_k3(**both).sum(1),
}
slopes = {k: slope(y) for k, y in slopes.items()}
head = "token 0", "token 1"
print(" " * 16, *(f"{name:>17}" for name in head))
for name, g in slopes.items():
    g = g[[0, 2]].flatten()
    print(f"{name:16}", *(f"{v:z5.2f}" for v in g))
whole, far, own, paid, *rest = slopes.values()
k2, other, k3 = rest
assert far.allclose(whole)
assert paid.allclose(own) and k2.allclose(own)
assert k3.allclose(other) and not k3.allclose(own)
# --8<-- [end:credit]

# --8<-- [start:prefix]
best = T.topk(2).indices  # teacher's, at a prefix
gaps = (T.exp() * (T - S)).gather(1, best).sum(1)
table = gaps[:, None].expand(4, 3)  # for any token
penalty = slope(reward(rows(table))).abs().max()
backprop = slope(reach @ gaps).abs().max()
print(f"penalty  {penalty:.2f}")
print(f"backprop {backprop:.2f}")
assert penalty < 1e-15
# --8<-- [end:prefix]

# --8<-- [start:topk]
import torch

p = [0.4, 0.25, 0.15, 0.1, 0.06, 0.04]
p = torch.tensor(p).double()  # teacher
top = slice(3)


def reverse(q):
    return (q * (q / p).log())[top].sum()


def forward(q):
    return (p * (p / q).log())[top].sum()


print("        mass   loss  q/p in the top 3")
for loss in reverse, forward:
    z = p.log()  # begins as the teacher
    for _ in range(500):
        z.requires_grad_()
        value = loss(z.softmax(0))
        (g,) = torch.autograd.grad(value, z)
        z = (z - 2 * g).detach()
    q = z.softmax(0)
    row = f"{q[top].sum():.2f} {loss(q):z6.2f} "
    ratio = (f"{v:.2f}" for v in (q / p)[top])
    print(f"{loss.__name__:7}", row, *ratio)
    if loss == reverse:
        assert q[top].allclose(p[top] / torch.e)
# --8<-- [end:topk]

# --8<-- [start:not_kl]
same = paid.allclose(own)
assert not same, "it is the KL's gradient"
# --8<-- [end:not_kl]

# --8<-- [start:small]
for part in 1, 1 / torch.e, 0.1, 0.001:
    value = reverse(p * part)
    print(f"q/p {part:5.3f} loss {value:z.3f}")
least = reverse(p / torch.e)
assert value < least, "the least is p/e"
# --8<-- [end:small]
