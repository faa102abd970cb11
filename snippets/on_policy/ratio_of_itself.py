"""The ratio of a policy to itself: its value is 1, its gradient is not 0."""

# --8<-- [start:comment]
import torch
logp = torch.tensor([-0.5, -2.0]).requires_grad_()
A = torch.tensor([1.0, -1.0])  # right, wrong
ratio = (logp - logp.detach()).exp()
loss = (-A * ratio).mean()
loss.backward()
print(f"{loss=:.1f} {logp.grad=}")
assert logp.grad.equal(-A / 2)  # as of -logp * A
# --8<-- [end:comment]

# --8<-- [start:ways]
import torch

x = torch.tensor(-2.0).requires_grad_()
c = x.detach()
ways = {
    "exp(x - c)": (x - c).exp(),
    "x": 1 * x,
    "exp(x - x)": (x - x).exp(),
    "exp(x) - exp(c)": x.exp() - c.exp(),
}
slopes = []
print("                value slope")
for name, y in ways.items():
    (slope,) = torch.autograd.grad(y, x)
    slopes.append(slope)
    print(f"{name:15} {y:5.2f} {slope:5.2f}")
assert slopes[:3] == [1, 1, 0]
assert slopes[3] == c.exp()  # its probability
# --8<-- [end:ways]

# --8<-- [start:rises]
import torch

score = torch.tensor([1.0, 0, 0, 0]).double()
ref = torch.full_like(score, 0.25).log()
beta = 0.04

def parts(z):
    logp = z.log_softmax(0)
    ratio = (logp - logp.detach()).exp()
    share = logp.detach().exp()  # of each answer
    J = share @ score
    A = (score - J) / (J * (1 - J)).sqrt()
    kl = logp.exp() @ (logp - ref)
    return J, -share @ (ratio * A), beta * kl

z, losses = ref.clone(), []
print("update score  -mean A  beta*KL loss")
for update in range(51):
    z.requires_grad_()
    J, policy, kl = parts(z)
    loss = policy + kl
    (slope,) = torch.autograd.grad(loss, z)
    z = (z - slope / 2).detach()
    losses.append(loss.item())
    if update in (0, 5, 10, 50):
        row = f"{policy:z9.3f} {kl:8.3f} {loss:.3f}"
        print(f"{update:6} {J:5.2f} {row}")
    assert abs(policy) < 1e-9
# --8<-- [end:rises]

# --8<-- [start:kl]
start = ref.clone().requires_grad_()
_, *both = parts(start)
for name, part in zip(("advantages", "KL"), both):
    (g,) = torch.autograd.grad(
        part, start, retain_graph=True
    )
    norm = g.norm()
    row = f"{part:z.2f} gradient {norm:.2f}"
    print(f"{name:10} {row}")
assert norm == 0  # all of it is the advantages'
# --8<-- [end:kl]

# --8<-- [start:lengths]
import torch

A = torch.tensor([1.0, -1.0])  # right, wrong
print("tokens  by answer  by token")
for n in torch.tensor([[8, 2], [2, 8]]):
    rows = (-A).mean()  # of each answer's mean
    tokens = (-A * n).sum() / n.sum()
    row = f"{rows:z12.1f} {tokens:9.1f}"
    print(*n.tolist(), row)
# --8<-- [end:lengths]

# --8<-- [start:several]
import torch

old = torch.tensor([0.5, 0.5])  # wrote the batch
A = torch.tensor([0.5, -0.5])  # scores 1 and 0
now = torch.tensor([0.75, 0.25])  # some updates on

def true(z):  # the mean score itself
    return z.softmax(0)[0]

def stored(z):
    logp = z.log_softmax(0)
    return old @ ((logp - old.log()).exp() * A)

def detached(z):
    logp = z.log_softmax(0)
    return old @ ((logp - logp.detach()).exp() * A)

slopes = []
for mean in true, stored, detached:
    z = now.log().requires_grad_()
    mean(z).backward()
    slopes.append(z.grad[0])
    print(f"{mean.__name__:9} {z.grad[0]:.4f}")
assert slopes[1].isclose(slopes[0])
assert not slopes[2].isclose(slopes[0])
# --8<-- [end:several]

# --8<-- [start:zero]
import torch

x = torch.tensor(-2.0).requires_grad_()
(x - x.detach()).exp().backward()
print("gradient", x.grad.item())
assert x.grad == 0, "the gradient is 1"
# --8<-- [end:zero]

# --8<-- [start:cut]
import torch

logp = torch.tensor([-0.5, -2.0]).requires_grad_()
A = torch.tensor([1.0, -1.0])
ratio = (logp.detach() - logp.detach()).exp()
loss = (-A * ratio).mean()
print("requires_grad", loss.requires_grad)
assert loss.requires_grad, "nothing to train"
# --8<-- [end:cut]

# --8<-- [start:alone]
import torch

ref = torch.full((4,), 0.25).double().log()
p = torch.tensor([0.4, 0.2, 0.2, 0.2], dtype=float)
score = torch.tensor([1.0, 0, 0, 0]).double()
x = p.log().requires_grad_()
logp = x.log_softmax(0)
ratio = (logp - logp.detach()).exp()
policy = -p @ (ratio * (score - p @ score))
kl = 0.04 * (logp.exp() @ (logp - ref))
both, names = [], ("advantages", "KL")
for name, part in zip(names, (policy, kl)):
    (g,) = torch.autograd.grad(part, x, None, True)
    both.append(g.norm())
    row = f"{part:z.4f} gradient {g.norm():.4f}"
    print(f"{name:10} {row}")
assert policy.abs() < 1e-9  # all of it is the KL's
assert both[0] < both[1], "the gradient is not"
# --8<-- [end:alone]

# --8<-- [start:down]
import torch

score = torch.tensor([1.0, 0, 0, 0]).double()
x, scores, losses = 0 * score, [], []
for update in range(21):
    x.requires_grad_()
    logp = x.log_softmax(0)
    share = logp.detach().exp()  # of each answer
    J = share @ score
    ratio = (logp - logp.detach()).exp()
    loss = -share @ (ratio * (score - J))
    (g,) = torch.autograd.grad(loss, x)
    x = (x - 4 * g).detach()
    scores.append(J)
    losses.append(loss.detach())
    if update % 10 == 0:
        print(f"score {J:.2f} loss {loss:z.2f}")
assert scores[-1] > scores[0]
fell = losses[-1] < losses[0] - 1e-9
assert fell, "a better score, the same loss"
# --8<-- [end:down]
