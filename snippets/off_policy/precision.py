"""16 bits in two ways, and the experts that a rounding flips."""

# --8<-- [start:verdict]
import torch
torch.manual_seed(0)
p = (z := 3 * torch.randn(500, 32000)).softmax(1)
for kind in torch.bfloat16, torch.float16:
    q = z.to(kind).float().softmax(1)  # rounded
    off = (p - q).abs().sum(1).mean()  # |ratio - 1|
    print(f"{str(kind)[6:]:8} {off:.4f}")
assert off < 0.002  # float16
# --8<-- [end:verdict]

# --8<-- [start:formats]
import torch

device = "cpu"  # or "cuda"
kinds = torch.bfloat16, torch.float16
small = torch.tensor(1e-8).to(device)  # a gradient
large = torch.tensor(7e4).to(device)
print("          step at 1     1e-8      7e4")
steps = {}
for kind in kinds:
    steps[kind] = torch.finfo(kind).eps
    held = small.to(kind), large.to(kind)
    row = steps[kind], *held
    cells = " ".join(f"{x:8.2g}" for x in row)
    print(f"{str(kind)[6:]:9}  {cells}")
    scaled = (small * 2**16).to(kind)
    assert scaled > 0  # with loss scaling
finer = steps[kinds[0]] / steps[kinds[1]]
assert finer == 8 and torch.isinf(large.half())
# --8<-- [end:formats]

# --8<-- [start:tokens]
torch.manual_seed(0)
z = 3 * torch.randn(1000, 32000)
ids = z.softmax(1).multinomial(1).to(device)
z = z.to(device)
trainer = z.log_softmax(1).gather(1, ids)
print("            mean  outside  spread")
outside, bound = {}, 0.01
for kind in kinds:
    rounded = z.to(kind).float().log_softmax(1)
    log_ratio = trainer - rounded.gather(1, ids)
    ratio = log_ratio.exp()
    far = ((ratio - 1).abs() > bound).float().mean()
    outside[kind] = far
    spread = log_ratio.std() * len(ids) ** 0.5
    name = str(kind)[6:]
    print(
        f"{name:8} {ratio.mean():7.4f}"
        f" {far:8.2f} {spread:7.2f}"
    )
# --8<-- [end:tokens]

# --8<-- [start:safe]
share = outside[torch.bfloat16]
print(f"outside {share:.2f}")
assert share == 0, "the mean agrees, tokens do not"
# --8<-- [end:safe]

# --8<-- [start:routes]
torch.manual_seed(0)
layers, experts, chosen = 48, 128, 8
router = torch.randn(1000, layers, experts)
router = router.to(device)


def picked(logits):
    order = (-logits).argsort(stable=True)
    return order[..., :chosen].sort().values


exact, flips = picked(router), {}
print(f"{'':8} a layer  any layer")
for kind in kinds:
    moved = picked(router.to(kind).float()) != exact
    moved = moved.any(2)  # tokens, layers
    flips[kind] = each = moved.float().mean()
    some = moved.any(1).float().mean()
    name = str(kind)[6:]
    print(f"{name:8} {each:7.3f} {some:10.3f}")
    assert some > 10 * each
told, tokens = 0.10, 0.94  # measured, as published
alone = 1 - (1 - told) ** layers  # if independent
both = f"{told:.0%} of routers, {alone:.1%} of"
print(both, "tokens")
assert alone > tokens
# --8<-- [end:routes]

# --8<-- [start:replay]
logits = torch.tensor([1.0, 0.9, 0.89, -1.0])
said = torch.tensor([1.0, -1.0, 2.0, 0.0])
said = said.to(device)  # by each expert
logits = logits.to(device).requires_grad_()
live = logits.topk(2).indices  # the trainer's: 0, 1
recorded = torch.tensor([0, 2]).to(device)
again = logits[recorded].softmax(0)  # weights

found = {}
for name, ids, weights in (
    ("live", live, logits[live].softmax(0)),
    ("replayed", recorded, again),
    ("weights too", recorded, again.detach()),
):
    out = weights @ said[ids]
    g = None
    if out.requires_grad:
        (g,) = torch.autograd.grad(out, logits)
    found[name] = g
    learns = g is not None
    print(f"{name:11} {out:6.3f} learns: {learns}")
known = [n for n in found if found[n] is not None]
assert known == ["live", "replayed"]
assert found["replayed"][2] != 0  # its expert
# --8<-- [end:replay]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("smollm2_ppo")
apart = max(run.column("rollout_kl"))
print(f"float32, k3 at most {apart:.0e}")
assert 1e-11 < apart < 1e-9
# --8<-- [end:real]
