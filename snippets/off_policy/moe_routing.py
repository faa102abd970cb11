"""The experts that a rounding flips, and what of the routes must be replayed."""

# --8<-- [start:routes]
import torch

device = "cpu"  # or "cuda"
kinds = torch.bfloat16, torch.float16
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
told, tokens = 0.10, 0.94  # published, a real model
alone = 1 - (1 - told) ** layers  # if independent
print(f"{told:<8.0%} {told:7.3f} {alone:10.3f}")
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
