"""The same 16 bits spent in two ways."""

# --8<-- [start:verdict]
import torch

torch.manual_seed(0)
logits = 3 * torch.randn(500, 32000)
trainer = logits.softmax(1)  # not rounded

off = {}
for name in "bfloat16", "float16":
    kind = getattr(torch, name)
    rounded = logits.to(kind).float()
    engine = rounded.softmax(1)
    distance = (trainer / engine - 1).abs()
    # each token as often as the engine writes it
    means = (engine * distance).sum(1)
    off[name] = means.mean()
    print(f"{name:8} off by {off[name]:.4f}")

# three more bits: 8 times finer
factor = off["bfloat16"] / off["float16"]
assert 7 < factor < 9
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
trainer = z.log_softmax(1)
print("            mean  outside  spread")
outside, spreads, bound = {}, {}, 0.01
little = 0.02  # KL of a whole answer
for kind in kinds:
    engine = z.to(kind).float().log_softmax(1)
    ids = engine.exp().multinomial(1)  # it samples
    log_ratio = (trainer - engine).gather(1, ids)
    log_ratio = log_ratio.to(device)
    ratio = log_ratio.exp()
    far = ((ratio - 1).abs() > bound).float().mean()
    outside[kind] = far
    spread = log_ratio.std() * len(ids) ** 0.5
    spreads[kind] = spread
    name = str(kind)[6:]
    print(
        f"{name:8} {ratio.mean():7.4f}"
        f" {far:8.2f} {spread:7.2f}"
    )
# --8<-- [end:tokens]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("smollm2_ppo")
apart = max(run.column("rollout_kl"))
print(f"float32, k3 at most {apart:.0e}")
assert 1e-11 < apart < 1e-9
# --8<-- [end:real]

# --8<-- [start:eight]
import torch

torch.manual_seed(0)
bound = 0.01
states = torch.randn(32, 512).double()
weights = torch.randn(512, 2048).double()
weights *= 3 / 512**0.5

eight = torch.float8_e4m3fn

def scaled(x, largest):  # one scale a tensor
    return x.abs().max() / largest

def fp8(x):
    scale = scaled(x, 448)  # the largest of fp8
    return (x / scale).to(eight), scale

def int8(x):
    scale = scaled(x, 127)
    return (x / scale).round().to(torch.int8), scale

engines = {
    "fp16": lambda x: (x.half(), 1),
    "bf16": lambda x: (x.bfloat16(), 1),
    "int8": int8,
    "fp8": fp8,
}

def layer(rounding):
    sent = []
    for x in states, weights:
        held, scale = rounding(x)
        sent.append(held.double() * scale)
    return (sent[0] @ sent[1]).log_softmax(1)

exact = (states @ weights).log_softmax(1)
print("     log-prob       kl  outside")
far, kls, beyond = {}, {}, {}
for name, rounding in engines.items():
    engine = layer(rounding)
    gap = engine - exact
    chance = engine.exp()
    far[name] = (chance * gap.abs()).sum(1).mean()
    kls[name] = (chance * gap).sum(1).mean()
    off = (gap.exp() - 1).abs() > bound
    beyond[name] = (chance * off).sum(1).mean()
    print(
        f"{name:5} {far[name]:7.3f}"
        f" {kls[name]:8.0e} {beyond[name]:8.2f}"
    )
worse = {n: kls[n] / kls["bf16"] for n in kls}
coarser = torch.finfo(eight).eps
coarser /= torch.finfo(torch.bfloat16).eps
assert coarser == 16
assert 15 < worse["int8"] < 40
assert 150 < worse["fp8"] < 350
# --8<-- [end:eight]

# --8<-- [start:safe]
share = beyond["bf16"]
print(f"outside {share:.2f}")
assert share == 0, "the mean agrees, tokens do not"
# --8<-- [end:safe]
