"""GAE: one dial between a single TD error and all of them."""

# --8<-- [start:three]
from ppo_ref.examples import three_tokens

guess = three_tokens().values[0].tolist()
delta = (
    guess[1] - guess[0],
    guess[2] - guess[1],
    1 - guess[2],  # the score
)

def backward(delta, lam):
    A, later = [], 0  # nothing after the end
    for d in reversed(delta):
        later = d + lam * later
        A.insert(0, later)
    return A

lam = 0.95
three = backward(delta, lam)
print(*(f"{a:.3f}" for a in three))
# --8<-- [end:three]

# --8<-- [start:lambdas]
print("lambda   A_0   A_1   A_2")
table = {}
for x in 0, 0.5, lam, 1:
    table[x] = backward(delta, x)
    cells = (f"{a:.3f}" for a in table[x])
    print(f"{x:6.2f}", *cells)
# --8<-- [end:lambdas]

# --8<-- [start:tree]
exact, start, says = 0.5, 0.25, 0.1  # V
truth = exact - start  # what a first 1 is worth

def estimates(V_1, lam):
    """A_0 of a first 1: then 1, then 0."""
    d_0 = V_1 - start
    then_1 = d_0 + lam * (1 - V_1)
    then_0 = d_0 + lam * (0 - V_1)
    mean = (then_1 + then_0) / 2
    return then_1, then_0, mean

def show(V_1):
    print("lambda  then 1  then 0    mean    bias")
    for x in 0, 0.5, lam, 1:
        a, b, mean = estimates(V_1, x)
        bias = mean - truth
        cells = f"{a:7.3f} {b:7.3f} {mean:7.3f}"
        # z: a 0 without a sign
        print(f"{x:6.2f} {cells} {bias:z7.3f}")

show(says)
# --8<-- [end:tree]

# --8<-- [start:exact]
show(exact)
# --8<-- [end:exact]

# --8<-- [start:gamma]
gamma = 0.99
print(f"{gamma**100:.3f} {gamma**1000:.5f}")
# --8<-- [end:gamma]

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
