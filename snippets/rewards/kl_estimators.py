"""k1, k2, k3 as losses: the factor that autograd gives, and the one that is needed."""

# --8<-- [start:comment]
from torch import autograd, tensor
actor = tensor(0.6).log().requires_grad_()
k1 = actor - tensor(0.2).log()  # reference: 0.2
k2 = k1**2 / 2
k3 = (-k1).exp() - 1 + k1
for n, k in zip("123", (k1, k2, k3)):
    g = autograd.grad(k, actor, retain_graph=True)
    print(f"k{n} {k:.3f} {g[0]:.3f}")
# --8<-- [end:comment]

# --8<-- [start:estimators]
import torch
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

device = "cpu"  # or "cuda"
pq = [[0.6, 0.2, 0.15, 0.05], [0.3, 0.3, 0.2, 0.2]]
p, q = torch.tensor(pq).double().to(device)[:, None]
logits = p.log().requires_grad_()
log_p, log_q = logits.log_softmax(1), q.log()

def show(name, mean, sd):  # gradient by logits
    logits.grad = None
    mean.backward(retain_graph=True)
    slopes = logits.grad[0] + 0.0  # no minus zero
    row = [f"{g:6.3f}" for g in slopes]
    print(f"{name:6}{mean:6.3f}{sd:6.3f} ", *row)

print("        mean    sd  gradient as a loss")
for k in kl_k1, kl_k2, kl_k3:
    x = k(log_probs=log_p, ref_log_probs=log_q)
    mean = (p * x).sum()  # p: who sampled, fixed
    sd = (p * (x - mean) ** 2).sum().sqrt()
    show(k.__name__, mean, sd)
# --8<-- [end:estimators]

# --8<-- [start:reward]
print("       gradient as a reward")
pushes = {}
for k in kl_k1, kl_k2, kl_k3:
    x = k(log_probs=log_p, ref_log_probs=log_q)
    factor = x.detach()  # not differentiated
    logits.grad = None
    pushed = (p * factor * log_p).sum()
    pushed.backward(retain_graph=True)
    pushes[k.__name__] = logits.grad
    row = (f"{g:6.3f}" for g in logits.grad[0])
    print(f"{k.__name__:6}", *row)
# --8<-- [end:reward]

# --8<-- [start:kl]
KL = (log_p.exp() * (log_p - log_q)).sum()
back = (q * (log_q - log_p)).sum()  # KL(ref, actor)

def slope(loss):
    logits.grad = None
    loss.backward(retain_graph=True)
    return logits.grad

def mean_of(k):
    x = k(log_probs=log_p, ref_log_probs=log_q)
    return (p * x).sum()

far = (log_p - log_q).detach().abs()
assert mean_of(kl_k1).isclose(KL)
assert mean_of(kl_k3).isclose(KL)
assert slope(mean_of(kl_k1)).abs().max() < 1e-12
assert slope(mean_of(kl_k2)).allclose(slope(KL))
assert slope(mean_of(kl_k3)).allclose(slope(back))
assert pushes["kl_k1"].allclose(slope(KL))
both = slope(KL) - slope(back)
assert pushes["kl_k3"].allclose(both)
assert (p * far).sum() > 2 * KL  # no estimate
# --8<-- [end:kl]

# --8<-- [start:ratio]
import torch
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

def k3_times_ratio(log_p, log_old, log_ref):
    ratio = (log_p - log_old).exp()  # no constant
    return ratio * kl_k3(
        log_probs=log_p, ref_log_probs=log_ref
    )

device = "cpu"  # or "cuda"
rows = [
    [0.6, 0.2, 0.15, 0.05],  # actor
    [0.3, 0.3, 0.2, 0.2],  # reference
    [0.4, 0.3, 0.2, 0.1],  # old: it sampled
]
p, q, old = torch.tensor(rows).to(device)[:, None]
logits = p.log().requires_grad_()
log_p = logits.log_softmax(1)
log_q = q.log()
both = {"log_probs": log_p, "ref_log_probs": log_q}
times = k3_times_ratio(log_p, old.log(), log_q)
losses = {
    "the KL": (log_p.exp() * kl_k1(**both)).sum(),
    "k2": (old * kl_k2(**both)).sum(),
    "k3": (old * kl_k3(**both)).sum(),
    "ratio * k3": (old * times).sum(),
}
print("           value  gradient by logit")
stale = {}
for name, loss in losses.items():
    logits.grad = None
    loss.backward(retain_graph=True)
    stale[name] = logits.grad
    cells = (f"{x:z6.3f}" for x in logits.grad[0])
    print(f"{name:10} {loss:.3f} ", *cells)
right = stale["the KL"]
assert stale["ratio * k3"].allclose(right, 0, 1e-6)
assert not stale["k2"].allclose(right, 0, 1e-2)
# --8<-- [end:ratio]

# --8<-- [start:k3]
import torch
from ppo_ref.kl import kl_k2, kl_k3

device = "cpu"  # or "cuda"
pi = torch.tensor([[0.999, 0.001]]).double()
log_pi = pi.to(device).log().requires_grad_()
log_ref = torch.full_like(log_pi, 0.5).log()

def pull(k):  # a sampled token's own slope
    x = k(log_probs=log_pi, ref_log_probs=log_ref)
    (g,) = torch.autograd.grad(x.sum(), log_pi)
    return g

own = (log_pi - log_ref).detach()  # of the KL
for k in kl_k2, kl_k3:
    cells = (f"{g:8.2f}" for g in pull(k)[0])
    print(k.__name__, *cells)
assert pull(kl_k2).allclose(own)
assert pull(kl_k3).allclose(own), "another KL's"
# --8<-- [end:k3]
