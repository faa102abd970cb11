"""KL to a reference: a score that errs, the frozen anchor, kld per token."""

# --8<-- [start:scores]
import torch

# answers: the sum, a shrug, "2 2 2 2 2 ..."
start = torch.tensor([0.50, 0.49, 0.01]).double()
true = torch.tensor([1.0, 0.0, 0.0]).double()
proxy = torch.tensor([1.0, 0.0, 2.0]).double()

print(f"true  {start @ true:.2f}")
print(f"proxy {start @ proxy:.2f}")
# --8<-- [end:scores]

# --8<-- [start:train]
def train(beta, updates=300, fixed=True):
    z, ref, path = start.log(), start, [start]
    for _ in range(updates):
        z.requires_grad_()
        p = z.softmax(0)
        kl = p @ (p / ref).log()
        goal = p @ proxy - beta * kl
        (g,) = torch.autograd.grad(goal, z)
        z = (z + 2 * g).detach()
        path.append(z.softmax(0))
        if not fixed:  # exercise 3
            ref = path[-1]
    return torch.stack(path)

strength = 0.5  # beta of this example
without, kept = train(0), train(strength)
# --8<-- [end:train]

# --8<-- [start:table]
heads = "  proxy  true   odd"
print(" " * 6, " without KL          with KL")
print("update" + heads + heads)
for n in 0, 20, 100, 200, 220, 300:
    line = f"{n:6}"
    for p in without[n], kept[n]:
        line += f" {p @ proxy:6.2f} {p @ true:5.2f}"
        line += f" {p[2]:5.3f}"  # the strange one
    print(line)
# --8<-- [end:table]

# --8<-- [start:rest]
weight = start * (proxy / strength).exp()
rest = weight / weight.sum()
print("weight", *(f"{w:.2f}" for w in weight))
print("share ", *(f"{x:.2f}" for x in rest))
print("walked", *(f"{x:.2f}" for x in kept[-1]))
assert kept[-1].allclose(rest, atol=0.01)
# --8<-- [end:rest]

# --8<-- [start:kld]
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask = batch.response_mask
old, ref = batch.old_log_probs, batch.ref_log_probs
kld = old - ref
for row, n in enumerate(mask.sum(1)):
    cells = (f"{x:5.2f}" for x in kld[row, :n])
    print(f"answer {row}", *cells)
print(f"mean {kld[mask].mean():.3f}")
# --8<-- [end:kld]

# --8<-- [start:mean]
from ppo_ref.examples import world

w = world()  # all answers of this example
first = w.parents == 0  # tokens after the prompt
actor = w.edge_log_probs[first].exp()
reference = w.edge_ref_log_probs[first].exp()
logs = (actor / reference).log()
kl = actor @ logs
print("kld  ", *(f"{x:6.3f}" for x in logs))
print("prob ", *(f"{x:6.3f}" for x in actor))
print(f"mean {kl:.4f}")
assert logs[1] < 0 < kl
# --8<-- [end:mean]

# --8<-- [start:rewards]
from ppo_ref import rewards

beta, scores = batch.kl_coef, batch.scores
r = -beta * kld
r[[0, 1], mask.sum(1) - 1] += scores
judge = rewards.token_level_rewards(
    token_level_scores=rewards.token_level_scores(
        scores, mask
    ),
    kl=kld,
    response_mask=mask,
    kl_coef=beta,
)
assert r.allclose(judge)
for row, n in enumerate(mask.sum(1)):
    print(*(f"{x:7.4f}" for x in r[row, :n]))
# --8<-- [end:rewards]

# --8<-- [start:sums]
total = scores - beta * kld.sum(1)
assert r.sum(1).allclose(total)
print(*(f"{x:.4f}" for x in total))
# --8<-- [end:sums]

# --8<-- [start:zero]
path = train(strength, updates=2)
for p in path:
    print(f"{p @ (p / start).log():.4f}")
# --8<-- [end:zero]

# --8<-- [start:moved]
moved = train(strength, fixed=False)
for name, path in ("fixed", kept), ("moved", moved):
    p = path[-1]
    two = f"{p @ proxy:.2f} {p @ true:.2f}"
    print(f"{name:5} {two}")
# --8<-- [end:moved]
