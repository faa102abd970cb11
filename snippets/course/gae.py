"""GAE: one dial between a single TD error and all of them."""

# --8<-- [start:three]
from ppo_ref.examples import world

w, row = world(), 11  # "No idea, maybe 2"
before = w.values[row].tolist()  # V
after = [*before[1:], w.scores[row].item()]
delta = [after[t] - before[t] for t in range(6)]

def backward(delta, lam):
    A, later = [], 0  # nothing after the end
    for d in reversed(delta):
        later = d + lam * later
        A.insert(0, later)
    return A

lam = 0.95
lucky = backward(delta, lam)
for row_of in delta, lucky:
    print(*(f"{x:z6.3f}" for x in row_of))
# --8<-- [end:three]

# --8<-- [start:lambdas]
print("lambda    No  idea     ,")
table = {}
for x in 0, 0.5, lam, 1:
    table[x] = backward(delta, x)
    cells = (f"{a:5.2f}" for a in table[x][:3])
    print(f"{x:6.2f}", *cells)
# --8<-- [end:lambdas]

# --8<-- [start:over]
import torch
from ppo_ref import advantages

chance = w.response_probs(w.edge_log_probs)
yes, no = range(9), range(9, 13)  # by first token

def of_first_token(rows, says, lam):
    """Its mean advantage, and the spread."""
    told = world(critic={"No": says})
    r = torch.zeros_like(told.values)
    ends = told.response_mask.sum(1) - 1
    r[range(len(ends)), ends] = told.scores
    A = advantages.gae(
        token_level_rewards=r,
        values=told.values,
        response_mask=told.response_mask,
        gae_lambda=lam,
    ).advantages[rows, 0]
    p = chance[rows] / chance[rows].sum()
    mean = p @ A
    spread = (p @ (A - mean) ** 2).sqrt()
    return mean.item(), spread.item()

start, after_no = w.exact_values[9, :2].tolist()
truth = after_no - start  # of "No"

def show(says):
    print(f"critic says {says:.2f}")
    print("lambda  mean   bias spread")
    for x in 0, 0.5, lam, 1:
        mean, spread = of_first_token(no, says, x)
        cells = f"{mean:5.2f} {mean - truth:z6.2f}"
        print(f"{x:6.2f} {cells} {spread:6.2f}")

low, high = 0.40, 0.90  # after "No"
show(low)
show(high)
# --8<-- [end:over]

# --8<-- [start:exact]
precise = round(after_no, 2)
show(precise)
# --8<-- [end:exact]

# --8<-- [start:turn]
turn = 0.17
for x in 0, turn, 1:
    ours, _ = of_first_token(no, high, x)
    theirs, _ = of_first_token(yes, high, x)
    cells = f"No {ours:5.2f} Yes {theirs:5.2f}"
    print(f"{x:4.2f} {cells}")
    assert (ours > theirs) == (x < turn)
# --8<-- [end:turn]

# --8<-- [start:gamma]
gamma = 0.99
print(f"{gamma**100:.3f} {gamma**1000:.5f}")
# --8<-- [end:gamma]

# --8<-- [start:short]
small = 0.9
worth = [small ** (n - 1) for n in (4, 6)]
print(*(f"{x:.3f}" for x in worth))
# --8<-- [end:short]
# --8<-- [start:batch]
import torch
from ppo_ref.examples import shared_batch

batch = shared_batch()
mask = batch.response_mask
V = batch.values * mask  # padding: 0
r = torch.zeros_like(V)
r[0, 5], r[1, 3] = batch.scores

def gae(V, lam, gamma=1):
    after = torch.zeros_like(V)
    after[:, :-1] = V[:, 1:]
    delta = r + gamma * after - V
    A, later = torch.zeros_like(V), 0
    for t in reversed(range(V.shape[1])):
        later = delta[:, t] + gamma * lam * later
        A[:, t] = later
    return A
# --8<-- [end:batch]

# --8<-- [start:both]
from ppo_ref import advantages

for x in 0, lam, 1:
    A = gae(V, x)
    print(f"lambda {x}")
    for row, n in zip(A, mask.sum(1), strict=True):
        print(*(f"{a:6.3f}" for a in row[:n]))
    verdict = advantages.gae(
        token_level_rewards=r,
        values=batch.values,
        response_mask=mask,
        gae_lambda=x,
    )
    assert verdict.advantages.allclose(A)
# --8<-- [end:both]

# --8<-- [start:half]
half = gae(V, 0.5)[1, :4]
print(*(f"{a:.4f}" for a in half))
d = gae(V, 0)[1, :4]
one_on = d[0] + d[1] / 2  # slips
all_alike = d[0] + d[1:].sum() / 2
# --8<-- [end:half]

# --8<-- [start:long]
tokens = 1000
weight = lam ** (tokens - 1)
print(f"{weight:.0e}")
# --8<-- [end:long]

# --8<-- [start:unmasked]
for x in lam, 1:
    right = gae(V, x)[1, :4]
    wrong = gae(batch.values, x)[1, :4]
    print(f"lambda {x}")
    for row in right, wrong:
        print(*(f"{a:6.3f}" for a in row))
# --8<-- [end:unmasked]
