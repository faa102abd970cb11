"""Ten functions to paste, which need torch alone; each is judged by ppo_ref."""

# --8<-- [start:masked_mean]
import torch

def masked_mean(x, mask):
    """The mean of x where mask is True."""
    kept = torch.where(mask, x, 0)
    return kept.sum() / mask.sum()
# --8<-- [end:masked_mean]

# --8<-- [start:masked_mean_judged]
from ppo_ref import masking
from ppo_ref.examples import shared_batch

batch = shared_batch()
V, mask = batch.values, batch.response_mask
mean = masked_mean(V, mask)
print(f"over the tokens {mean:.3f}")
print(f"over all slots  {V.mean():.3f}")
assert mean.isclose(masking.masked_mean(V, mask))
# --8<-- [end:masked_mean_judged]

# --8<-- [start:masked_whiten]
import torch

def masked_whiten(x, mask):
    """Mean 0 and variance 1 where mask is True."""
    n = mask.sum()
    mean = torch.where(mask, x, 0).sum() / n
    x = torch.where(mask, x - mean, 0)
    variance = (x**2).sum() / (n - 1)
    return x * (variance + 1e-8).rsqrt()
# --8<-- [end:masked_whiten]

# --8<-- [start:masked_whiten_judged]
from ppo_ref import masking
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask = batch.response_mask
A = batch.scores[:, None] - batch.values
W = masked_whiten(A, mask)
assert W.allclose(masking.masked_whiten(A, mask))
print(*(f"{w:.2f}" for w in W[1]))
# --8<-- [end:masked_whiten_judged]

# --8<-- [start:log_probs]
import torch

def log_probs_entropy(logits, ids, temperature=1):
    """logits[:, t] must predict ids[:, t]."""
    logits = logits.float() / temperature
    every = logits.log_softmax(-1)
    chosen = every.gather(-1, ids[..., None])
    # A token that cannot be written has no part.
    terms = every.exp() * every.clamp(min=-1e4)
    return chosen.squeeze(-1), -terms.sum(-1)
# --8<-- [end:log_probs]

# --8<-- [start:log_probs_judged]
from ppo_ref import log_probs

torch.manual_seed(0)
logits = torch.randn(2, 6, 9)
ids = torch.randint(9, (2, 6))
for temperature in 1.0, 0.7:
    log_p, entropy = log_probs_entropy(
        logits, ids, temperature
    )
    right = log_probs.log_probs_and_entropy(
        logits=logits,
        responses=ids,
        temperature=temperature,
    )
    assert log_p.allclose(right[0])
    assert entropy.allclose(right[1])
    print(temperature, f"{log_p[0, 0]:.3f}")
# --8<-- [end:log_probs_judged]

# --8<-- [start:kl]
import torch

def kl_per_token(log_p, ref_log_p, kind="k1"):
    """Estimates KL(actor, reference) by token."""
    gap = log_p - ref_log_p
    if kind == "k1":
        return gap
    if kind == "k2":
        return gap**2 / 2
    if kind == "k3":
        return torch.expm1(-gap) + gap
    raise ValueError(f"no such kind: {kind}")
# --8<-- [end:kl]

# --8<-- [start:kl_judged]
from ppo_ref import kl as judges
from ppo_ref.examples import shared_batch

batch = shared_batch()
new, ref = batch.old_log_probs, batch.ref_log_probs
for kind in "k1", "k2", "k3":
    ours = kl_per_token(new, ref, kind)
    judge = getattr(judges, f"kl_{kind}")
    right = judge(log_probs=new, ref_log_probs=ref)
    assert ours.allclose(right)
    cells = (f"{x:6.3f}" for x in ours[1, :4])
    print(kind, *cells)
# --8<-- [end:kl_judged]

# --8<-- [start:kl_gradient]
z = torch.tensor([0.5, 0.0, -1.0])  # the actor
z = z.double().requires_grad_()
q = torch.tensor([0.2, 0.5, 0.3]).double().log()

def mean_gradient(kind):
    """Each token's gradient, by its probability."""
    p = z.log_softmax(0)
    each = kl_per_token(p, q, kind)
    loss = p.detach().exp() @ each
    return torch.autograd.grad(loss, z)[0]

