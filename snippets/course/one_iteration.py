"""One iteration on the shared batch, row by row."""

# --8<-- [start:collected]
import torch
from ppo_ref.examples import shared_batch

old, ref, V, scores, mask, beta = shared_batch()
gamma, lam, clip, lr = 1, 0.95, 0.2, 5

def show(name, x, d=3):
    for row, n in zip(x, mask.sum(1)):
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
A = torch.zeros_like(V)
later = 0
for t in reversed(range(6)):
    later = delta[:, t] + gamma * lam * later
    A[:, t] = later = later * mask[:, t]
R = (A + V) * mask
show("A", A, 4)
show("R", R, 4)
# --8<-- [end:advantages]

# --8<-- [start:judged]
from ppo_ref.advantages import gae
from ppo_ref.masking import masked_whiten

judge = gae(
    token_level_rewards=r,
    values=V,
    response_mask=mask,
    gae_lambda=lam,
)
assert judge.advantages.allclose(A)
assert judge.returns.allclose(R)
# --8<-- [end:judged]

# --8<-- [start:whitened]
mean, std = A[mask].mean(), A[mask].std()
W = (A - mean) / std * mask
print(f"mean {mean:.4f}, std {std:.4f}")
show("W", W)
assert W.allclose(masked_whiten(A, mask))
# --8<-- [end:whitened]

# --8<-- [start:critic]
error = (V - R)[mask]
value_loss = error.square().mean() / 2
new_V = V - lr * (V - R) * mask / mask.sum()
print(f"loss {value_loss:.4f}")
show("V", V)
show("newV", new_V)
# --8<-- [end:critic]

# --8<-- [start:actor]
p = old.exp().where(mask, 0.5)  # padding: any
z = torch.logit(p)
z.requires_grad_()

def policy_loss(z):
    new = z.sigmoid().log()
    ratio = (new - old).exp()
    kept = ratio.clamp(1 - clip, 1 + clip)
    gain = torch.min(ratio * W, kept * W)
    return -gain[mask].mean(), ratio

loss, ratio = policy_loss(z)
(gradient,) = torch.autograd.grad(loss, z)
print(f"loss {abs(loss):.4f}")
show("grad", gradient)
show("hand", -W * (1 - old.exp()) / 10)
# --8<-- [end:actor]

# --8<-- [start:step]
z = (z - lr * gradient).detach().requires_grad_()
show("p", old.exp())
show("newp", z.sigmoid())
# --8<-- [end:step]

# --8<-- [start:again]
loss, ratio = policy_loss(z)
(gradient,) = torch.autograd.grad(loss, z)
show("rho", ratio)
show("grad", gradient)
# --8<-- [end:again]

# --8<-- [start:loss_judged]
import ppo_ref.losses

judge = ppo_ref.losses.policy_loss(
    log_probs=z.sigmoid().log(),
    old_log_probs=old,
    advantages=W,
    response_mask=mask,
)
assert judge.loss.isclose(loss)
print(f"loss {loss:.4f}")
print(f"clipped: {judge.clip_fraction:.1f} of them")
# --8<-- [end:loss_judged]

# --8<-- [start:lambda_one]
one = gae(
    token_level_rewards=r,
    values=V,
    response_mask=mask,
)
show("A", one.advantages, 4)
show("W", masked_whiten(one.advantages, mask))
# --8<-- [end:lambda_one]

# --8<-- [start:wrong_mask]
every = torch.ones_like(mask)
for name, m in ("mask", mask), ("all", every):
    W_0 = (A[0, -1] - A[m].mean()) / A[m].std()
    print(f"{name:5}{W_0:6.3f}")
# --8<-- [end:wrong_mask]

# --8<-- [start:both_right]
r = -beta * kld
r[[0, 1], last] += 1.0  # both answers score
A = gae(
    token_level_rewards=r,
    values=V,
    response_mask=mask,
    gae_lambda=lam,
).advantages
show("A", A, 4)
show("W", masked_whiten(A, mask))
# --8<-- [end:both_right]
