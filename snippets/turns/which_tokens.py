"""Which tokens of many turns are trained: masked out of the loss is not yet out."""

# --8<-- [start:ratio]
import torch
mask = torch.tensor([1, 1, 0, 0, 1]) > 0  # 0: tool
for there in 0.0, -1.0:  # log-ratio on the tool's
    x = torch.where(mask, 0.0, there)
    loss = -x.exp()[mask].mean()
    own, every = x[mask].sum().exp(), x.sum().exp()
    print(f"{loss=:.2f} {own=:.2f} {every=:.2f}")
assert own == 1 and every < 0.14
# --8<-- [end:ratio]

# --8<-- [start:moved]
import torch
from ppo_ref.advantages import gae
from ppo_ref.masking import masked_mean as mean
from ppo_ref.masking import masked_whiten

device = "cpu"  # or "cuda"
who = "aaEttooettaaE"  # a and E: the model's
mine = torch.tensor([[c in "aE" for c in who]])
mine = mine.to(device)
source = torch.Generator().manual_seed(0)
x = torch.randn(5, 1, len(who), generator=source)
batch = (x.double() / 10).to(device)

def results(batch, mask):
    new, old, ref, V, r = batch
    A = gae(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
        gae_lambda=0.95,
    ).advantages
    ratio = new - old  # its log
    return (
        A[mine],
        masked_whiten(A, mask)[mine],
        mean(-ratio.exp() * A, mask),  # loss
        mean(old - ref, mask),  # KL
        ratio[mask].sum().exp(),  # of the whole
    )

def moved(t, mask):  # how many slot t moves
    noisy = batch.clone()
    noisy[:, 0, t] += torch.arange(5).to(device)
    pairs = zip(
        results(batch, mask), results(noisy, mask)
    )
    return sum(not a.allclose(b) for a, b in pairs)

every = torch.ones_like(mine)
print("slot  mask  none")
for t, writer in enumerate(who):
    if writer not in "aE":
        own = moved(t, mine)
        bare = moved(t, every)
        print(f"{t:2} {writer}  {own:4} {bare:5}")
        assert own == 0
# --8<-- [end:moved]

# --8<-- [start:imitation]
zeros = torch.zeros(2, 2, device=device)
zeros.requires_grad_()
choice, tool = zeros.log_softmax(1)
p = choice.exp().detach()
A = p.new_tensor([0.5, -0.5])  # call it, or guess
called = p.new_tensor([1, 0])
for name, log_probs in (
    ("masked", choice),
    ("trained", choice + called * tool[0]),
):
    (g,) = torch.autograd.grad(
        (p * A * log_probs).sum(),
        zeros,
        retain_graph=True,
    )
    print(f"{name:7} {g[0, 0]:.3f} {g[1, 0]:.3f}")
assert g[1, 0] > 0  # its true gradient is 0
# --8<-- [end:imitation]

# --8<-- [start:inverted]
x = batch[0].clone().requires_grad_()
A = batch[3]
mean(x.exp() * A, ~mine).backward()
marks = zip(who, x.grad[0])
print("".join(c if g else "." for c, g in marks))
assert (x.grad != 0).equal(mine), "not the model's"
# --8<-- [end:inverted]

# --8<-- [start:objective]
def loss(batch):  # the mask in the mean alone
    new, old, _, V, r = batch
    A = gae(
        token_level_rewards=r,
        values=V,
        response_mask=every,
        gae_lambda=0.95,
    ).advantages
    return mean(-(new - old).exp() * A, mine)

noisy = batch.clone()
noisy[3, 0, 5] += 1  # V on a token of the tool
print(f"{loss(batch):.4f} {loss(noisy):.4f}")
same = loss(noisy).isclose(loss(batch))
assert same, "a tool's token moved the loss"
# --8<-- [end:objective]

# --8<-- [start:filler]
actor = torch.tensor([-0.5, -1.0, -2.0])
owned = torch.tensor([1, 1, 0]) > 0  # 0: tool
for filler in 1.0, 0.0:
    stored = torch.where(owned, actor, filler)
    x = actor - stored  # nothing has moved
    whole, own = x.sum().exp(), x[owned].sum().exp()
    print(f"filler {filler}: {whole:.3f} {own:.3f}")
assert whole == 1, "0 is no cure"
# --8<-- [end:filler]
