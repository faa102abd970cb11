"""What the ratio puts right and what it leaves, exactly, on the two-token tree."""

# --8<-- [start:objectives]
import torch
from torch.nn.functional import logsigmoid
from ppo_ref.examples import two_token_tree
from ppo_ref.losses import surrogate_objective

device = "cpu"  # or "cuda"
tree = two_token_tree(device)  # a row an answer
a, old = tree.responses, tree.actor_probs.log()
mask = tree.response_mask
G = tree.token_level_rewards.sum(1)
A = G[:, None] - tree.values  # old's; lambda 1

def log_probs(x):  # x: the actor's one weight
    return logsigmoid(x * (2 * a - 1))

def slope(y, x):
    return torch.autograd.grad(y, x, None, True)[0]

print("       mean score        slope")
print("  x    true    PPO    true    PPO")
for step in 0, 0.5, 1, 2:
    x = G.new_tensor(step, requires_grad=True)
    now = log_probs(x)
    J = now.sum(1).exp() @ G  # the mean score
    gain = ((now - old).exp() * A).sum(1).mean()
    L = G.mean() + gain
    both = slope(J, x), slope(L, x)
    row = torch.stack([J, L, *both])
    cells = (f"{v:7.3f}" for v in row.tolist())
    print(f"{step:3}", *cells, sep="")
    judge = surrogate_objective(
        log_probs=now,
        old_log_probs=old,
        advantages=A,
        response_mask=mask,
    )
    assert gain.isclose(2 * judge)  # of two tokens
    same = row[::2].isclose(row[1::2]).all()
    assert same == (step == 0)
# --8<-- [end:objectives]

# --8<-- [start:epoch]
torch.manual_seed(0)
rows = torch.randint(4, (1024,)).to(device)  # old's
x = G.new_tensor(0.0, requires_grad=True)
away = []  # mean |ratio - 1|, before each step
for mini in rows.split(256):  # epoch 1
    ratio = (log_probs(x) - old)[mini].exp()
    mean = (ratio.detach() - 1).abs().mean()
    away.append(mean.item())
    L = (ratio * A[mini]).mean()
    x.data += torch.autograd.grad(L, x)[0]
print(*(f"{r:.3f}" for r in away))
assert not any(away), "only mini-batch 0 is at 1"
# --8<-- [end:epoch]

# --8<-- [start:prefix]
x = G.new_tensor(2.0)  # the actor moved on
often = x.sigmoid()  # a 1, in every state
ratio = (log_probs(x) - old).exp()
one, two = (a == 1).T
w = ratio[:, 1] / 4  # on the second token
share = w[one].sum()  # of those after a 1
after = w[one & two].sum() / share
its_A = A[one, 0].mean()
rows = {
    "1 after a 1": (after, often),
    "1 comes first": (share, often),
    "its advantage": (its_A, often - often**2),
}
print("               data  actor")
for name, pair in rows.items():
    cells = (f"{y:6.3f}" for y in pair)
    print(f"{name:13}", *cells)
choice, prefix, frozen = (
    x.isclose(y) for x, y in rows.values()
)
assert choice
assert prefix and frozen, "prefix and A stay old's"
# --8<-- [end:prefix]

# --8<-- [start:three]
engine = old.new_tensor([0.4, 0.6]).log()[a]
w = (old - engine).exp()
p, q = (y.sum(1, True).exp() for y in (engine, old))
x = G.new_tensor(0.0, requires_grad=True)
ratio = (log_probs(x) - old).exp()
print("every ratio", *ratio.unique().tolist())
slopes = []
for weight in p, p * w, q:
    L = (weight * ratio * A).sum()
    slopes.append(slope(L, x))
names = "as it is", "with w", "by old"
for name, y in zip(names, slopes):
    print(f"slope {name:8} {y:.3f}")
first, _, true = slopes
assert first.isclose(true), "data not old's"
# --8<-- [end:three]

# --8<-- [start:unseen]
data = [0, 2, 3]  # answers; (0, 1) is not seen
Q = G.new_zeros(3, 2)  # by state and token
Q[1, 1] = 0.8  # a guess about (0, 1)
for row in data * 100:  # passes over the same data
    first, second = a[row].tolist()
    Q[1 + first, second] = G[row]
    Q[0, first] = Q[1 + first].max()
print(f"Q of a first 0: {Q[0, 0]:.2f}, true 0")
print(f"Q of a first 1: {Q[0, 1]:.2f}, true 1")
assert Q[0, 0] < 0.1, "what is unseen stays a guess"
# --8<-- [end:unseen]

# --8<-- [start:steps]
x = G.new_tensor(2.0)  # the policy to be judged
one = a[:, 0] == 1  # old wrote a first 1
then = log_probs(x)[one, 1].exp()  # 0 or 1 next
w = (then.log() - old[one, 1]).exp()
worth = {
    "one step": then @ G[one],
    "two steps": G[one].mean(),
    "weighted": (w * G[one]).mean(),
}
for name, y in worth.items():
    print(f"{name:9} {y:.3f}")
true, plain, mended = worth.values()
assert mended.isclose(true)
assert plain.isclose(true), "old wrote token 1"
# --8<-- [end:steps]

# --8<-- [start:triad]
own = G.new_tensor([[1, 0], [0, 1]])
tied = G.new_tensor([[1], [2]])  # one weight

def first_value(rows, lam=0, whole=False):
    weight = rows.new_ones(rows.shape[1])
    for _ in range(100):  # the score is 0
        V = rows @ weight
        gap = (1 - lam) * V[1] - V[0]
        weight = weight + 0.1 * gap * rows[0]
        if whole:  # the last token as well
            gap = 0 - rows[1] @ weight
            weight = weight + 0.1 * gap * rows[1]
    return (rows @ weight)[0].item()

found = {
    "all three": first_value(tied),
    "own values": first_value(own),
    "lambda 1": first_value(tied, lam=1),
    "on-policy": first_value(tied, whole=True),
}
for name, y in found.items():
    print(f"{name:10} {y:.1e}")
assert found["all three"] < 2, "V ran away"
# --8<-- [end:triad]
