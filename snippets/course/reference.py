"""Why a reference: a score that errs in a hairline, and an anchor that stays."""

# --8<-- [start:scores]
import torch
from ppo_ref.examples import world

w = world()
true, proxy = w.scores, w.scores.clone()
proxy[13] = 2  # Let us think step by step
start = w.response_probs(w.edge_ref_log_probs)
print(f"true  {start @ true:.4f}")
print(f"proxy {start @ proxy:.4f}")
print(f"Let   {start[13]:.4f}")
# --8<-- [end:scores]

# --8<-- [start:train]
def answers(edge_log_probs):
    """Log-probs of whole answers."""
    return w.token_log_probs(edge_log_probs).sum(1)

def train(beta, updates, fixed=True):
    z = w.edge_ref_log_probs.clone()  # 44 logits
    ref, path = answers(z), []
    for _ in range(updates + 1):
        z.requires_grad_()
        log_p = answers(w.log_softmax(z))
        p = log_p.exp()
        path.append(p.detach())
        if not fixed:  # exercise 3
            ref = log_p.detach()
        kl = p @ (log_p - ref)
        goal = p @ proxy - beta * kl
        (g,) = torch.autograd.grad(goal, z)
        z = (z + g).detach()
    return torch.stack(path)

strength = 0.5  # beta of this example
without = train(0, 300)
kept = train(strength, 1500)
# --8<-- [end:train]

# --8<-- [start:table]
heads = "  proxy  true    Let"
print(" " * 6, " without KL           with KL")
print("update" + heads + heads)
for n in 0, 50, 100, 200, 250, 300:
    line = f"{n:6}"
    for p in without[n], kept[n]:
        line += f"{p @ proxy:7.3f} {p @ true:5.3f}"
        line += f" {p[13]:6.4f}"
    print(line)
best = (without @ true).argmax().item()
print("true is best at update", best)
half = (without @ true < 0.5).nonzero()[0].item()
print("and below one half at ", half)
assert proxy @ without[300] > proxy @ without[best]
# --8<-- [end:table]

# --8<-- [start:rest]
weight = start * (proxy / strength).exp()
rest = weight / weight.sum()
odd = kept[-1, 13]
groups = {
    "right": true == 1,
    "wrong": proxy == 0,
    "Let": proxy == 2,
}
print(" " * 5, "start weight share walked")
for name, rows in groups.items():
    columns = start, weight, rest, kept[-1]
    s = [x[rows].sum() for x in columns]
    print(f"{name:5}", *(f"{x:6.3f}" for x in s))
assert kept[-1].allclose(rest, atol=0.001)
# --8<-- [end:rest]

# --8<-- [start:enough]
from ppo_ref.examples import shared_batch

small = shared_batch().kl_coef  # of the next step
right = start[groups["right"]].sum()
lead = (right / start[13]).log()
print(f"ahead by {lead:.2f}, so {1 / lead:.2f}")
print("beta right   Let")
ends = {}
for beta in 0.5, 0.2, 0.19, 0.1:
    share = (start.log() + proxy / beta).softmax(0)
    ends[beta] = share[true == 1].sum(), share[13]
    cells = (f"{x:5.3f}" for x in ends[beta])
    print(f"{beta:4.2f}", *cells)
assert ends[0.2][0] > ends[0.2][1]
assert ends[0.19][0] < ends[0.19][1]
# --8<-- [end:enough]

# --8<-- [start:quarter]
low = 0.25
weight_4 = start * (proxy / low).exp()
sums = [weight_4[r].sum() for r in groups.values()]
print(*(f"{x:.2f}" for x in sums))
quarter = sums[2] / sum(sums)
print(f"{quarter:.2f}")
# --8<-- [end:quarter]

# --8<-- [start:zero]
for p in kept[:4]:
    kl = p @ (p.log() - start.log())
    print(f"{kl:z.4f}")
# --8<-- [end:zero]

# --8<-- [start:moved]
moved = train(strength, 300, fixed=False)
names = "fixed", "moved", "no KL"
paths = kept, moved, without
for name, path in zip(names, paths):
    p = path[300]
    print(f"{name} {p @ proxy:.2f} {p @ true:.2f}")
assert moved.allclose(without)
# --8<-- [end:moved]
