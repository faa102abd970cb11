"""Is GAE's variance below Monte Carlo's? All answers of a tree, three critics."""

# --8<-- [start:exact]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import four_token_tree

device = "cpu"  # or "cuda"
tree = four_token_tree(device)  # a row an answer
mask = tree.response_mask
r, V = tree.token_level_rewards, tree.values
sway = tree.wrong_values - V  # 0 at s_0
noisy, junk = V + sway, V + 16 * sway
critics = V, noisy, junk
good = tree.responses[:, 0] == 1  # a_0 = 1
truth = V[good, 1].mean() - V[0, 0]  # Q - V

def A_0(v, lam):  # of 8 equally likely answers
    ahead = v.roll(-1, 1)
    ahead[:, -1] = 0  # nothing after the end
    delta = (r + ahead - v)[good]
    decay = [lam**k for k in range(4)]
    return delta @ r.new_tensor(decay)

print("critic lam  the 8 estimates")
for name, v in ("exact", V), ("junk", junk):
    for lam in 0.0, 0.5, 1.0:
        A = A_0(v, lam)
        judge = gae(
            token_level_rewards=r,
            values=v,
            response_mask=mask,
            gae_lambda=lam,
        ).advantages[good, 0]
        assert A.allclose(judge)
        cells = " ".join(f"{x:4.1f}" for x in A)
        print(f"{name:6}{lam:4.1f}  {cells}")
        if v is V or lam == 1:
            assert A.mean().isclose(truth)
# --8<-- [end:exact]

# --8<-- [start:moments]
def moments(A):  # bias, variance
    bias = A.mean(-1) - truth
    var = A.var(-1, correction=0)
    return torch.stack([bias, var], -1)

print(f"{'exact':>15}{'noisy':>16}{'junk':>15}")
print(" lam" + 3 * "    bias     var")
for lam in 0.0, 0.1, 0.5, 0.95, 1.0:
    A = torch.stack([A_0(v, lam) for v in critics])
    row = moments(A).flatten()
    cells = (f"{x:z7.4f}" for x in row)
    print(f"{lam:.2f}", " ".join(cells))
mc = moments(A)[0, 1]
assert (moments(A) == moments(A)[0]).all()  # lam 1
assert moments(A_0(noisy, 0.5))[1] < mc
assert moments(A_0(junk, 0.5))[1] > mc
assert moments(A_0(junk, 0.1))[1] < mc
# --8<-- [end:moments]

# --8<-- [start:tame]
tame = junk.clamp(0, 1)  # a 0 or a 1
failed = 1 - r[good].sum(1)  # score 0
print("lambda  even  easy")
for lam in 0.0, 0.5, 0.95, 1.0:
    even = A_0(tame, lam)
    easy = even + lam**3 * failed  # all score 1
    spread = [moments(A)[1] for A in (even, easy)]
    cells = (f"{x:z.3f}" for x in spread)
    print(f"{lam:6.2f}", *cells)
    assert spread[0] <= mc
    assert lam in (0, 1) or spread[1] > 0
# --8<-- [end:tame]

# --8<-- [start:lower]
_, var = moments(A_0(junk, 0.5))
print(f"{var:.4f} is {var / mc:.1f} times {mc:.4f}")
assert var < mc, "lambda < 1 raised the variance"
# --8<-- [end:lower]

# --8<-- [start:horizon]
G = r.sum(1)  # one term: the score, 0 or 1
mean, path = [], []
for t in range(4):
    states = G.view(2**t, -1)  # a state a row
    var = states.var(1, correction=0)
    mean.append(var.mean().item())
    path.append(var[0b110 >> 3 - t].item())
print("mean ", *(f"{x:.4f}" for x in mean))
print("1,1,0", *(f"{x:.4f}" for x in path))
assert sorted(mean, reverse=True) == mean
assert path[0] > path[1], "less to come, more Var"
# --8<-- [end:horizon]

# --8<-- [start:mix]
from ppo_ref.advantages import td_residuals
from ppo_ref.examples import three_tokens

three, lam = three_tokens(device)._asdict(), 0.95
A = gae(**three, gae_lambda=lam).advantages[0, 0]
delta = td_residuals(**three)[0]
mix = 0 * A
for n in 1, 2, 3:
    A_n = delta[:n].sum()  # cut after n tokens
    mix += (1 - lam) * lam ** (n - 1) * A_n
print(f"n = 1, 2, 3: {mix:.4f}  GAE: {A:.4f}")
rest = lam**3 * A_n  # n = 4, 5, ...: all are A_3
assert (mix + rest).isclose(A)
assert mix.isclose(A), "n > 3 left out"
# --8<-- [end:mix]

# --8<-- [start:batch]
grid = [k / 20 for k in range(21)]
pairs = [moments(A_0(noisy, k)) for k in grid]
best = []
for size in 1, 16, 256:
    errors = [b**2 + s / size for b, s in pairs]
    lam = grid[errors.index(min(errors))]
    print(f"mean of {size:3}: lambda {lam:.2f}")
    best.append(lam)
assert best == sorted(best) and best[0] < best[-1]
# --8<-- [end:batch]
