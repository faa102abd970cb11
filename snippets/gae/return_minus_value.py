"""Return minus value on three tokens: climbed in steps, and as one sample of Q - V."""

# --8<-- [start:three]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import three_tokens

device = "cpu"  # or "cuda"
r, V, mask = three_tokens(device)
G = r.flip(1).cumsum(1).flip(1)  # yet to earn

V_next = torch.cat([V[:, 1:], 0 * V[:, :1]], 1)
delta = r + V_next - V
climb = delta.flip(1).cumsum(1).flip(1)

rows = {"V": V, "G": G, "G - V": G - V}
for name, x in (rows | {"delta": delta}).items():
    print(f"{name:6}", *(f"{v:.1f}" for v in x[0]))
judge = gae(  # gamma = lambda = 1, as in verl
    token_level_rewards=r,
    values=V,
    response_mask=mask,
)
assert judge.advantages.allclose(G - V)
assert climb.allclose(G - V)
# --8<-- [end:three]

# --8<-- [start:lambdas]
def A(lam):
    return gae(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
        gae_lambda=lam,
    ).advantages[0]

lambdas = 1, 0.95, 0.5, 0
print("lambda     A_0     A_1     A_2")
for lam in lambdas:
    cells = (f"{a:7.4f}" for a in A(lam))
    print(f"{lam:6.2f}", *cells)
    steps = [lam**k * delta[0, k] for k in range(3)]
    assert A(lam)[0].isclose(sum(steps))
# --8<-- [end:lambdas]

# --8<-- [start:draws]
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)
one = tree.responses[:, 0] == 1  # the same a_0
total = tree.token_level_rewards[one].sum(1)
before, after = tree.values[one].T  # exact
sample = total - before
mean = tree.actor_probs[one, 1] @ sample
Q = after[0]  # r_0 = 0 there
print("G - V", *(f"{x:.2f}" for x in sample))
print(f"mean {mean:.2f}, Q - V {Q - before[0]:.2f}")
assert mean.isclose(Q - before[0])
# --8<-- [end:draws]

# --8<-- [start:definition]
print("G - V", *(f"{x:.2f}" for x in sample))
assert sample[0] == sample[1], "one action, two A"
# --8<-- [end:definition]

# --8<-- [start:stable]
spread = {}
for lam in 1, 0.95:
    first = gae(
        token_level_rewards=r.repeat(2, 1),
        values=V.new_tensor(
            [[0.3, 0.4, 0.6], [0.3, 0.9, 0.2]]
        ),
        response_mask=mask.repeat(2, 1),
        gae_lambda=lam,
    ).advantages[:, 0]
    cells = (f"{a:.3f}" for a in first)
    print(f"lambda {lam:4}: A_0", *cells)
    spread[lam] = first.max() - first.min()
assert spread[0.95] <= spread[1], "GAE spreads more"
# --8<-- [end:stable]

# --8<-- [start:gamma]
from ppo_ref.advantages import td_residuals

last = []
print("gamma  the three deltas  score left")
for gamma in 1, 0.99, 0.9:
    deltas = td_residuals(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
        gamma=gamma,
    )[0]
    cells = (f"{d:.3f}" for d in deltas)
    left = f"{gamma**999:11.0e}"
    print(f"{gamma:5}", *cells, left)
    last.append(deltas[2])
assert last[0] != last[1], "delta_2 = r - V"
# --8<-- [end:gamma]

# --8<-- [start:rewards]
for name, x in ("G - V", G - V), ("r - V", r - V):
    print(name, *(f"{v:4.1f}" for v in x[0]))
same = (r - V).sign().equal((G - V).sign())
assert same, "a right answer, punished"
# --8<-- [end:rewards]

# --8<-- [start:whitened]
from ppo_ref.masking import masked_whiten

white = masked_whiten(G - V, mask)
for x in G - V, white:
    print(" ".join(f"{a:5.2f}" for a in x[0]))
assert white[0, 2] < 0 < (G - V)[0, 2]
# --8<-- [end:whitened]
