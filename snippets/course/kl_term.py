"""Where the KL goes: kld token by token, in the reward or in the loss."""

# --8<-- [start:kld]
import torch
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask = batch.response_mask
old, ref = batch.old_log_probs, batch.ref_log_probs
kld = old - ref
for row, n in enumerate(mask.sum(1)):
    cells = (f"{x:5.2f}" for x in kld[row, :n])
    print(f"answer {row}", *cells)
print(*(f"sum {x:.2f}" for x in kld.sum(1)))
# --8<-- [end:kld]

# --8<-- [start:mean]
from ppo_ref.examples import world

w = world()  # all answers of this example
first = w.parents == 0  # tokens after the prompt
actor = w.edge_log_probs[first].exp()
reference = w.edge_ref_log_probs[first].exp()
logs = (actor / reference).log()
kl = actor @ logs
print("kld ", *(f"{x:7.4f}" for x in logs))
print("prob", *(f"{x:7.4f}" for x in actor))
print("area", *(f"{x:7.4f}" for x in actor * logs))
print(f"sum of the areas {kl:.4f}")
assert logs[1] < 0 < kl
# --8<-- [end:mean]

# --8<-- [start:answers]
P = w.response_probs(w.edge_log_probs)
every = w.edge_log_probs - w.edge_ref_log_probs
sums = w.token_log_probs(every).sum(1)
print(f"sums below 0: {P[sums < 0].sum():.0%}")
print(f"mean of the sums  {P @ sums:7.4f}")
# KL at each prefix, times how often it occurs
areas = w.edge_log_probs.exp() * every
at = areas.new_zeros(len(w.prefixes))
at = at.index_add(0, w.parents, areas)
reach = w.prefix_probs(w.edge_log_probs)
print(f"reach times KL    {reach @ at:7.4f}")
length = w.response_mask.sum(1)
means = P @ (sums / length)
print(f"mean of the means {means:7.4f}")
assert (at >= 0).all()
assert (P @ sums).isclose(reach @ at)
# --8<-- [end:answers]

# --8<-- [start:rewards]
from ppo_ref import rewards

beta, scores = batch.kl_coef, batch.scores
r = -beta * kld
r[[0, 1], mask.sum(1) - 1] += scores
judge = rewards.token_level_rewards(
    token_level_scores=rewards.token_level_scores(
        scores, mask
    ),
    kl=kld,
    response_mask=mask,
    kl_coef=beta,
)
assert r.allclose(judge)
for row, n in enumerate(mask.sum(1)):
    print(*(f"{x:7.4f}" for x in r[row, :n]))
# --8<-- [end:rewards]

# --8<-- [start:slopes]
def slopes(goal):
    """Its gradient by the three logits."""
    z = actor.log().requires_grad_()
    value = goal(z.log_softmax(0))
    (g,) = torch.autograd.grad(value, z)
    print(*(f"{x:z7.4f}" for x in g))
    return g

log_q = reference.log()
# the KL itself: all its parts are differentiated
exact = slopes(lambda lp: lp.exp() @ (lp - log_q))
# step 2, with kld in the place of the score
payment = slopes(lambda lp: actor @ (logs * lp))
assert exact.allclose(payment)
# --8<-- [end:slopes]

# --8<-- [start:loss]
def k2(kld):
    return kld**2 / 2

def k3(kld):
    return (-kld).exp() - 1 + kld

values, pulls = {}, {}
for name, k in {"k2": k2, "k3": k3}.items():
    values[name] = k(logs)
    cells = (f"{x:.4f}" for x in values[name])
    mean = actor @ values[name]
    print(name, *cells, f"mean {mean:.4f}")
    pulls[name] = slopes(
        lambda lp, k=k: actor @ k(lp - log_q)
    )
assert pulls["k2"].allclose(exact)
assert not pulls["k3"].allclose(exact)
# --8<-- [end:loss]

# --8<-- [start:sums]
total = scores - beta * kld.sum(1)
assert r.sum(1).allclose(total)
print(*(f"{x:.4f}" for x in total))
# --8<-- [end:sums]

# --8<-- [start:no]
no = w.parents == w.prefixes.index("No")
p_no = w.edge_log_probs[no].exp()
q_no = w.edge_ref_log_probs[no].exp()
kld_no = (p_no / q_no).log()
kl_no = p_no @ kld_no
for x in p_no, q_no, kld_no:
    print(*(f"{y:7.4f}" for y in x))
print(f"KL {kl_no:.4f}")
# --8<-- [end:no]

# --8<-- [start:nothing]
nothing = slopes(lambda lp: actor @ (lp - log_q))
assert nothing.abs().max() < 1e-9
# --8<-- [end:nothing]
