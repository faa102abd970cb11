"""Do the tokens' excesses add up to that of the answer? True ones do, estimates not."""

# --8<-- [start:three]
import torch
from ppo_ref.advantages import gae, td_residuals
from ppo_ref.examples import three_tokens

device = "cpu"  # or "cuda"
r, V, mask = three_tokens(device)
batch = dict(
    token_level_rewards=r,
    values=V,
    response_mask=mask,
)
rows = {"delta": td_residuals(**batch)[0]}
for lam in 0.95, 1:
    estimate = gae(**batch, gae_lambda=lam)
    rows[f"A, {lam}"] = estimate.advantages[0]
print("token        0     1     2   sum")
for name, x in rows.items():
    cells = (f"{c:.3f}" for c in (*x, x.sum()))
    print(f"{name:8}", *cells)
excess = r.sum() - V[0, 0]
print(f"score - first V {excess:16.3f}")
assert rows["delta"].sum().isclose(excess)
assert not rows["A, 1"].sum().isclose(excess)
# --8<-- [end:three]

# --8<-- [start:tree]
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)  # a row an answer
G = tree.token_level_rewards.sum(1)
first = tree.responses[:, 0]
V_0 = G.mean()  # all answers are equally likely
Q_0 = [G[first == a].mean() for a in first]
Q_0 = torch.stack(Q_0)
V_1, Q_1 = Q_0, G  # all reward comes at the end
A = torch.stack([Q_0 - V_0, Q_1 - V_1], dim=1)

print("answer    A_0   A_1   sum  G - V")
for row, answer in enumerate(tree.responses):
    cells = *A[row], A[row].sum(), G[row] - V_0
    cells = (f"{x:5.2f}" for x in cells)
    print(*answer.tolist(), "   ", *cells)
assert A.sum(1).allclose(G - V_0)
judge = td_residuals(
    token_level_rewards=tree.token_level_rewards,
    values=tree.values,  # exact
    response_mask=tree.response_mask,
)
assert judge.allclose(A)
# --8<-- [end:tree]

# --8<-- [start:never]
gap = (A.sum(1) - (G - V_0)).abs().max()
print(f"largest gap {gap:.2f}")
assert gap > 1e-9, "true advantages add up"
# --8<-- [end:never]

# --8<-- [start:decay]
delta = td_residuals(
    token_level_rewards=tree.token_level_rewards,
    values=tree.wrong_values,
    response_mask=tree.response_mask,
)
print("answer   delta         A")
for row in 2, 3:  # a_0 = 1
    cells = *delta[row], *A[row]
    cells = (f"{x:5.2f}" for x in cells)
    answer = tree.responses[row].tolist()
    print(*answer, "  ", *cells)
assert delta.allclose(A), "a delta is no excess"
# --8<-- [end:decay]

# --8<-- [start:policy]
new = G.new_tensor([0.2, 0.8])  # of 0 and 1
prob = new[tree.responses].prod(1)
gain = prob @ G - G.mean()
print(f"mean G_0 {G.mean():.2f} -> {prob @ G:.2f}")
print(f"mean sum of A {prob @ A.sum(1):.2f}")
assert gain.isclose(prob @ A.sum(1))
# --8<-- [end:policy]
