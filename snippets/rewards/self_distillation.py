"""Self-distillation: the teacher is the same model, and reads a hint too."""

# --8<-- [start:comment]
from torch import tensor
# each token: A, B, "as the hint says"
T = tensor([[0.7, 0.05, 0.25],  # hint: A
            [0.05, 0.7, 0.25]])  # hint: B
S = T.log().mean(0).softmax(0)  # least KL(S||T)
print("teacher", T.mean(0))
print("student", S)
# --8<-- [end:comment]

# --8<-- [start:same]
import torch

def mean_kl(S, T):  # log-probs; each hint as often
    return (S.exp() * (S - T)).sum(1).mean()

z = torch.zeros(3)
for _ in range(200):
    z.requires_grad_()
    loss = mean_kl(z.log_softmax(0), T.log())
    (g,) = torch.autograd.grad(loss, z)
    z = (z - g).detach()
assert z.softmax(0).allclose(S, atol=1e-4)
floor, copied = loss.item(), S[2].item()
most = T[:, 2].max().item()  # of any teacher
hints, student = T, S
middle = T.log().mean(0).exp()  # geometric mean
assert floor > 0.4 and copied > 1.5 * most
# --8<-- [end:same]

# --8<-- [start:collapse]
hint = T.log()  # what it adds to the logits
rate = 0.05  # of the moving average

def train(kind, steps):
    z = torch.zeros(3)  # the student's logits
    teacher = z.clone()  # its logits, no hint
    for _ in range(steps):
        z.requires_grad_()
        T_now = (teacher + hint).log_softmax(1)
        loss = mean_kl(z.log_softmax(0), T_now)
        (g,) = torch.autograd.grad(loss, z)
        z = (z - 0.5 * g).detach()
        if kind == "live":
            teacher = z.clone()  # no gradient
        if kind == "ema":
            teacher = teacher.lerp(z, rate)
    first = mean_kl(z.log_softmax(0), T.log())
    return [loss, first, *z.softmax(0)]

head = "update  loss start     A     B  hint"
print(" " * 7, head)
ends = {}
for kind in "frozen", "ema", "live":
    for steps in 200, 800:
        ends[kind] = row = train(kind, steps)
        cells = " ".join(f"{x:5.2f}" for x in row)
        print(f"{kind:7} {steps:6} {cells}")
assert ends["frozen"][-1].isclose(S[2], atol=1e-4)
assert ends["ema"][-1] > 0.9 < ends["live"][-1]
loss, first = ends["live"][:2]
assert loss < 0.1 < floor < first
# --8<-- [end:collapse]

# --8<-- [start:held]
import torch
from torch import nn
from torch.nn.functional import one_hot

number = torch.arange(256)[:, None]
x = (number >> torch.arange(8)) % 2  # 256 questions
x = x.float()
rule = (x[:, :3].sum(1) > 1).long()
torch.manual_seed(0)
chance = torch.randint(2, (256,))  # of no rule
order = torch.randperm(256)
seen, held = order[:96], order[96:]

def distil(answers):
    torch.manual_seed(1)
    into, out = nn.Linear(8, 32), nn.Linear(32, 2)
    net = nn.Sequential(into, nn.Tanh(), out)
    with torch.no_grad():  # the same, with a hint
        told = net(x) + 3 * one_hot(answers, 2)
        T = told.log_softmax(1)
    adam = torch.optim.Adam(net.parameters(), 0.02)
    rows = []
    for step in range(201):
        S = net(x).log_softmax(1)
        kl = (S.exp() * (S - T)).sum(1)
        right = S.exp()[held, answers[held]]
        if step in (0, 200):
            parts = kl[seen], kl[held], right
            rows += [part.mean() for part in parts]
        adam.zero_grad()
        kl[seen].mean().backward()
        adam.step()
    return [row.item() for row in rows]

