"""A trust region by the ratio or by the divergence: how far each lets a token go."""

# --8<-- [start:comment]
import torch
p = torch.tensor([0.01, 0.10, 0.50, 0.80, 0.90])
by_ratio = 1.2 * p  # where PPO's clip stops a token
by_tv = p + 0.2  # where DPPO stops it
print(by_ratio, by_ratio - p, by_tv, sep="\n")
assert (by_tv >= by_ratio).all()
# --8<-- [end:comment]

# --8<-- [start:reach]
import torch

def kl(p, q):  # of "this token" and "another"
    other = (1 - p) * ((1 - p) / (1 - q)).log()
    return p * (p / q).log() + other

def reach(p, allowed):  # lowest and highest q
    q = torch.arange(1, 100_000).double() / 100_000
    q = q[allowed(p, q)]
    return q.min().item(), q.max().item()

eps, delta, kl_bound = 0.2, 0.2, 0.05
bounds = {
    "ratio": lambda p, q: (q / p - 1).abs() <= eps,
    "TV": lambda p, q: (q - p).abs() <= delta,
    "KL": lambda p, q: kl(p, q) <= kl_bound,
}
far = {}
print("start  ratio          TV             KL")
for p in 0.001, 0.01, 0.1, 0.5, 0.9:
    token, row = torch.tensor(p).double(), []
    for name, allowed in bounds.items():
        a, b = far[p, name] = reach(token, allowed)
        row.append(f"{a:.4f}-{b:.4f}")
    print(f"{p:5}", "  ".join(row))
assert far[0.9, "ratio"][1] > 0.9999  # no stop
assert far[0.01, "TV"][0] < 0.0001  # no stop
# --8<-- [end:reach]

# --8<-- [start:masks]
import torch
from ppo_ref.losses import policy_loss

def by_ratio(old, new, A, eps=0.2):
    low = new / old < 1 - eps
    high = new / old > 1 + eps
    return torch.where(A > 0, high, low)

def by_tv(old, new, A, delta=0.2):
    low = new - old < -delta
    high = new - old > delta
    return torch.where(A > 0, high, low)

def dppo_loss(old, new, A, out):
    weight = (new / old).detach()
    return -(weight * A * new.log() * ~out).mean()

tokens = torch.tensor([
    [0.01, 0.02, 1],  # before, now, advantage
    [0.01, 0.30, 1],
    [0.02, 0.01, -1],
    [0.50, 0.55, 1],
    [0.90, 0.99, 1],
    [0.90, 0.65, -1],
])
old, new, A = tokens.T
ratio = by_ratio(old, new, A)
tv = by_tv(old, new, A)
print("  old  new   A  stopped by")
for row, *out in zip(tokens.tolist(), ratio, tv):
    names = ["ratio"] * out[0] + ["TV"] * out[1]
    cells = "{:5.2f} {:4.2f}  {:+.0f} ".format(*row)
    print(cells, *names or ["none"])
# --8<-- [end:masks]

# --8<-- [start:judge]
x = new.log().requires_grad_()
policy_loss(
    log_probs=x[None],
    old_log_probs=old.log()[None],
    advantages=A[None],
    response_mask=x[None] < 1,
    clip_range=0.2,
).loss.backward()
assert (x.grad == 0).equal(ratio)  # PPO's clip
y = new.log().requires_grad_()
dppo_loss(old, y.exp(), A, tv).backward()
assert (y.grad == 0).equal(tv)
kept = ~ratio & ~tv  # there both are the same
assert y.grad[kept].allclose(x.grad[kept])
assert kept.any()
# --8<-- [end:judge]

# --8<-- [start:batches]
def batches(p, left_out):  # until it is 0.5
    z = torch.zeros(1000).double()  # a vocabulary
    z[0] = torch.tensor(999 * p / (1 - p)).log()
    A, moved = torch.ones(()), []
    while z.softmax(0)[0] < 0.5:
        old = z.softmax(0)  # samples a new batch
        new = old
        while not left_out(old[0], new[0], A):
            z[0] += 0.01  # one small update
            new = z.softmax(0)
        moved.append((new - old).abs().sum() / 2)
    return moved

print("start  bound     batches  moved by first")
needed = {}
for p in 0.001, 0.1:
    for left_out in by_ratio, by_tv:
        name = left_out.__name__[3:]
        moved = batches(p, left_out)
        needed[p, name] = n = len(moved)
        row = f"{n:11} {moved[0]:15.4f}"
        print(f"{p:5}  {name:5} {row}")
        if p == 0.001:
            lucky = (p + moved[0]) / p  # its ratio
assert needed[0.001, "ratio"] > needed[0.001, "tv"]
# --8<-- [end:batches]

# --8<-- [start:common]
p = torch.arange(1, 1000).double()[:, None] / 1000
rho = torch.arange(800, 1201).double() / 1000
q = p * rho  # all that PPO's clip lets pass
moved = (q - p).abs()[q < 1]
print(f"moved at most {moved.max():.3f}")
assert (moved > 0.2).any(), "TV stops none"
# --8<-- [end:common]

# --8<-- [start:inside]
import torch

old = torch.tensor([0.20, 0.40, 0.40])
new = torch.tensor([0.20, 0.05, 0.75])  # 0 sampled
seen = (new - old)[0].abs()
whole = (new - old).abs().sum() / 2
print(f"seen {seen:.2f}, whole {whole:.2f}")
assert whole <= 0.2, "the mask saw one token"
# --8<-- [end:inside]
