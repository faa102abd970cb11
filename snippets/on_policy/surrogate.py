"""L^CPI and L^CLIP, term by term: at ratio 1, one step later, and unconstrained."""

# --8<-- [start:terms]
import torch
from ppo_ref.examples import shared_batch
from ppo_ref.losses import policy_loss

device = "cpu"  # or "cuda"
batch = shared_batch(device)
old, eps = batch.old_log_probs, 0.2
r = -batch.kl_coef * (old - batch.ref_log_probs)
r[0, 5] += batch.scores[0]
A = r.flip(1).cumsum(1).flip(1) - batch.values

new = old.clone().requires_grad_()
ratio = (new - old).exp()
near = ratio.clamp(1 - eps, 1 + eps)
cpi = ratio * A
clip = torch.min(cpi, near * A)
loss = -clip[0].mean()  # row 0 alone
(grad,) = torch.autograd.grad(loss, new)

head = "old p", "ratio", "A", "CPI", "CLIP", "grad"
print("t", *(f"{name:>7}" for name in head))
columns = old.exp(), ratio, A, cpi, clip, grad
for t, row in enumerate(torch.stack(columns, 2)[0]):
    print(t, *(f"{x:7.4f}" for x in row))
print(f"objective {-loss:.4f}, loss {loss:.4f}")
judged = policy_loss(
    log_probs=new[:1],
    old_log_probs=new[:1],  # as stored: no gradient
    advantages=A[:1],
    response_mask=batch.response_mask[:1],
).loss
assert judged.isclose(loss)
(same,) = torch.autograd.grad(judged, new)
assert same.allclose(grad)
assert grad[0].allclose(-A[0] / 6)
# --8<-- [end:terms]

# --8<-- [start:cases]
from ppo_ref.aggregation import token_sum

rho = A.new_tensor([[0.5, 0.9, 1.1, 1.5, 5]])
dual = 3.0

print("ratio    ", *(f"{v:5.2f}" for v in rho[0]))
cases = (1.0, None), (1.0, dual)
for a, c in *cases, (-1.0, None), (-1.0, dual):
    x = rho.log().requires_grad_()
    loss = policy_loss(
        log_probs=x,
        old_log_probs=0 * rho,
        advantages=a + 0 * rho,
        response_mask=rho > 0,
        dual_clip=c,
        aggregate=token_sum,
    ).loss
    (slope,) = torch.autograd.grad(-loss, x)
    cells = (f"{v:z5.2f}" for v in slope[0])
    kind = f"A={a:+.0f} {'dual' if c else ''}"
    print(f"{kind:9}", *cells)
    out = (rho - 1) * a > eps  # clipped
    out |= bool(c) and a < 0 and rho > dual
    wanted = (rho * a).masked_fill(out, 0)
    assert slope.allclose(wanted)
# --8<-- [end:cases]

# --8<-- [start:step]
from torch.nn.functional import logsigmoid
from ppo_ref.masking import masked_whiten

mask = batch.response_mask
white = masked_whiten(A, mask)
z, ratios = torch.logit(old.exp()), []
for step in range(2):
    z.requires_grad_()
    loss = policy_loss(
        log_probs=logsigmoid(z),
        old_log_probs=old,
        advantages=white,
        response_mask=mask,
    ).loss
    (g,) = torch.autograd.grad(loss, z)
    ratio = (logsigmoid(z.detach()) - old).exp()
    ratios.append(ratio)
    size = f"gradient {g[mask].norm():.4f}"
    print(f"step {step}: loss {loss:z.4f}, {size}")
    for row, kept in zip(ratio, mask):
        print(" ", *(f"{x:.3f}" for x in row[kept]))
    z = (z - 10 * g).detach()
ratios = torch.stack(ratios)  # step, row, token
assert ratios[1, 1, 0] < 1 - eps  # out in one step
assert g[1, 0] == 0  # and nothing brings it back
# --8<-- [end:step]

# --8<-- [start:sign]
said = [0.13, 0.10, 0.08, 0.05, 0.03, 0.05]
said = A.new_tensor(said)
x = old[0].clone().requires_grad_()
loss = ((x - old[0]).exp() * said).mean()
(slope,) = torch.autograd.grad(loss, x)
after = x - slope  # a step of gradient descent
print(f"loss {loss:.4f}")
ratio = (after - x).exp()
print("ratio", *(f"{v:.3f}" for v in ratio))
assert (ratio > 1).all(), "all six become rarer"
# --8<-- [end:sign]

# --8<-- [start:constraint]
import torch

device = "cpu"  # or "cuda"
p0 = torch.tensor(0.2).double().to(device)
seen = p0.new_tensor([1, 1 - p0, p0])  # s_0, 0, 1
one = p0.new_tensor([1 - p0, 1, 0])  # Q of a 1
zero = p0.new_tensor([p0, 0, 1])  # Q of a 0
V = p0 * one + (1 - p0) * zero

print("   p     KL  L^CPI  score")
for p in 0.2, 0.25, 0.5, 0.9:
    gain = p * one + (1 - p) * zero - V
    promised = V[0] + seen @ gain
    kl = p0 * (p0 / p).log()
    kl += (1 - p0) * ((1 - p0) / (1 - p)).log()
    score = 2 * p * (1 - p)
    row = p, kl, promised, score
    print(*(f"{x:6.4f}" for x in row))
assert score > V[0], "promised more, got less"
# --8<-- [end:constraint]

# --8<-- [start:bounds]
import torch

device = "cpu"  # or "cuda"
z = torch.zeros(2, device=device)  # two tokens
for _ in range(2):
    z.requires_grad_()
    ratio = 2 * z.softmax(0)[0]  # token 0, A = 1
    goal = torch.min(ratio, ratio.clamp(0.8, 1.2))
    (g,) = torch.autograd.grad(goal, z)
    print(f"ratio {ratio:.3f}, gradient {g[0]:.3f}")
    z = (z + 5 * g).detach()
assert ratio <= 1.2, "the step went past 1 + eps"
# --8<-- [end:bounds]

# --8<-- [start:progress]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("healthy")
solved = run.column("solved")
loss = run.column("policy_loss")
print("solved    loss")
for i in 0, 9, 49, 99:
    print(f"{solved[i]:6.2f} {loss[i]:7.4f}")
assert solved[-1] > solved[0]
assert loss[-1] < loss[0], "better, yet higher loss"
# --8<-- [end:progress]

# --8<-- [start:mean]
from ppo_ref import aggregation

terms = -white  # all ratios are 1
for name in (
    "token_mean",
    "sequence_mean_token_mean",
    "sequence_mean_token_sum",
):
    loss = getattr(aggregation, name)(terms, mask)
    print(f"{name:24} {loss:z.4f}")
# --8<-- [end:mean]
