"""On-policy distillation: the gradient of a KL as a reward, as a loss, over a top-k."""

import torch
from two_tokens import actor, both, chance, k1, ref, reward, rows, slope
from two_tokens import to_go, weight, z

# On the page two_tokens.py stands above "credit".

# --8<-- [start:comment]
from torch import autograd, tensor
z = tensor([0.0, 1.0, 2.0], requires_grad=True)
S = z.log_softmax(0)  # log-probs: student
T = tensor([0.5, 0.3, 0.2]).log()  # teacher
kl = S.exp() @ (S - T)
loss = -S.exp().detach() @ ((T - S).detach() * S)
for x in kl, loss:
    print(*autograd.grad(x, z, retain_graph=True))
# --8<-- [end:comment]

# --8<-- [start:same]
(of_kl,) = autograd.grad(kl, z, retain_graph=True)
(of_loss,) = autograd.grad(loss, z)
assert of_kl.allclose(of_loss)
student, teacher = S.exp(), T.exp()
gap = T - S  # the advantage
# --8<-- [end:same]

# --8<-- [start:credit]
from ppo_ref.kl import kl_k2, kl_k3

S, T = actor, ref  # log-probs: student, teacher
start = z.new_ones(1)
reach = torch.cat([start, S[0].exp()]).detach()
kl = (S.exp() * (S - T)).sum(1)  # at each prefix
back = (T.exp() * (T - S)).sum(1)
goals = {
    "KL(S||T), responses": weight @ k1.sum(1),
    "KL(S||T), tokens": reach @ kl,
    "KL(T||S), tokens": reach @ back,
}
ways = {
    "own gap + later": reward(to_go),
    "own gap alone": reward(k1),
    "k2 as the loss": chance @ kl_k2(**both).sum(1),
    "k3 as the loss": chance @ kl_k3(**both).sum(1),
}
every = goals | ways
found = {x: slope(y) for x, y in every.items()}
for way in ways:
    for goal in goals:
        if found[way].allclose(found[goal]):
            print(f"{way:16} {goal}")
whole, own, other = (found[x] for x in goals)
far, paid, k2, k3 = (found[x] for x in ways)
assert far.allclose(whole)
assert paid.allclose(own) and k2.allclose(own)
assert k3.allclose(other) and not k3.allclose(own)
# --8<-- [end:credit]

# --8<-- [start:clamp]
times = [0.5, 2, 13, 14, 100]  # T / S of a token
k1 = -torch.tensor([times]).double().log()
k1.requires_grad_()  # log S - log T
pair = {
    "log_probs": k1,
    "ref_log_probs": torch.zeros_like(k1),
}
losses = {
    "k2": kl_k2(**pair),
    "k3": kl_k3(**pair),
    "k3, verl": kl_k3(**pair).clamp(max=10),
    "k2, cut": kl_k2(**pair).clamp(-10, 10),
}
print("T / S   ", *(f"{x:6}" for x in times))
for name, loss in losses.items():
    (g,) = torch.autograd.grad(loss.sum(), k1)
    cells = (f"{x:z6.1f}" for x in g[0])
    print(f"{name:8}", *cells)
    if "verl" in name:
        assert g[0, 2] < 0 and not g[0, 3:].any()
assert g[0, 3] < 0 and g[0, 4] == 0
# --8<-- [end:clamp]

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

def best(x):
    return x[top]

def with_rest(x):  # all others as one token more
    return torch.cat([x[top], x[3:].sum()[None]])

def student_teacher(q, p):
    return (q * (q / p).log()).sum()

def teacher_student(q, p):
    return student_teacher(p, q)

kinds = {
    "KL(S||T)": student_teacher,
    "KL(T||S)": teacher_student,
}

def train(loss, part, z):
    for _ in range(500):
        z.requires_grad_()
        value = loss(part(z.softmax(0)), part(p))
        (g,) = torch.autograd.grad(value, z)
        z = (z - 2 * g).detach()
    return z.softmax(0), value

print("           top 3   loss  student / teacher")
ends = {}
for part in best, with_rest:
    for name, loss in kinds.items():
        q, value = train(loss, part, p.log())
        alike, _ = train(loss, part, 0 * p)
        assert alike[top].allclose(q[top], 0, 1e-4)
        ratio = q[top] / p[top]
        name += " +" * (part == with_rest)
        ends[name] = q
        mass = q[top].sum()
        row = [f"{v:.2f}" for v in ratio]
        row = f"{value:z6.2f} ", *row
        print(f"{name:10} {mass:6.2f}", *row)
low = p[top] / torch.e
assert ends["KL(S||T)"][top].allclose(low)
for name in "KL(S||T) +", "KL(T||S) +":
    assert ends[name][top].allclose(p[top])
# --8<-- [end:topk]

# --8<-- [start:not_kl]
same = paid.allclose(own)
assert not same, "it is the KL's gradient"
# --8<-- [end:not_kl]
