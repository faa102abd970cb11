"""One actor, a stored row, a frozen copy: what moves, and what each is for."""

# --8<-- [start:step]
import copy
import torch

device = "cpu"  # or "cuda"
s = torch.eye(4, dtype=torch.float64).to(device)
a = torch.tensor([0, 1, 2, 0]).to(device)  # sampled
A = s.new_tensor([1.0, 1.0, -1.0, 0.5])
actor = torch.nn.Linear(4, 3).to(s)
for p in actor.parameters():
    torch.nn.init.zeros_(p)
reference = copy.deepcopy(actor)
reference.requires_grad_(False)  # never trained

def row(model):  # log-probs of the four tokens
    return model(s).log_softmax(1)[range(4), a]

def step(loss):  # of one mini-batch
    actor.zero_grad()
    loss.backward()
    for p in actor.parameters():
        p.data -= p.grad
# --8<-- [end:step]

# --8<-- [start:three]
from ppo_ref.losses import surrogate_objective

first = row(reference)
every = torch.tensor([[True] * 4]).to(device)
print("iteration step  actor    old    ref")
for iteration in 1, 2:
    old = row(actor).detach()  # all that is kept
    for n in 0, 1, 2:
        three = row(actor), old, row(reference)
        cells = (f"{x[0]:6.3f}" for x in three)
        print(f"{iteration:9} {n:4}", *cells)
        objective = surrogate_objective(
            log_probs=row(actor)[None],
            old_log_probs=old[None],
            advantages=A[None],
            response_mask=every,
        )
        step(-objective)
    assert not row(actor).isclose(old).any()
assert row(reference).equal(first)
# --8<-- [end:three]

# --8<-- [start:anchor]
score = s.new_tensor([1.0, 0.0, 0.0])  # of 3 tokens
start = torch.zeros_like(score).log_softmax(0)
beta = 0.5  # kl_coef

def train(merged, steps):
    logits = torch.zeros_like(score)
    for _ in range(steps):
        old = logits.log_softmax(0)
        kld = old - (old if merged else start)
        r = score - beta * kld
        p = old.exp()
        logits = logits + p * (r - p @ r)
    end = logits.log_softmax(0)
    return end[0].exp(), end.exp() @ (end - start)

print("       frozen        merged")
print("steps      p     KL      p     KL")
for steps in 0, 10, 100, 1000:
    pairs = train(False, steps), train(True, steps)
    cells = [f"{x:6.3f}" for x in sum(pairs, ())]
    print(f"{steps:5}", *cells)
best = (start + score / beta).softmax(0)
assert pairs[0][0].isclose(best[0])
# --8<-- [end:anchor]

# --8<-- [start:fixed]
before = row(actor).detach()
step(-((row(actor) - before).exp() * A).mean())
moved = (row(actor) - before).tolist()
print("moved", *(f"{x:.3f}" for x in moved))
assert not any(moved), "the actor is what trains"
# --8<-- [end:fixed]

# --8<-- [start:moment]
actor.load_state_dict(reference.state_dict())
old = row(actor).detach()
for n in 0, 1:
    now = row(actor)
    kept = (now - old).exp()
    again = (now - now.detach()).exp()
    print(f"step {n}: {kept[0]:.3f} {again[0]:.3f}")
    step(-(kept * A).mean())
assert again.allclose(kept), "old outlives rollout"
# --8<-- [end:moment]

# --8<-- [start:needed]
from ppo_ref.kl import kl_k2

weights = copy.deepcopy(actor.state_dict())

def trained(kl_coef, ref):
    actor.load_state_dict(weights)
    now = row(actor)
    gain = ((now - now.detach()).exp() * A).mean()
    kl = kl_k2(
        log_probs=now[None], ref_log_probs=ref[None]
    ).mean()
    step(kl_coef * kl - gain)
    return row(actor)

refs = row(reference), row(reference) - 1
for kl_coef in 0.1, 0.0:
    one, other = (trained(kl_coef, x) for x in refs)
    print(kl_coef, "same step", one.equal(other))
assert not one.equal(other), "no KL, no reference"
# --8<-- [end:needed]

# --8<-- [start:collapse]
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)  # a row an answer
a, ref = tree.responses, tree.actor_probs.log()
G = tree.token_level_rewards.sum(1)
A = G[:, None] - tree.values  # of the reference
at = (1 + a[:, :1]) * a.new_tensor([0, 1])  # state
print("      score  ratio    ESS")
print(f"ref  {G.mean():6.3f}")
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
    cells = score, ratio.max(), ess
    print(name, *(f"{x:6.3f}" for x in cells))
assert score < 0.25, "no collapse"
# --8<-- [end:collapse]

# --8<-- [start:adapter]
import torch

device = "cpu"  # or "cuda"
base = torch.eye(3, dtype=torch.float64).to(device)
down = base[:1].clone()  # LoRA of rank 1
up = torch.zeros_like(base[:, :1])

def log_probs(adapter):
    weight = base + adapter * up @ down
    return weight.log_softmax(1)

reference = log_probs(adapter=0)
assert log_probs(adapter=1).equal(reference)
up[0] += 1.0  # trains the adapter, never the base
actor = log_probs(adapter=1)
for x in actor, log_probs(adapter=0):
    print(*(f"{p:.3f}" for p in x[0]))
assert not actor.equal(reference)
assert log_probs(adapter=0).equal(reference)
# --8<-- [end:adapter]
