"""Entropy: how even a split is, and what becomes of it in training."""

# --8<-- [start:even]
import torch
from ppo_ref.examples import world

w = world()

def entropy(log_probs):
    """How even the split after each prefix is."""
    terms = -log_probs.exp() * log_probs
    sums = terms.new_zeros(len(w.prefixes))
    return sums.index_add(0, w.parents, terms)

H = entropy(w.edge_log_probs)
even = dict(zip(w.prefixes, H.tolist()))
for prefix, h in even.items():
    if h:
        print(f"{h:.4f} {prefix or '(the prompt)'}")
coin = torch.tensor(2.0).log()
# --8<-- [end:even]

# --8<-- [start:token]
def per_token(log_probs):
    """Mean over all tokens that are written."""
    often = w.prefix_probs(log_probs).detach()
    return often @ entropy(log_probs) / often.sum()

actor = per_token(w.edge_log_probs)
reference = per_token(w.edge_ref_log_probs)
print(f"actor     {actor:.4f}")
print(f"reference {reference:.4f}")
assert actor < reference
# --8<-- [end:token]

# --8<-- [start:train]
def train(updates, bonus=0):
    """Log-probs after each of the exact updates."""
    z, path = w.edge_log_probs, [w.edge_log_probs]
    for _ in range(updates):
        z = z.detach().requires_grad_()
        log_probs = w.log_softmax(z)
        goal = w.mean_score(log_probs)
        goal = goal + bonus * per_token(log_probs)
        (grad,) = torch.autograd.grad(goal, z)
        z = w.log_softmax(z + grad).detach()
        path.append(z)
    return path

def shares(log_probs):
    """J, its two parts, and the entropy."""
    P = w.response_probs(log_probs)
    J = P @ w.scores
    return (
        J.item(),
        P[0].item(),
        (J - P[0]).item(),
        per_token(log_probs).item(),
    )

plain = train(500)
print("updates    J  answer 0 others entropy")
for n in 0, 20, 100, 500:
    J, main, others, h = shares(plain[n])
    cells = f"{J:.4f}   {main:.4f} {others:.4f}"
    print(f"{n:7} {cells}  {h:.4f}")
J_0, main_0, others_0, _ = shares(plain[0])
J_end, main_end, others_end = J, main, others
in_step = others_0 / J_0 * J  # slips
# --8<-- [end:train]

# --8<-- [start:why]
at = {p: i for i, p in enumerate(w.prefixes)}
V = w.prefix_values(w.edge_log_probs)
pairs = (
    ("Yes", "No"),
    ("Yes ,", "Yes !"),
    ("Yes , 1+1", "Yes , it's"),
    ("Yes , 1+1 =", "Yes , 1+1 is"),
)
for good, less in pairs:
    up, down = V[at[good]], V[at[less]]
    print(f"{up:.2f} {good:12} {down:.2f} {less}")
    assert up > down
# --8<-- [end:why]

# --8<-- [start:short]
length = w.response_mask.sum(1)
short = w.scores * (length <= 5)  # the new rule

def hits(log_probs):
    """Of one answer, and of at least one of 8."""
    p = w.response_probs(log_probs) @ short
    return p.item(), (1 - (1 - p) ** 8).item()

print("              one   in 8")
for n in 0, 500:
    one, in_8 = hits(plain[n])
    print(f"{n:3} updates {one:.3f}  {in_8:.3f}")
p_0, in_8_0 = hits(plain[0])
wait_0, wait = 1 / p_0, 1 / one
# --8<-- [end:short]

# --8<-- [start:bonus]
print("bonus    J  answer 0 others entropy")
kept = {}
for bonus in 0, 0.1, 1, 10:
    kept[bonus] = train(500, bonus)[-1]
    J, main, others, h = shares(kept[bonus])
    cells = f"{J:.4f}   {main:.4f} {others:.4f}"
    print(f"{bonus:5} {cells}  {h:.4f}")
small, large = shares(kept[0.1]), shares(kept[10])
short_kept, _ = hits(kept[0.1])
# --8<-- [end:bonus]

# --8<-- [start:higher]
half = 0.5

def batches(p, high):
    """The fewest until it is as likely as that."""
    n = 0
    while p < half:
        p, n = p * (1 + high), n + 1
    return n

first = w.edge_log_probs[w.parents == 0].exp()
p_yes, _, p_let = first.tolist()
narrow, wide = 0.2, 0.28
for high in narrow, wide:
    top = p_let * (1 + high)
    n = batches(p_let, high)
    print(f"{1 + high:.2f}  {top:.5f}  {n} batches")
# --8<-- [end:higher]

# --8<-- [start:by_hand]
p = w.edge_log_probs[w.parents == at["Yes , it's"]]
p = p.exp()
terms = -p * p.log()
cells = (f"{x:.3f}" for x in terms)
print(" + ".join(cells), f"= {terms.sum():.3f}")
unweighted = -p.log().sum()  # slips
bits = terms.sum() / coin
# --8<-- [end:by_hand]

# --8<-- [start:bang]
after_yes = w.edge_log_probs[w.parents == at["Yes"]]
bang = after_yes[1].exp()
for high in narrow, wide:
    print(f"{1 + high:.2f}: {batches(bang, high)}")
n_bang, n_wide = (
    batches(bang, x) for x in (narrow, wide)
)
times = half / bang  # slips
added = ((times - 1) / narrow).ceil()
# --8<-- [end:bang]

# --8<-- [start:one_update]
from ppo_ref.losses import policy_loss

log_probs = w.old_log_probs.requires_grad_()
grads = []
for high in narrow, wide, 10:
    loss = policy_loss(
        log_probs=log_probs,
        old_log_probs=w.old_log_probs.detach(),
        advantages=w.scores[:, None] - w.values,
        response_mask=w.response_mask,
        clip_range=(narrow, high),
    ).loss
    grads += torch.autograd.grad(loss, log_probs)
apart = (grads[0] - grads[1]).abs().max()
apart_10 = (grads[0] - grads[2]).abs().max()
print(f"{apart:.1f} {apart_10:.1f}")
# --8<-- [end:one_update]
