"""What clip-higher does to entropy in a toy, and what does nothing."""

# --8<-- [start:comment]
import torch

logits = torch.tensor([0.0, 1.0, 2.0])
logits.requires_grad_()
log_probs = logits.log_softmax(0)
probs = log_probs.exp()

# A sample says how often each token comes up,
# but autograd takes that for a constant.
often = probs.detach()
values = {
    "sampled": (often * -log_probs).sum(),
    "whole": (probs * -log_probs).sum(),
}
sizes = {}
for name, value in values.items():
    (gradient,) = torch.autograd.grad(
        value, logits, retain_graph=True
    )
    sizes[name] = gradient.norm()
    print(f"{name:7} value {value:.2f}", end="  ")
    print(f"gradient {sizes[name]:.2f}")

assert values["sampled"] == values["whole"]
assert sizes["sampled"] < 1e-6 < sizes["whole"]
# --8<-- [end:comment]

# --8<-- [start:higher]
import torch

rare, common = torch.eye(20).double()[:2]
target = 0.95  # the mean score to reach

def run(good, high, steps):
    z = -3 * rare  # logits of twenty answers
    for update in range(1000):
        if update % steps == 0:  # a new batch
            old = z.log_softmax(0)
            share = old.exp()
            A = good - share @ good
        z.requires_grad_()
        r = (z.log_softmax(0) - old).exp()
        near = r.clamp(0.8, 1 + high)
        J = share @ torch.min(r * A, near * A)
        (g,) = torch.autograd.grad(J, z)
        z = (z + 2 * g).detach()
        p = z.softmax(0)
        if p @ good > target:
            entropy = -(p @ p.log())
            return update + 1, entropy, p[0]

both = rare + common
highs = 0.2, 0.28, 1.0  # the usual, DAPO's, wide
print("good per batch bound updates entropy")
found = {}
for name, good, steps in (
    ("one", rare, 1),
    ("one", rare, 16),
    ("two", both, 16),
):
    for high in highs:
        n, entropy, left = run(good, high, steps)
        found[name, steps, high] = n, entropy, left
        row = f"{name:4} {steps:9} {1 + high:5.2f}"
        print(row, f"{n:7} {entropy:7.2f}")
assert found["one", 1, 0.2] == found["one", 1, 1.0]
for name in "one", "two":
    usual, dapo, wide = (
        found[name, 16, h] for h in highs
    )
    assert wide[0] < dapo[0] < usual[0]  # sooner,
    assert abs(wide[1] - usual[1]) < 0.03  # no more
# --8<-- [end:higher]

# --8<-- [start:cov]
import torch

old = torch.tensor([-0.1, -1.0, -3.0])
A = torch.tensor([1.0, -1.0, -1.0])
x = old.clone().requires_grad_()
d = x - old  # one update: all are 0
ppo = A * d.exp()
cov = (A - A.mean()) * (old - old.mean())
pick = torch.arange(3) == cov.argmax()
goals = {
    "PPO": ppo,
    "Clip-Cov": ppo * ~pick,
    "KL-Cov": ppo - d.abs() * pick,
}
for name, goal in goals.items():
    total = goal.sum()
    (g,) = torch.autograd.grad(total, x, None, True)
    print(f"{name:8}", *(f"{v:z5.2f}" for v in g))
# --8<-- [end:cov]

# --8<-- [start:rate]
import torch

rng = torch.Generator().manual_seed(0)
kept = []
for rate, batches in (0.3, 2000), (3.0, 200):
    z = torch.zeros(20)  # all equally likely
    for _ in range(batches):
        p = z.softmax(0)
        a = p.multinomial(8, True, generator=rng)
        s = torch.rand(8, generator=rng).round()
        g = torch.eye(20)[a] - p  # chance alone
        z = z + rate * ((s - s.mean()) @ g) / 8
    p = z.softmax(0)
    kept.append(-(p * p.log()).sum())
    print(f"rate {rate}: entropy {kept[-1]:.2f}")
slow, fast = kept
assert fast > slow, "larger steps keep entropy"
# --8<-- [end:rate]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("smollm2_ppo")
falls = run.column("entropy")
right = run.column("solved")
for i in 0, 4, 9, 29, 49:
    print(f"{i + 1:2}: entropy {falls[i]:.2f}",
          f"right {right[i]:.2f}")
assert falls[9] < falls[0] / 5
assert right[29] / right[9] > 1.2
other = stored_run("smollm2_grpo_seed_2")
fell = other.column("entropy")
(at_first,) = [x["held_out"] for x in other.records
               if x["record"] == "before PPO"]
at_last = other.column("held_out")[-1]
learned = at_last - at_first
print("GRPO: entropy",
      f"{fell[0]:.2f} {fell[-1]:.2f}",
      f"held out {at_first:.2f} {at_last:.2f}")
assert fell[-1] < fell[0] / 5 and learned < 0
# --8<-- [end:real]
