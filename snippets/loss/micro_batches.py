"""A mini-batch in parts: what a token weighs, by what each part is divided by."""

# --8<-- [start:micro]
import torch
from ppo_ref.aggregation import token_mean

n = torch.tensor([2, 8, 2, 2])  # four answers
mask = torch.arange(8) < n[:, None]
x = torch.zeros(mask.shape).requires_grad_()
halves = (slice(0, 2), slice(2, 4))  # micro-batches
own = [token_mean(x[h], mask[h]) for h in halves]
whole = token_mean(x, mask)
print("divided by          weight of a token")
for name, loss in (
    ("all tokens, once", whole),
    ("own tokens, averaged", sum(own) / 2),
    ("all tokens, twice", whole / 2),
):
    (g,) = torch.autograd.grad(
        loss, x, retain_graph=True
    )
    cells = (f"{w:.3f}" for w in g[:, 0])
    print(f"{name:20}", *cells)
    even = bool((g[mask] == g[0, 0]).all())
    assert even == ("all" in name)
    if not even:
        times = g[2, 0] / g[0, 0]
# --8<-- [end:micro]
