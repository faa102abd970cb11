"""Whitening the advantages: how, why, over which tokens, and its mask."""

# --8<-- [start:by_hand]
import torch
from ppo_ref.examples import world
from ppo_ref.masking import masked_whiten

w = world()
G = w.scores[:, None]
all_A = (G - w.values) * w.response_mask
rows = [0, 11]  # Yes, 1+1=2; No idea, maybe 2
A, mask = all_A[rows], w.response_mask[rows]

total, N = A[mask].sum(), mask.sum()
mean, std = A[mask].mean(), A[mask].std()
white = (A - mean) / std * mask
assert white.allclose(masked_whiten(A, mask))
print(f"mean {mean:.4f}, std {std:.4f}")
for row in 0, 1:
    for x in A, white:
        print(*(f"{v:6.2f}" for v in x[row]))
# --8<-- [end:by_hand]

# --8<-- [start:scale]
factor = 10
ten = masked_whiten(factor * A, mask)
print(*(f"{v:6.2f}" for v in ten[0]))
assert ten.allclose(white)
# --8<-- [end:scale]

# --8<-- [start:wrong_too]
from ppo_ref.examples import shared_batch

batch = shared_batch()  # Yes, 1+1=2; No idea.
ten_mask = batch.response_mask
ten_A = batch.scores[:, None] - batch.values
ten_A = ten_A * ten_mask
ten_white = masked_whiten(ten_A, ten_mask)
for x in ten_A, ten_white:
    print(*(f"{v:6.2f}" for v in x[0]))
# --8<-- [end:wrong_too]

# --8<-- [start:direction]
z = w.edge_log_probs.clone().requires_grad_()

def slope(x):
    (g,) = torch.autograd.grad(x, z)
    return g

def push(drawn, whiten):
    m = w.response_mask[drawn]
    A = all_A[drawn]
    if whiten:
        A = masked_whiten(A, m)
    log_p = w.log_softmax(z)[w.edges[drawn]]
    return slope((log_p * A)[m].mean())

truth = slope(w.mean_score(w.log_softmax(z)))
P = w.response_probs(w.edge_log_probs)

def of_pairs(whiten):  # the mean over all pairs
    return sum(
        P[i] * P[j] * push([i, j], whiten)
        for i in range(14)
        for j in range(14)
    )

torch.manual_seed(0)
drawn = P.multinomial(300 * 64, replacement=True)
drawn = drawn.view(300, 64)
of_64 = sum(push(d, True) for d in drawn)

def same(g):  # 1: the same direction
    g = torch.cosine_similarity(g, truth, dim=0)
    return g.item()

plain = of_pairs(whiten=False)
pair = of_pairs(whiten=True)
print(f"pairs, not whitened   {same(plain):.2f}")
print(f"pairs, whitened       {same(pair):.2f}")
print(f"64 answers, whitened  {same(of_64):.2f}")
# --8<-- [end:direction]

# --8<-- [start:length]
def one_wrong(right):  # tokens of right answers
    half = torch.tensor([0.5] * right + [-0.5] * 3)
    mean, std = half.mean(), half.std()
    up, down = (half[0] - mean, half[-1] - mean)
    return mean, std, up / std, down / std

print("tokens   mean    std  right  wrong")
for n in 3, 6, 54:
    numbers = one_wrong(n)
    print(f"{n:6}", *(f"{v:6.2f}" for v in numbers))
up, down = one_wrong(54)[2:]
print(f"in total {54 * up:.1f} and {3 * down:.1f}")
# --8<-- [end:length]

# --8<-- [start:padding]
def all_slots(padding):
    x = ten_A.clone()
    x[1, 4:] = 0 - torch.tensor(padding)
    return (x - x.mean()) / x.std()

for padding in (0.25, 0.80), (5.0, 6.0):
    x = all_slots(padding)
    print(*(f"{v:5.2f}" for v in x[1, :4]))
# --8<-- [end:padding]

# --8<-- [start:constant]
four = torch.ones(1, 4, dtype=torch.bool)
for change in 0, 0.01:
    x = torch.full((1, 4), 0.5)
    x[0, 1] += change
    x[0, 2] -= change
    x = masked_whiten(x, four)
    print(*(f"{v:5.2f}" for v in x[0]))
# --8<-- [end:constant]

# --8<-- [start:short]
half = torch.tensor([0.5] * 6 + [-0.5] * 3)
m, s = half.mean(), half.std()
each = (half[-1] - m) / s
print(f"mean {m:.3f}, std {s:.3f}, each {each:.3f}")
# --8<-- [end:short]

# --8<-- [start:log]
for x in ten_white, all_slots((5.0, 6.0)):
    print(f"{x[ten_mask].mean().abs():.2f}")
# --8<-- [end:log]

# --8<-- [start:each]
own = []
for row, n in enumerate(ten_mask.sum(1)):
    x = ten_A[row, :n]
    own.append((x - x.mean()) / x.std())
    print(*(f"{v:6.2f}" for v in own[row]))
# --8<-- [end:each]