print("              trained on  held out  right")
found = {}
tasks = {"rule": rule, "none": chance}
for name, answers in tasks.items():
    found[name] = distil(answers)
    for when, row in ("before", 0), ("after", 3):
        a, b, right = found[name][row : row + 3]
        print(
            f"{name:5} {when:7}"
            f" {a:10.2f} {b:9.2f} {right:6.2f}"
        )
for name in found:
    assert found[name][3] < 0.1 * found[name][0]
assert found["rule"][4] < 0.3 * found["rule"][1]
assert found["none"][4] > found["none"][1]
assert found["rule"][5] > 0.8
assert abs(found["none"][5] - 0.5) < 0.1
# --8<-- [end:held]

# --8<-- [start:advantage]
import torch

slots = torch.arange(5)
steps = torch.arange(6)  # of work, then it stops
work = steps[:, None] > slots
stop = steps[:, None] == slots
score = steps / 5  # more work, more often right

def tokens(x):  # of each response, its own
    return work * x[:, 0] + stop * x[:, 1]

ref = torch.tensor([2.0, 0.0]).repeat(5, 1)
ref = ref.log_softmax(1)  # mostly works on
T = torch.zeros(5, 2).log_softmax(1)  # knows: stops

def train(task, weight):
    z = ref.clone()
    for _ in range(200):
        z.requires_grad_()
        S = z.log_softmax(1)
        own = tokens(S)
        chance = own.sum(1).exp().detach()
        A = task * (score - chance @ score)[:, None]
        A = A + weight * tokens(T - S).detach()
        goal = chance @ (A * own).sum(1)
        (g,) = torch.autograd.grad(goal, z)
        z = (z + 0.2 * g).detach()
    return z.log_softmax(1)

def measured(S):
    chance = tokens(S).sum(1).exp()
    reach = chance @ (work | stop).float()
    length = reach.sum()

    def mean(x):  # over the tokens it writes
        return (reach * (S.exp() * x).sum(1)).sum()

    parts = -S, S - ref, S - T
    means = [mean(x) / length for x in parts]
    row = length, chance @ score, *means
    return [number.item() for number in row]

heads = "tokens right entropy start teacher"
print(" " * 11, *(f"{x:>7}" for x in heads.split()))
kept = {
    "before": ref,
    "task alone": train(1, 0),
    "+ 0.1 T - S": train(1, 0.1),
    "+ 1.0 T - S": train(1, 1.0),
    "- 1.0 T - S": train(1, -1.0),
}
table = {}
for name, S in kept.items():
    table[name] = row = measured(S)
    print(f"{name:11}", *(f"{x:7.2f}" for x in row))
was, now = table["before"], table["+ 1.0 T - S"]
assert now[0] < was[0] and now[1] < was[1]
assert now[2] > was[2] and now[3] > was[3]
assert now[4] < 0.2 * was[4]
assert table["- 1.0 T - S"][4] > was[4]
assert table["+ 0.1 T - S"][1] > was[1]
# --8<-- [end:advantage]

# --8<-- [start:constant]
from torch.autograd import grad

z = torch.tensor([1.0, 0.0, -1.0])
z.requires_grad_()
S = z.log_softmax(0)
T = torch.tensor([0.2, 0.3, 0.5]).log()
gap = (T - S).detach()
slopes = []
for beta in 0, 5:
    gate = (beta * gap).sigmoid()
    chance = S.exp().detach()
    loss = -chance @ (gate * S)
    (g,) = grad(loss, z, retain_graph=True)
    slopes.append(g.abs().max())
    print(f"gate_beta {beta}: {slopes[-1]:.2f}")
assert slopes[0] < 1e-6 < slopes[1]
# --8<-- [end:constant]

# --8<-- [start:range]
loss, after = found["none"][3:5]
before = found["none"][1]
print(f"loss {loss:.2f}, held out {after:.2f}")
assert after < before, "no KL fell where it counts"
# --8<-- [end:range]
