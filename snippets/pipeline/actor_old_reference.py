"""One actor, a stored row, a frozen copy: what moves, and what each is for."""

# --8<-- [start:three]
import torch
from ppo_ref.train.networks import frozen

device = "cpu"  # or "cuda"
s = torch.eye(4, dtype=torch.float64).to(device)
a = torch.tensor([0, 1, 2, 0]).to(device)  # sampled
A = s.new_tensor([1.0, 1.0, -1.0, 0.5])
actor = torch.nn.Linear(4, 3).to(s)
for p in actor.parameters():
    torch.nn.init.zeros_(p)
reference = frozen(actor)  # a copy

def row(model):  # log-probs of the four tokens
    return model(s).log_softmax(1)[range(4), a]

def step(old):  # of one mini-batch
    ratio = (row(actor) - old).exp()
    actor.zero_grad()
    (-(ratio * A).mean()).backward()
    for p in actor.parameters():
        p.data -= p.grad
    return ratio.detach()

first = row(reference)
print("iteration step  actor    old    ref")
for iteration in 1, 2:
    old = row(actor).detach()  # all that is kept
    for n in 0, 1, 2:
        three = row(actor), old, row(reference)
        cells = (f"{x[0]:6.3f}" for x in three)
        print(f"{iteration:9} {n:4}", *cells)
        step(old)
    assert not row(actor).isclose(old).any()
assert row(reference).equal(first)
# --8<-- [end:three]

# --8<-- [start:anchor]
# answers: the sum, a shrug, "2 2 2 2 2 ..."
start = s.new_tensor([0.50, 0.49, 0.01])
true = s.new_tensor([1.0, 0.0, 0.0])
proxy = s.new_tensor([1.0, 0.0, 2.0])
beta = 0.5  # kl_coef

def train(updates, merged):
    logits = start.log()
    for _ in range(updates):
        now = logits.log_softmax(0)
        kld = now - (now if merged else start.log())
        r, p = proxy - beta * kld, now.exp()
        logits = logits + 2 * p * (r - p @ r)
    return logits.softmax(0)

print("            merged        frozen")
print("updates  proxy  true  proxy  true")
for updates in 0, 100, 200, 220, 300:
    merged = train(updates, merged=True)
    held = train(updates, merged=False)
    both = merged @ proxy, merged @ true
    both += held @ proxy, held @ true
    cells = (f"{x:6.2f}" for x in both)
    print(f"{updates:7}", *cells)
best = (start.log() + proxy / beta).softmax(0)
assert held.allclose(best, atol=0.01)
assert merged[2] > 0.99  # the answer scored wrongly
# --8<-- [end:anchor]

# --8<-- [start:fixed]
before = row(actor).detach()
step(before)
moved = (row(actor) - before).tolist()
print("moved", *(f"{x:.3f}" for x in moved))
assert not any(moved), "the actor is what trains"
# --8<-- [end:fixed]

# --8<-- [start:moment]
for n in 0, 1, 2:
    ratio = step(row(actor).detach())  # old anew
    print(f"step {n}: ratio {ratio[0]:.3f}")
assert ratio[0] != 1, "old must outlive the rollout"
# --8<-- [end:moment]

# --8<-- [start:collapse]
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)  # a row an answer
a, ref = tree.responses, tree.actor_probs.log()
G = tree.token_level_rewards.sum(1)
A = G[:, None] - tree.values  # of the reference
# which row of logits: 0, then 1 + the first token
at = (1 + a[:, :1]) * a.new_tensor([0, 1])
print(f"score of the reference {G.mean():.3f}")
for name, high in ("clip", 1.2), ("none", 9):
    logits = ref.new_zeros(3, 2, requires_grad=True)
    for _ in range(101):
        log_p = logits.log_softmax(1)[at, a]
        ratio = (log_p - ref).exp()
        near = ratio.clip(2 - high, high)
        gain = (ratio * A).minimum(near * A).mean()
        (move,) = torch.autograd.grad(gain, logits)
        logits.data += 2 * move
    score = log_p.exp().prod(1) @ G
    ess = 1 / ratio.prod(1).square().mean()
    print(f"{name}: {score:.3f}, ESS {ess:.3f}")
assert score < 0.25, "no collapse"
# --8<-- [end:collapse]

# --8<-- [start:adapter]
import torch

device = "cpu"  # or "cuda"
base = torch.eye(3, dtype=torch.float64).to(device)
down = base[:1].clone()  # LoRA of rank 1
up = torch.zeros_like(base[:, :1])

def row(adapter):
    weight = base + adapter * up @ down
    return weight.log_softmax(1)

reference = row(adapter=0)
assert row(adapter=1).equal(reference)
up[0] += 1.0  # trains the adapter, never the base
actor = row(adapter=1)
for x in actor, row(adapter=0):
    print(*(f"{p:.3f}" for p in x[0]))
assert not actor.equal(reference)
assert row(adapter=0).equal(reference)
# --8<-- [end:adapter]

# --8<-- [start:sft]
import torch

base = torch.tensor([1.0, 0, 0])  # logits
sft = torch.tensor([-0.5, 0.5, 0])  # adapter
first = (base + sft).log_softmax(0)  # at step 0
for name, weights in (
    ("adapter off", base),
    ("merged, or a frozen copy", base + sft),
):
    ref = weights.log_softmax(0)
    kl = (first.exp() * (first - ref)).sum()
    print(f"{name:25} KL at step 0: {kl:.3f}")
assert kl == 0
# --8<-- [end:sft]
