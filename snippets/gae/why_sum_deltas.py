"""Is one delta enough? With an exact V it is; a wrong one needs the later deltas."""

# --8<-- [start:tree]
from ppo_ref.advantages import td_residuals
from ppo_ref.examples import two_token_tree

device = "cpu"  # or "cuda"
tree = two_token_tree(device)  # a row an answer
r = tree.token_level_rewards
mask = tree.response_mask
good = tree.responses[:, 0] == 1  # a_0 = 1
G = r.sum(1)  # all answers are equally likely
A = G[good].mean() - G.mean()  # Q - V, no critic
print(f"true A:  {A:.2f}")
exact, wrong = tree.values, tree.wrong_values
for name, V in ("exact", exact), ("wrong", wrong):
    d_0 = r[:, 0] + V[:, 1] - V[:, 0]
    d_1 = r[:, 1] - V[:, 1]  # nothing comes after
    d = d_0[good].mean(), d_1[good].mean()
    text = f"{name} V: {d[0]:5.2f} at token 0,"
    print(text, f"then {d[1]:.2f} on average")
    assert A.isclose(d[0] + d[1])
    judge = td_residuals(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
    )
    assert judge.T[0].allclose(d_0)
    assert judge.T[1].allclose(d_1)
# --8<-- [end:tree]

# --8<-- [start:critics]
import torch

torch.manual_seed(0)
device = "cpu"  # or "cuda"
T = 4  # tokens, 1 if right; three right score 1
every = torch.cartesian_prod(*[torch.arange(2)] * T)
every = every.to(device)  # all 16 answers

def score(answers):
    return (answers.sum(-1) >= 3).double()

def critic(read, prior):  # V: mean score by prefix
    G, V = score(read)[..., None], []
    for t in range(T):
        same = read[..., None, :t] == every[:, :t]
        same = same.all(-1).double()
        wins = (G * same).sum(-2) + prior / 2
        V.append(wins / (same.sum(-2) + prior))
    return torch.stack(V, -1)

exact = critic(every[None], prior=0)
read = torch.randint(2, (300, 32, T)).to(device)
learned = critic(read, prior=1)  # 300 critics
# --8<-- [end:critics]

# --8<-- [start:bias]
from itertools import pairwise
from ppo_ref.advantages import gae

G, right = score(every), every[:, 0] == 1
credit = G[right].mean() - G[~right].mean()

def token_0(V, lam):  # bias and noise of A_0
    r = torch.zeros_like(V)
    r[..., -1] = G
    A = gae(
        token_level_rewards=r.view(-1, T),
        values=V.view(-1, T),
        response_mask=r.view(-1, T) >= 0,
        gae_lambda=lam,
    ).advantages[:, 0].view(len(V), -1)
    good, bad = A[:, right], A[:, ~right]
    bias = good.mean(1) - bad.mean(1) - credit
    return bias.abs(), good.std(1, correction=0)

print("        exact V         learned V")
print("lambda   bias  noise    bias  noise     se")
table, lams = [], (0, 0.5, 0.95, 1)
for lam in lams:
    bias, noise = token_0(learned, lam)
    se = bias.std() / len(bias) ** 0.5
    row = *token_0(exact, lam), bias.mean()
    row = *row, noise.mean(), se
    table.append([x.item() for x in row])
    cells = (f"{x:6.4f}" for x in table[-1])
    print(f"{lam:6.2f}", *cells)
assert max(row[0] for row in table) < 1e-12
for less, more in pairwise(table):
    assert less[1] < more[1]  # noise up, bias down
    assert less[2] - 4 * less[4] > more[2]
# --8<-- [end:bias]

# --8<-- [start:later]
late = exact.clone()
late[:, right, 2] += 1  # V(s_2), token 0 right
print("lambda   bias")
for lam in 0, 0.25, 0.5, 0.75, 0.95, 1:
    bias, _ = token_0(late, lam)
    print(f"{lam:6.2f} {bias.item():.4f}")
    mixed = bias.new_tensor((1 - lam) * lam)
    assert bias.allclose(mixed)
# --8<-- [end:later]

# --8<-- [start:delayed]
from ppo_ref.examples import three_tokens

V = three_tokens(device).values[0]
p = V.new_tensor([3 / 4, 2 / 3, 3 / 5])  # of right
for t in range(3):  # one token wrong: score 0
    assert p[t:].prod().isclose(V[t])  # V is exact
win = p[1:].prod()  # score 1, once token 0 is right
good, bad = 1 - V[1], 0 - V[1]  # delta_1 + delta_2
mean = win * good + (1 - win) * bad
print(f"{good:.1f}, probability {win:.1f}")
print(f"or {bad:.1f}: mean {mean:z.1f}")
assert mean > 1e-9, "delta_0 lost nothing"
# --8<-- [end:delayed]

# --8<-- [start:average]
weights = [0.95**k for k in range(1000)]
print(f"sum of weights {sum(weights):.1f}")
td0, gae95 = table[0][1], table[2][1]
print(f"noise {td0:.4f} -> {gae95:.4f}")
assert gae95 < td0, "above TD(0), noise rises"
# --8<-- [end:average]

# --8<-- [start:exponent]
deltas, factor, length = (0.1, 0.2, 0.4), 0.95, 3

def A_0(last):  # by the exponent on the last delta
    weights = 1, factor, factor**last
    terms = zip(weights, deltas, strict=True)
    return sum(w * d for w, d in terms)

A = 0.0
for d_t in reversed(deltas):  # the next line
    A = d_t + factor * A
print(f"recursion {A:.4f}")
for last in length - 1, length + 1:
    print(f"exponent {last} {A_0(last):.4f}")
assert abs(A_0(length - 1) - A) < 1e-12
off = A_0(length + 1) - A
assert abs(off) < 1e-12, "two too many"
# --8<-- [end:exponent]

# --8<-- [start:shift]
from ppo_ref.advantages import gae
from ppo_ref.examples import three_tokens

device = "cpu"  # or "cuda"
r, V, mask = three_tokens(device)

def advantages(V, lam):
    estimate = gae(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
        gae_lambda=lam,
    )
    return estimate.advantages[0]

for lam in 0, 1:
    for more in 0.0, 0.1:
        A = advantages(V + more, lam)
        cells = (f"{a:.1f}" for a in A)
        print(f"lambda {lam}, V + {more}:", *cells)
        less = advantages(V, lam) - A
        same = [more * lam, more * lam, more]
        assert less.allclose(V.new_tensor(same))
# --8<-- [end:shift]
