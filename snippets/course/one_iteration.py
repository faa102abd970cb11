"""One iteration on the shared batch, row by row."""

# --8<-- [start:collected]
import torch
from ppo_ref.examples import shared_batch, world

batch = shared_batch()
old, ref = batch.old_log_probs, batch.ref_log_probs
V, mask = batch.values, batch.response_mask
scores, beta = batch.scores, batch.kl_coef
gamma, lam, clip, lr = 1, 0.95, 0.2, 1

def show(name, x, d=3):
    for row, n in zip(x, mask.sum(1), strict=True):
        cells = [f"{v:8.{d}f}" for v in row[:n]]
        print(f"{name:4}" + "".join(cells))
        name = ""

print("old:", tuple(old.shape))
print("tokens that count:", int(mask.sum()))
# --8<-- [end:collected]

# --8<-- [start:rewards]
kld = old - ref
r = -beta * kld
last = mask.sum(1) - 1
r[[0, 1], last] += scores
show("kld", kld, 2)
show("r", r, 4)
# --8<-- [end:rewards]

# --8<-- [start:deltas]
V_next = V.roll(-1, 1)
V_next[[0, 1], last] = 0  # nothing comes after
delta = r + gamma * V_next - V
show("V", V, 2)
show("TD", delta, 4)
# --8<-- [end:deltas]

# --8<-- [start:advantages]
from ppo_ref import advantages

A = torch.zeros_like(V)
later = 0
for t in reversed(range(6)):
    later = delta[:, t] + gamma * lam * later
    A[:, t] = later = later * mask[:, t]
R = (A + V) * mask
show("A", A, 4)
show("R", R, 4)

judge = advantages.gae(
    token_level_rewards=r,
    values=V,
    response_mask=mask,
    gae_lambda=lam,
)
assert judge.advantages.allclose(A)
assert judge.returns.allclose(R)
# --8<-- [end:advantages]

# --8<-- [start:whitened]
from ppo_ref.masking import masked_whiten

mean, std = A[mask].mean(), A[mask].std()
W = (A - mean) / std * mask
print(f"mean {mean:.4f}, std {std:.4f}")
show("W", W)
assert W.allclose(masked_whiten(A, mask))
# --8<-- [end:whitened]

# --8<-- [start:critic]
w = world()
edges = w.edges[[0, 9]]  # the ten tokens
at = w.parents[edges]  # the prefix before each
N = mask.sum()
slope = torch.zeros(len(w.prefixes)).double()
slope.index_add_(0, at[mask], (V - R)[mask] / N)
new_V = V - lr * slope[at]
value_loss = (V - R)[mask].square().mean() / 2
print(f"loss {value_loss:.4f}")
show("V", V)
show("newV", new_V)
# --8<-- [end:critic]

# --8<-- [start:actor]
z = w.edge_log_probs.clone()  # a logit a cell
z.requires_grad_()

def policy_loss(z):
    new = w.log_softmax(z)[edges]
    ratio = (new - old).exp()
    kept = ratio.clamp(1 - clip, 1 + clip)
    gain = torch.min(ratio * W, kept * W)
    return -gain[mask].mean(), ratio

loss, ratio = policy_loss(z)
(gradient,) = torch.autograd.grad(loss, z)
print(f"loss {abs(loss):.4f}")
root = w.parents == 0  # Yes, No, Let
up = 0 - gradient[root]
print("push", *(f"{x:.4f}" for x in up))
# --8<-- [end:actor]

# --8<-- [start:root]
p = w.edge_log_probs[root].exp()
wide = p * (lr * up).exp()
new_p = wide / wide.sum()
for x in p, wide, new_p:
    print(*(f"{v:.4f}" for v in x))
# --8<-- [end:root]

# --8<-- [start:step]
z_1 = z - lr * gradient
log_p = w.log_softmax(z_1)
assert log_p[root].exp().allclose(new_p)
show("p", old.exp())
show("newp", log_p[edges].exp())
J = w.mean_score(w.edge_log_probs)
J_1 = w.mean_score(log_p)
print(f"J {J:.4f} -> {J_1:.4f}")
# --8<-- [end:step]

# --8<-- [start:again]
import ppo_ref.losses

loss, ratio = policy_loss(z_1)
judge = ppo_ref.losses.policy_loss(
    log_probs=log_p[edges],
    old_log_probs=old,
    advantages=W,
    response_mask=mask,
    clip_range=clip,
)
assert judge.loss.isclose(loss)
show("rho", ratio)
print(f"loss {loss:.4f}")
print(f"clipped: {judge.clip_fraction:.1f} of them")
# --8<-- [end:again]

# --8<-- [start:second]
(gradient,) = torch.autograd.grad(loss, z_1)
up_2 = 0 - gradient[root]
print("push", *(f"{x:.4f}" for x in up_2))
log_p_2 = w.log_softmax(z_1 - lr * gradient)
new_p_2 = log_p_2[root].exp()
print("p   ", *(f"{x:.4f}" for x in new_p_2))
J_2 = w.mean_score(log_p_2)
print(f"J {J_1:.4f} -> {J_2:.4f}")
# --8<-- [end:second]

# --8<-- [start:lambda_one]
def first_A(beta, lam):
    r = -beta * kld
    r[[0, 1], last] += scores
    return advantages.gae(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
        gae_lambda=lam,
    ).advantages

one = first_A(beta, 1)
show("A", one, 4)
show("W", masked_whiten(one, mask))
no_kl, turned = first_A(0, 1), first_A(-beta, 1)
# --8<-- [end:lambda_one]

# --8<-- [start:let]
print(f"push {up[2]:.4f}")
print(f"p    {p[2]:.4f} -> {new_p[2]:.4f}")
# --8<-- [end:let]

# --8<-- [start:targets]
kl = w.old_log_probs - w.ref_log_probs
rewards = -beta * kl
ends = w.response_mask.sum(1) - 1
rewards[range(14), ends] += w.scores
every = advantages.gae(
    token_level_rewards=rewards,
    values=w.values,
    response_mask=w.response_mask,
    gae_lambda=lam,
)
chance = w.response_probs(w.edge_log_probs)[9:13]
chance = chance / chance.sum()  # given "No"
target = every.returns[9:13, 1]
for x in chance, target:
    print(*(f"{v:6.3f}" for v in x))
print(f"mean {chance @ target:.3f}")
# --8<-- [end:targets]
