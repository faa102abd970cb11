"""Is GAE's variance below Monte Carlo's? All answers of a tree, three critics."""

# --8<-- [start:claim]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import four_token_tree

device = "cpu"  # or "cuda"
tree = four_token_tree(device)  # a row an answer
r, V = tree.token_level_rewards, tree.values
sway = tree.wrong_values - V  # 0 at s_0
critics = {
    "exact": V,
    "noisy": V + sway,
    "junk": V + 16 * sway,
}
all3, half = critics.values(), 0.5
good = tree.responses[:, 0] == 1  # a_0 = 1

def A_0(v, lam):  # of 8 equally likely answers
    ahead = v.roll(-1, 1)
    ahead[:, -1] = 0  # nothing after the end
    delta = (r + ahead - v)[good]
    decay = [lam**k for k in range(4)]
    return delta @ r.new_tensor(decay)

for name, v in critics.items():
    judge = gae(
        token_level_rewards=r,
        values=v,
        response_mask=tree.response_mask,
        gae_lambda=half,
    ).advantages[good, 0]
    assert A_0(v, half).allclose(judge)
    var = A_0(v, half).var(correction=0).item()
    mc = A_0(v, 1).var(correction=0).item()
    print(f"{name:5}  GAE {var:.4f}  MC {mc:.4f}")
    assert (var < mc) == (name != "junk")
# --8<-- [end:claim]

# --8<-- [start:exact]
truth = V[good, 1].mean() - V[0, 0]  # Q - V

def moments(v, lam):  # bias and variance of A_0
    A = A_0(v, lam)
    bias = (A.mean() - truth).item()
    return bias, A.var(correction=0).item()

def row(head, pairs):
    cells = (f"{b:8.4f}{v:7.4f}" for b, v in pairs)
    return f"{head:>6}" + "".join(cells)

heads = (f"{name:>15}" for name in critics)
print(" " * 6 + "".join(heads))
print("lambda" + 3 * "    bias    var")
for lam in 0.0, 0.5, 0.95, 1.0:
    pairs = [moments(v, lam) for v in all3]
    print(row(f"{lam:.2f}", pairs))
assert set(pairs) == {(0.0, mc)}  # lambda 1
# --8<-- [end:exact]

# --8<-- [start:sampled]
torch.manual_seed(0)
n = 10_000
drawn = 8 + torch.randint(8, (n,)).to(device)

def sampled(v, lam):  # bias, var, se of each
    A = gae(
        token_level_rewards=r[drawn],
        values=v[drawn],
        response_mask=tree.response_mask[drawn],
        gae_lambda=lam,
    ).advantages[:, 0]
    squares = (A - A.mean()) ** 2
    found = [A.mean() - truth, squares.mean()]
    off = [A.std() / n**0.5, squares.std() / n**0.5]
    return torch.stack([*found, *off]).tolist()

for lam in 0.0, 0.5, 0.95, 1.0:
    came = [sampled(v, lam) for v in all3]
    print(row(f"{lam:.2f}", [x[:2] for x in came]))
    print(row("+-", [x[2:] for x in came]))
    for v, (b, s, *se) in zip(all3, came):
        bias, var = moments(v, lam)
        assert abs(b - bias) <= 4 * se[0] + 1e-12
        assert abs(s - var) <= 4 * se[1] + 1e-12
# --8<-- [end:sampled]

# --8<-- [start:lower]
_, var = moments(critics["junk"], half)
print(f"{var:.4f} is {var / mc:.1f} times {mc:.4f}")
assert var < mc, "lambda < 1 raised the variance"
# --8<-- [end:lower]

# --8<-- [start:horizon]
G = r.sum(1)  # only the last r_t is not always 0
mean, path = [], []
for t in range(4):
    states = G.view(2**t, -1)  # a state a row
    var_G = states.var(1, correction=0)
    mean.append(var_G.mean().item())
    path.append(var_G[0b110 >> 3 - t].item())
print("mean ", *(f"{x:.4f}" for x in mean))
print("1,1,0", *(f"{x:.4f}" for x in path))
assert sorted(mean, reverse=True) == mean
assert path[0] > path[1], "less to come, more Var"
# --8<-- [end:horizon]

# --8<-- [start:mix]
from ppo_ref.advantages import n_step_advantages
from ppo_ref.examples import three_tokens

three, lam = three_tokens(device)._asdict(), 0.95
A = gae(**three, gae_lambda=lam).advantages[0, 0]
mix = 0 * A
for n in 1, 2, 3:
    A_n = n_step_advantages(**three, steps=n)[0, 0]
    mix += (1 - lam) * lam ** (n - 1) * A_n
print(f"n = 1, 2, 3: {mix:.4f}  GAE: {A:.4f}")
rest = lam**3 * A_n  # n = 4, 5, ...: all are A_3
assert (mix + rest).isclose(A)
assert mix.isclose(A), "n > 3 left out"
# --8<-- [end:mix]

# --8<-- [start:batch]
grid = [k / 20 for k in range(21)]
noisy = [moments(critics["noisy"], k) for k in grid]
best = {}
for size in 1, 16, 256:
    errors = [b**2 + v / size for b, v in noisy]
    best[size] = grid[errors.index(min(errors))]
    at = f"lambda {best[size]:.2f}"
    print(f"mean of {size:3}: {at}")
assert best[1] < best[16] < best[256]
# --8<-- [end:batch]
