"""The ratio: what it weighs, why, what it leaves out, and why it begins at 1."""

# --8<-- [start:weight]
import torch

old_p = torch.tensor([0.5, 0.5])  # of 0, of 1
new_p = torch.tensor([0.25, 0.75])
worth = torch.tensor([0.0, 0.5])  # V after it
weight = new_p / old_p
wanted = (new_p * worth).sum()
plain = (old_p * worth).sum()
weighted = (old_p * weight * worth).sum()
print(f"wanted   {wanted:.3f}")
print(f"plain    {plain:.3f}")
print(f"weighted {weighted:.3f}")
assert weighted == wanted
# --8<-- [end:weight]

# --8<-- [start:objective]
gain = worth - plain  # the advantages of 0 and 1
unweighted = (old_p * gain).sum()
promised = (old_p * weight * gain).sum()
print(f"mean of A, old actor  {unweighted:.3f}")
print(f"mean of ratio times A {promised:.3f}")
print(f"what J has gained     {wanted - plain:.3f}")
assert promised == wanted - plain
# --8<-- [end:objective]

# --8<-- [start:batch]
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask = batch.response_mask
old = batch.old_log_probs  # stored numbers
A = batch.scores[:, None] - batch.values
# --8<-- [end:batch]

# --8<-- [start:first]
from ppo_ref.losses import surrogate_objective

def step_2(log_p):
    return -(A * log_p)[mask].mean()

def with_ratio(log_p):
    return -surrogate_objective(
        log_probs=log_p,
        old_log_probs=old,
        advantages=A,
        response_mask=mask,
    )

for loss in step_2, with_ratio:
    log_p = old.clone().requires_grad_()
    value = loss(log_p)
    (g,) = torch.autograd.grad(value, log_p)
    cells = (f"{x:.3f}" for x in g[1, :4])
    print(f"loss {value:6.3f}  gradient", *cells)
    assert g[mask].allclose(-A[mask] / 10)
# --8<-- [end:first]

# --8<-- [start:update]
p = old.exp()
z = torch.logit(p) + 10 * A * (1 - p) / 10
new = z.sigmoid().log()
ratio = (new - old).exp()
rows = {"old p": p, "new p": new.exp()}
rows["ratio"] = ratio
for i, n in enumerate(mask.sum(1)):
    print(f"answer {i}")
    for name, x in rows.items():
        print(name, *(f"{v:.3f}" for v in x[i, :n]))
# --8<-- [end:update]

# --8<-- [start:promise]
half, q = old_p[1], new_p[1]  # of a 1, each time
gain_2 = torch.tensor([-0.5, 0.5])  # after a 1
first = (old_p * weight * gain).sum()
promised_2 = half * (old_p * weight * gain_2).sum()
J_promised = plain + first + promised_2
print(f"first token  {first:.3f}")
print(f"second token {promised_2:.3f}")
print(f"promised J   {J_promised:.3f}")
print(f"true J       {q * q:.3f}")
assert J_promised < q * q
# --8<-- [end:promise]

# --8<-- [start:limits]
share = new_p[1]  # of the prefix 1, in truth
second = share * (old_p * weight * gain_2).sum()
J = plain + first + second
print(f"second token {second:.3f}")
print(f"J            {J:.3f}")
assert q * q == J
A_old = half - half * half  # V after - before
A_new = q - q * q
name = "advantage of a first 1,"
print(f"{name} old actor {A_old:.2f}")
print(f"{name} new actor {A_new:.2f}")
# --8<-- [end:limits]

# --8<-- [start:count]
prompts, mini_batch, epochs = 1024, 256, 1
updates = epochs * prompts // mini_batch
print(f"{updates} updates, 1 of them at ratio 1")
# --8<-- [end:count]

# --8<-- [start:refreshed]
refreshed = new.clone()  # instead of old
always = (new - refreshed).exp()
print(f"refreshed {always[1, 0]:.3f}")
print(f"stored    {ratio[1, 0]:.3f}")
# --8<-- [end:refreshed]

# --8<-- [start:again]
z = torch.logit(p)
for update in range(5):
    now = (z.sigmoid().log() - old).exp()
    print(f"update {update}: {now[1, 0]:.3f}")
    z = z + 10 * A * now * (1 - z.sigmoid()) / 10
# --8<-- [end:again]
