"""Who keeps a gradient once the ratio has left 1."""

# --8<-- [start:comment]
import torch
x = torch.tensor([[0.5, 1, 1.5]]).log().repeat(2, 1)
r = x.requires_grad_().exp()  # the advantage is +1
w = r.clamp(0.8, 1.2)
ppo, cispo = torch.min(r, w)[0], (w.detach() * x)[1]
(ppo + cispo).sum().backward()
print(x.grad)
assert (x.grad[1] > 0).all() and x.grad[0, 2] == 0
# --8<-- [end:comment]

# --8<-- [start:tokens]
import torch
from functools import partial
from ppo_ref.aggregation import token_sum
from ppo_ref.clip_variants import (
    cispo_loss,
    gmpo_loss,
    gspo_loss,
    sapo_loss,
)
from ppo_ref.losses import policy_loss

verl, trl = (0.8, 1.2), (0.0, 0.2)
wide = (0.0, 5.0)  # of the weight
higher, dual = (0.2, 0.28), 3.0
warm = (1.0, 1.05)  # SAPO's temperatures
cispo, ppo = cispo_loss, policy_loss
losses = {
    "PPO": ppo,
    "clip-higher": partial(ppo, clip_range=higher),
    "dual clip": partial(ppo, dual_clip=dual),
    "CISPO (verl)": partial(cispo, bounds=verl),
    "CISPO (TRL)": partial(cispo, bounds=trl),
    "CISPO 0 to 5": partial(cispo, bounds=wide),
    "SAPO": partial(sapo_loss, temperatures=warm),
}

def slope(loss, rho, a):
    x = rho.log().requires_grad_()
    found = loss(
        log_probs=x,
        old_log_probs=0 * rho,
        advantages=a + 0 * rho,
        response_mask=rho > 0,
        aggregate=token_sum,
    )
    return torch.autograd.grad(-found.loss, x)[0][0]

rho = torch.tensor([[0.5, 1, 1.25, 1.5, 5]])
for a in 1.0, -1.0:
    head = (f"{r:5.2f}" for r in rho[0])
    print(f"A={a:+.0f}     ratio", *head)
    for name, loss in losses.items():
        g = slope(loss, rho, a)
        cells = (f"{v:z5.2f}" for v in g)
        print(f"{name:14}", *cells)
        one = 0.2 if "TRL" in name else 1
        assert g[1].isclose(torch.tensor(one * a))
# --8<-- [end:tokens]

# --8<-- [start:outlier]
row = torch.ones(1, 8)
row[0, 0] = 2  # one of eight tokens has moved
gspo = partial(gspo_loss, clip_range=0.2)
narrow = (3e-4, 4e-4)  # of the paper
paper = partial(gspo_loss, clip_range=narrow)
nats = 0.4  # of the paper
gmpo = partial(gmpo_loss, clip_range=nats)
print("            token 0  others  trained")
for name, loss in {
    "PPO": ppo,
    "GSPO 0.2": gspo,
    "GSPO paper": paper,
    "GMPO": gmpo,
    "CISPO": losses["CISPO (verl)"],
    "SAPO": sapo_loss,
}.items():
    g = slope(loss, row, 1.0)
    cells = f"{g[0]:z7.2f} {g[1]:z7.2f}"
    trained = (g != 0).sum()
    print(f"{name:11} {cells} {trained:6} of 8")
# --8<-- [end:outlier]

# --8<-- [start:root]
import math

rng, sd = torch.Generator().manual_seed(0), 0.1
print("                         beyond 0.2")
print("tokens  sd of the ratio  alone  all up")
for T in 1, 100, 1000:
    shape = 2000, T
    noise = sd * torch.randn(shape, generator=rng)
    ratio = noise.mean(1).exp()  # as GSPO's
    cells = ""
    for up in 0.0, 0.2:  # of every token
        out = (ratio * math.exp(up) - 1).abs() > 0.2
        cells += f"{out.float().mean():7.3f}"
    print(f"{T:6} {ratio.std():16.4f}{cells}")
    assert ratio.std().isclose(
        torch.tensor(sd / T**0.5), rtol=0.1
    )
# --8<-- [end:root]

# --8<-- [start:mean]
from ppo_ref.aggregation import (
    sequence_mean_token_mean,
    token_mean,
)

mask = torch.arange(8) < torch.tensor([[2], [8]])
old = torch.zeros(2, 8).double()
A = torch.ones(2, 8).double()
print("                    2 tokens 8 tokens")
for mean in sequence_mean_token_mean, token_mean:
    x = old.clone().requires_grad_()
    gspo_loss(
        log_probs=x,
        old_log_probs=old,
        advantages=A,
        response_mask=mask,
        aggregate=mean,
    ).loss.backward()
    name = mean.__name__.replace("sequence", "seq")
    shares = -x.grad.sum(1)
    cells = (f"{share:8.2f}" for share in shares)
    print(f"{name.replace('_', '-'):18}", *cells)
# --8<-- [end:mean]

# --8<-- [start:band]
off = torch.tensor([[0.5, 1.5]])  # out of range
found = [slope(ppo, off, a) for a in (1.0, -1.0)]
for g in found:
    print(*(f"{v:z5.2f}" for v in g))
left = torch.stack(found).any()
assert not left, "out of range, no gradient"
# --8<-- [end:band]

# --8<-- [start:single]
for T in 8, 1000:
    row = torch.ones(1, T)
    row[0, 0] = 2
    trained = slope(paper, row, 1.0).count_nonzero()
    print(f"{trained} of {T}")
assert trained, "one token stops no others"
# --8<-- [end:single]

# --8<-- [start:distances]
found = []
least, most = wide
for bounds in wide, (1 - least, 1 + most):
    loss = partial(cispo, bounds=bounds)
    found.append(slope(loss, rho, 1.0))
    print(*(f"{v:5.2f}" for v in found[-1]))
meant, taken = found
assert taken.equal(meant), "bounds or distances"
# --8<-- [end:distances]
