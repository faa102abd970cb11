"""Does V(s_0) hold r_0? Lower r_0 in every answer and see which V moves."""

# --8<-- [start:comment]
import torch
# Rewards of the answers 0 0, 0 1, 1 0 and 1 1
r = torch.tensor([[0, 0], [0, 0], [0, 0], [0, 1.0]])
for cost in 0.0, 0.1:
    r[:, 0] = -cost  # what token 0 earns
    G = r.flip(1).cumsum(1).flip(1)  # still to come
    V0, V1 = G[:, 0].mean(), G[2:, 1].mean()
    print(f"V(s_0) {V0:.2f}, V(s_1) {V1:.2f}")
# --8<-- [end:comment]

# --8<-- [start:lower]
from ppo_ref.advantages import monte_carlo_returns
from ppo_ref.examples import two_token_tree

device = "cpu"  # or "cuda"
tree = two_token_tree(device)  # a row an answer
p, mask = tree.actor_probs, tree.response_mask
one = tree.responses[:, 0] == 1  # a_0 = 1

def V(r):  # means at s_0, and at s_1 if a_0 = 1
    G0, G1 = r[:, 0] + r[:, 1], r[:, 1]  # ahead
    judge = monte_carlo_returns(
        token_level_rewards=r, response_mask=mask
    )
    assert judge.T[0].allclose(G0)
    assert judge.T[1].allclose(G1)
    return p.prod(1) @ G0, p[one, 1] @ G1[one]

r = tree.token_level_rewards
less = r - r.new_tensor([0.1, 0.0])  # lower r_0
old, new = V(r), V(less)
for t in 0, 1:
    print(f"V(s_{t}): {old[t]:.2f} -> {new[t]:.2f}")
assert new[0].isclose(old[0] - 0.1)
assert new[1] == old[1]
# --8<-- [end:lower]

# --8<-- [start:numbers]
from ppo_ref.examples import shared_batch
from ppo_ref.kl import kl_k1
from ppo_ref.rewards import token_level_rewards
from ppo_ref.rewards import token_level_scores
from ppo_ref.trace import trace

device = "cpu"  # or "cuda"
batch = shared_batch(device)
rewards = token_level_rewards(
    token_level_scores=token_level_scores(
        batch.scores, batch.response_mask
    ),
    kl=kl_k1(
        log_probs=batch.old_log_probs,
        ref_log_probs=batch.ref_log_probs,
    ),
    response_mask=batch.response_mask,
    kl_coef=batch.kl_coef,
)
for row in 0, 1:
    table = trace(
        token_level_rewards=rewards,
        values=batch.values,
        response_mask=batch.response_mask,
        row=row,
    )
    print(f"row {row}\n{table}")
# --8<-- [end:numbers]

# --8<-- [start:written]
print(f"V(s_1): {old[1]:.2f} -> {new[1]:.2f}")
assert new[1] < old[1], "V(s_1) does not hold r_0"
# --8<-- [end:written]

# --8<-- [start:textbook]
book = 0.0  # S_0, A_0, R_1, S_1, A_1, R_2
for a in 0, 1:  # a mean over A_0
    S_1 = tree.responses[:, 0] == a
    R_1, pi = less[S_1][0, 0], p[S_1][0, 0]
    V_S_1 = p[S_1, 1] @ less[S_1, 1]  # mean R_2
    book += pi * (R_1 + V_S_1)
print(f"verl {new[0]:.2f}, textbook {book:.2f}")
assert book.isclose(new[0])
# --8<-- [end:textbook]

# --8<-- [start:sum]
sums = rewards.sum(1)  # r(0) + ... + r(5)
print("sums  ", *[f"{x:.4f}" for x in sums])
v = batch.values[:, 0]
print("V(s_0)", *[f"{x:.4f}" for x in v])
assert sums.allclose(v), "V(s_0) is no row's sum"
# --8<-- [end:sum]

# --8<-- [start:targets]
from ppo_ref.advantages import gae

def target(r, lam):  # returns[:, 0] of answer 1, 1
    estimate = gae(
        token_level_rewards=r,
        values=tree.values,
        response_mask=mask,
        gae_lambda=lam,
    )
    return estimate.returns[3, 0]

for lam in 0, 0.5, 1:
    was, now = target(r, lam), target(less, lam)
    print(f"lambda {lam}: {was:.2f} -> {now:.2f}")
    assert now.isclose(was - 0.1)
# --8<-- [end:targets]