p = z.log_softmax(0)
forward = p.exp() @ (p - q)  # KL(actor, reference)
backward = q.exp() @ (q - p)  # KL(reference, actor)
exact = [torch.zeros_like(z)]
for kl in forward, backward:
    exact += torch.autograd.grad(
        kl, z, retain_graph=True
    )
for kind, right in zip(("k1", "k2", "k3"), exact):
    g = mean_gradient(kind)
    assert g.allclose(right, atol=1e-12)
    cells = (f"{x + 1e-9:6.3f}" for x in g)
    print(kind, *cells)
# --8<-- [end:kl_gradient]

# --8<-- [start:gae]
import torch

def gae(r, values, mask, gamma=1, lam=0.95, end=0):
    """end is V after the last token that counts."""
    A = torch.zeros_like(values)
    later = torch.zeros_like(values[:, 0])
    V_next = later + end
    for t in reversed(range(values.shape[1])):
        m, V = mask[:, t], values[:, t]
        new = r[:, t] + gamma * V_next - V
        new = new + gamma * lam * later
        A[:, t] = torch.where(m, new, 0)
        later = torch.where(m, new, later)
        V_next = torch.where(m, V, V_next)
    return A, torch.where(mask, A + values, 0)
# --8<-- [end:gae]

# --8<-- [start:gae_judged]
from ppo_ref import advantages
from ppo_ref.examples import shared_batch

batch = shared_batch()
V, mask = batch.values, batch.response_mask
lam = 0.95
r = torch.zeros_like(V)
r[0, 5], r[1, 3] = batch.scores  # last tokens
A, returns = gae(r, V, mask, lam=lam)
right = advantages.gae(
    token_level_rewards=r,
    values=V,
    response_mask=mask,
    gae_lambda=lam,
)
assert A.allclose(right.advantages)
assert returns.allclose(right.returns)
for row in A:
    print(*(f"{a:6.3f}" for a in row))
# --8<-- [end:gae_judged]

# --8<-- [start:policy_loss]
import torch

def policy_loss(
    log_p, old_log_p, A, mask,
    low=0.2, high=0.2, dual=3
):
    """The loss of each token, with both clips."""
    gap = torch.where(mask, log_p - old_log_p, 0)
    ratio = gap.clamp(-20, 20).exp()
    near = ratio.clamp(1 - low, 1 + high)
    loss = torch.maximum(-A * ratio, -A * near)
    bounded = torch.minimum(loss, -A * dual)
    loss = torch.where(A < 0, bounded, loss)
    return torch.where(mask, loss, 0)
# --8<-- [end:policy_loss]

# --8<-- [start:policy_loss_judged]
from ppo_ref import losses
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask, old = batch.response_mask, batch.old_log_probs
A = batch.scores[:, None] - batch.values
torch.manual_seed(0)
new = old + 0.3 * torch.randn_like(old)
new.requires_grad_()
each = policy_loss(new, old, A, mask)
loss = each.sum() / mask.sum()
right = losses.policy_loss(
    log_probs=new,
    old_log_probs=old,
    advantages=A,
    response_mask=mask,
    dual_clip=3.0,
).loss
assert loss.isclose(right)
(ours,) = torch.autograd.grad(loss, new)
(theirs,) = torch.autograd.grad(right, new)
assert ours.allclose(theirs)
moved = (ours != 0).sum()
print(f"gradient on {moved} of {mask.sum()} tokens")
# --8<-- [end:policy_loss_judged]

# --8<-- [start:value_loss]
import torch

def value_loss(V, old_V, returns, mask, clip=0.5):
    """Half the worse squared error of a token."""
    V = torch.where(mask, V, 0)
    near = V.clamp(old_V - clip, old_V + clip)
    free, held = V - returns, near - returns
    loss = torch.maximum(free**2, held**2) / 2
    return torch.where(mask, loss, 0)
# --8<-- [end:value_loss]

# --8<-- [start:value_loss_judged]
from ppo_ref import losses
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask, old_V = batch.response_mask, batch.values
returns = batch.scores[:, None].expand_as(old_V)
torch.manual_seed(0)
V = old_V + torch.randn_like(old_V)
each = value_loss(V, old_V, returns, mask)
ours = each.sum() / mask.sum()
right = losses.value_loss(
    values=V,
    old_values=old_V,
    returns=returns,
    response_mask=mask,
    value_clip_range=0.5,
).loss
assert ours.isclose(right)
print(f"{ours:.3f}")
# --8<-- [end:value_loss_judged]

