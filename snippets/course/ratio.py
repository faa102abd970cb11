"""The ratio: what it weighs, why, what it leaves out, and why it begins at 1."""

# --8<-- [start:weight]
import torch
from ppo_ref.examples import world

w = world()
values = w.prefix_values(w.edge_log_probs)
V = dict(zip(w.prefixes, values, strict=True))

no = w.parents == w.prefixes.index("No")
old_p = w.edge_log_probs[no].exp()
new_p = w.scores.new_tensor([0.2, 0.8])
weight = new_p / old_p  # of idea, of problem
worth = torch.stack([V["No idea"], V["No problem"]])
wanted = new_p @ worth
plain = old_p @ worth
weighted = (old_p * weight) @ worth
print(f"wanted   {wanted:.4f}")
print(f"plain    {plain:.4f}")
print(f"weighted {weighted:.4f}")
assert weighted.isclose(wanted)
# --8<-- [end:weight]

# --8<-- [start:objective]
first = w.parents == 0  # Yes, No, Let
p = w.edge_log_probs[first].exp()
half = p[1] / 2
q = torch.stack([p[0] + half, half, p[2]])
after = torch.stack([V["Yes"], V["No"], V["Let"]])
gain = after - V[""]  # the advantages

def moved(borders):
    """Log-probs with such shares after prefixes."""
    log_probs = w.edge_log_probs.clone()
    for prefix, shares in borders.items():
        place = w.prefixes.index(prefix)
        log_probs[w.parents == place] = shares.log()
    return log_probs

J = V[""]
J_first = w.mean_score(moved({"": q}))
unweighted = p @ gain
lift = (p * (q / p)) @ gain
print(f"mean of A, old actor  {unweighted:z.4f}")
print(f"mean of ratio times A {lift:.4f}")
print(f"what J has gained     {J_first - J:.4f}")
assert lift.isclose(J_first - J)
# --8<-- [end:objective]

# --8<-- [start:batch]
rows = [0, 9]  # answer 0 and answer 1
mask = w.response_mask[rows]
old = w.old_log_probs[rows]  # stored numbers
A = w.scores[rows, None] - w.values[rows]
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

# --8<-- [start:by_hand]
A_yes, A_no = A[:, 0]
push = torch.stack(
    [
        A_yes * (1 - p[0]) - A_no * p[0],
        A_no * (1 - p[1]) - A_yes * p[1],
        -A_yes * p[2] - A_no * p[2],
    ]
)
grown = p * (push / 10).exp()
by_hand = grown / grown.sum()
for row in push / 10, grown, by_hand:
    print(*(f"{x:7.4f}" for x in row))
# --8<-- [end:by_hand]

# --8<-- [start:update]
def ratios(z):
    log_probs = w.token_log_probs(w.log_softmax(z))
    return (log_probs[rows] - old).exp()

def update(z):
    z = z.clone().requires_grad_()
    goal = (ratios(z) * A)[mask].mean()
    (g,) = torch.autograd.grad(goal, z)
    return (z + g).detach()  # learning rate 1

z = update(w.edge_log_probs)
ratio = ratios(z)
for i, n in enumerate(mask.sum(1)):
    x = old[i, :n].exp()
    print(f"answer {i}")
    print("old p", *(f"{v:.3f}" for v in x))
    x = x * ratio[i, :n]
    print("new p", *(f"{v:.3f}" for v in x))
    x = ratio[i, :n]
    print("ratio", *(f"{v:.3f}" for v in x))
J_next = w.mean_score(w.log_softmax(z))
print(f"J {J:.4f} -> {J_next:.4f}")
p_1 = w.log_softmax(z)[first].exp()
assert p_1.allclose(by_hand)
# --8<-- [end:update]

# --8<-- [start:promise]
gain_2 = worth - V["No"]  # idea, problem
lift_2 = p[1] * ((old_p * weight) @ gain_2)
both = moved({"": q, "No": new_p})
J_both = w.mean_score(both)
promised = J + lift + lift_2
print(f"first border  {lift:.4f}")
print(f"second border {lift_2:.4f}")
print(f"promised J    {promised:.4f}")
print(f"true J        {J_both:.4f}")
alone = w.mean_score(moved({"No": new_p}))
assert lift_2.isclose(alone - J)
# --8<-- [end:promise]

# --8<-- [start:limits]
second = q[1] * ((old_p * weight) @ gain_2)
print(f"second border {second:.4f}")
print(f"J             {J + lift + second:.4f}")
assert J_both.isclose(J + lift + second)
# --8<-- [end:limits]

# --8<-- [start:stale]
V_new = w.prefix_values(both)
A_old = V["No"] - V[""]
A_new = V_new[w.prefixes.index("No")] - V_new[0]
print(f"No, for the old actor {A_old:.3f}")
print(f"No, for the new actor {A_new:.3f}")
# --8<-- [end:stale]

# --8<-- [start:count]
def count(prompts, mini_batch, epochs):
    return epochs * prompts // mini_batch

for epochs in 1, 2:
    updates = count(1024, 256, epochs)
    print(f"epochs {epochs}: {updates} updates")
# --8<-- [end:count]

# --8<-- [start:refreshed]
new = old + ratio.log()
seen = {"refreshed": new, "stored": old}
for name, kept in seen.items():
    seen[name] = (new - kept).exp()[1, 0]
    print(f"{name:9} {seen[name]:.3f}")
# --8<-- [end:refreshed]

# --8<-- [start:again]
z = w.edge_log_probs
path = [z]
for n in range(1, 6):
    z = update(z)
    path.append(w.log_softmax(z))
    print(f"update {n}: {ratios(z)[1, 0]:.3f}")
p_3 = path[3][first].exp()  # in the drawing
ratio_3 = p_3 / p
# The slips: steps of one length; of one factor.
same_steps = 1 - 5 * (1 - ratio[1, 0])
same_factor = ratio[1, 0] ** 5
# --8<-- [end:again]
