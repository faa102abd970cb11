"""What the critic is fitted to: the target, the loss, its clip and its mean."""

# --8<-- [start:comment]
import torch
V, r = torch.tensor([0.5, 0.7, 0.4]), [0, 0, 1]
for lam in 0.0, 0.5, 1.0:
    A, after, R = 0.0, 0.0, []
    for t in 2, 1, 0:
        A = r[t] + after - V[t] + lam * A
        after, R = V[t], [A + V[t], *R]
    print("lambda", lam, *(f"{x:.2f}" for x in R))
# --8<-- [end:comment]

# --8<-- [start:targets]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)
V, mask = batch.values, batch.response_mask
r = token_level_scores(batch.scores, mask)
given = {
    "token_level_rewards": r,
    "values": V,
    "response_mask": mask,
}

def target(row, lam):  # of one answer, gamma 1
    R, V_next, out = 0.0, 0.0, []
    for t in reversed(range(mask[row].sum())):
        mix = (1 - lam) * V_next + lam * R
        R, V_next = r[row, t] + mix, V[row, t]
        out.insert(0, R)
    return torch.stack(out)

for row in 0, 1:
    said = (f"{v:.3f}" for v in V[row, mask[row]])
    print(f"row {row} V    ", *said)
    for lam in 0.0, 0.95, 1.0:
        R = target(row, lam)
        cells = (f"{x:.3f}" for x in R)
        print(f"  lam {lam:4}", *cells)
        judge = gae(**given, gae_lambda=lam).returns
        assert R.allclose(judge[row, mask[row]])
# --8<-- [end:targets]

# --8<-- [start:story]
guess, got = 0.80, 0.95
v = V.new_tensor(guess, requires_grad=True)
half = 0.5 * (v - got) ** 2
(slope,) = torch.autograd.grad(half, v)
print(f"too low by {got - guess:.2f}")
print(f"loss {half:.5f}, gradient {slope:.2f}")
assert slope.isclose(v - got)  # new V less target
# --8<-- [end:story]

# --8<-- [start:clip]
from ppo_ref.losses import value_loss

old, c = V.new_zeros(4), 0.5
R = V.new_tensor([1, 1, 0.6, 1])
new = V.new_tensor([0.3, 0.8, 0.8, -0.8])
new.requires_grad_()
clipped = new.clamp(old - c, old + c)
errors = (new - R) ** 2, (clipped - R) ** 2
loss = torch.maximum(*errors) / 2
(grad,) = torch.autograd.grad(loss.sum(), new)
print("   new      R   loss   grad")
for line in zip(new, R, loss, grad):
    print(*(f"{x.item():z6.3f}" for x in line))
judge = value_loss(
    values=new[None],
    old_values=old[None],
    returns=R[None],
    response_mask=R[None] > 0,
    value_clip_range=c,
)
assert loss.mean().isclose(judge.loss)
assert judge.clip_fraction == (grad == 0).sum() / 4
# --8<-- [end:clip]

# --8<-- [start:bounds]
from ppo_ref.train.stored_runs import stored_run

def train(goal, steps, lr):  # in one iteration
    v = V.new_zeros((), requires_grad=True)
    for _ in range(steps):
        near = v.clamp(-c, c)  # V_old is 0
        errors = (v - goal) ** 2, (near - goal) ** 2
        loss = torch.maximum(*errors) / 2
        (g,) = torch.autograd.grad(loss, v)
        v = (v - lr * g).detach().requires_grad_()
    return v.item()

slow = train(10, steps=200, lr=0.01)
print(f"score 10, 200 steps: {slow:.2f}")
run = stored_run("healthy")
share = max(run.column("value_clip_fraction"))
print(f"healthy run, clip fraction: {share}")
far = train(1, steps=1, lr=2)
print(f"score 1, one step: {far:.2f}")
assert far <= 0.5, "the clip let it pass"
# --8<-- [end:bounds]

# --8<-- [start:mean]
R = gae(**given).returns  # 0 in padding
new = V.clone().requires_grad_()  # junk there
error = (new - R) ** 2
judge = value_loss(
    values=new,
    old_values=V,
    returns=R,
    response_mask=mask,
    value_clip_range=c,
).loss
plain = 0.5 * error.mean()  # all 12 slots
zeroed = 0.5 * (error * mask).mean()
assert judge.isclose(0.5 * error[mask].mean())
print(f"masked {judge:.4f}")
print(f"plain  {plain:.4f}, zeroed {zeroed:.4f}")
(grad,) = torch.autograd.grad(plain, new)
pads = (f"{g:.3f}" for g in grad[~mask])
print("plain, gradient on pads:", *pads)
assert plain.isclose(judge), "pads count too"
# --8<-- [end:mean]

# --8<-- [start:exact]
from ppo_ref.diagnostics import explained_variance
from ppo_ref.examples import two_token_tree

device = "cpu"  # or "cuda"
tree = two_token_tree(device)  # a row an answer
R = gae(
    token_level_rewards=tree.token_level_rewards,
    values=tree.values,
    response_mask=tree.response_mask,
).returns
loss = 0.5 * ((tree.values - R) ** 2).mean()
explained = explained_variance(
    values=tree.values,
    returns=R,
    response_mask=tree.response_mask,
)
first = tree.values[:, 0]
assert R[:, 0].mean() == first[0]  # V is the mean
print(f"vf_loss {loss:.4f}")
print(f"vf_explained_var {explained:.2f}")
# --8<-- [end:exact]