# --8<-- [start:aggregate]
import torch

def aggregate(losses, mask, mode, count=None):
    """count: tokens or rows in the mini-batch."""
    rows = torch.where(mask, losses, 0).sum(-1)
    if mode == "token-mean":
        return rows.sum() / (count or mask.sum())
    if mode == "seq-mean-token-mean":
        rows = rows / mask.sum(-1).clamp(min=1)
    elif mode != "seq-mean-token-sum":
        raise ValueError(f"no such mode: {mode}")
    count = count or mask.any(-1).sum()
    return rows.sum() / count
# --8<-- [end:aggregate]

# --8<-- [start:aggregate_judged]
from ppo_ref import aggregation

modes = {
    "token-mean": aggregation.token_mean,
    "seq-mean-token-sum":
        aggregation.sequence_mean_token_sum,
    "seq-mean-token-mean":
        aggregation.sequence_mean_token_mean,
}
losses = [1.0, 1, 1, 1], [3, 5, 9, 9]
mask = [1, 1, 1, 1], [1, 1, 0, 0]
losses = torch.tensor(losses)
mask = torch.tensor(mask).bool()
for mode, judge in modes.items():
    whole = aggregate(losses, mask, mode)
    assert whole.isclose(judge(losses, mask))
    by_token = mode == "token-mean"
    count = mask.sum() if by_token else len(mask)
    micro = zip(losses.split(1), mask.split(1))
    parts = [
        aggregate(*x, mode, count) for x in micro
    ]
    assert sum(parts).isclose(whole)
    print(f"{mode:20} {whole:.3f}")
# --8<-- [end:aggregate_judged]

# --8<-- [start:group]
import torch

def group_advantages(scores, groups, kind="grpo"):
    """Each score, compared within its group."""
    group = groups.unique(return_inverse=True)[1]
    n = group.bincount()[group]
    sums = torch.zeros_like(scores)
    total = sums.index_add(0, group, scores)[group]
    A = scores - total / n
    others = (n - 1).clamp(min=1)
    if kind == "rloo":
        return A * n / others
    if kind == "dr_grpo":
        return A
    squares = sums.index_add(0, group, A**2)[group]
    return A / ((squares / others).sqrt() + 1e-6)
# --8<-- [end:group]

# --8<-- [start:group_judged]
from ppo_ref import group_advantages as judges

scores = torch.tensor([1.0, 0, 0, 1, 0, 1])
groups = torch.tensor([7, 7, 7, 3, 3, 3])
one = torch.ones(6, 1, dtype=torch.bool)
for kind in "grpo", "dr_grpo", "rloo":
    ours = group_advantages(scores, groups, kind)
    right = getattr(judges, kind)(
        token_level_rewards=scores[:, None],
        response_mask=one,
        groups=groups,
    ).advantages
    assert ours.allclose(right[:, 0])
    print(f"{kind:8}", *(f"{a:5.2f}" for a in ours))
# --8<-- [end:group_judged]

# --8<-- [start:weights]
import torch

def rollout_weights(
    old_log_p, engine_log_p, mask, cap=2, by="token"
):
    """Trainer over engine, capped."""
    gap = old_log_p - engine_log_p
    gap = torch.where(mask, gap, 0)
    if by == "sequence":
        gap = gap.sum(-1, keepdim=True)
    elif by != "token":
        raise ValueError(f"no such level: {by}")
    w = gap.clamp(-20, 20).exp().clamp(max=cap)
    return torch.where(mask, w, 0).detach()
# --8<-- [end:weights]

# --8<-- [start:weights_judged]
from ppo_ref.examples import shared_batch
from ppo_ref.rollout_correction import token_weights

batch = shared_batch()
mask, old = batch.response_mask, batch.old_log_probs
engine = old - 0.4  # says less of every token
ratio = token_weights(
    old_log_probs=old,
    rollout_log_probs=engine,
    response_mask=mask,
    cap=float("inf"),
)
# That of an answer is the product of its tokens'.
whole = ratio.where(mask, 1).prod(1, keepdim=True)
right = {"token": ratio, "sequence": whole * mask}
for by, uncapped in right.items():
    w = rollout_weights(old, engine, mask, by=by)
    assert w.allclose(uncapped.clamp(max=2))
    print(f"{by:8}", *(f"{x:.2f}" for x in w[1]))
# --8<-- [end:weights_judged]
