"""What GAE takes in: a loop to copy, judged on a batch; each input changed in turn."""

# --8<-- [start:recursion]
import torch

@torch.no_grad()
def advantages(r, V, mask, lam=1, gamma=1, end=0):
    A = torch.zeros_like(V[:, 0])  # one per row
    V_next, out = A + end, torch.zeros_like(V)
    for t in reversed(range(V.shape[1])):
        m = mask[:, t].bool()  # does it count?
        delta = r[:, t] + gamma * V_next - V[:, t]
        new = delta + gamma * lam * A
        A = torch.where(m, new, A)
        V_next = torch.where(m, V[:, t], V_next)
        out[:, t] = torch.where(m, new, 0)
    return out
# --8<-- [end:recursion]

# --8<-- [start:judge]
from ppo_ref.advantages import gae

device = "cpu"  # or "cuda"
V = [[0.3, 0.4, 0.9, -0.7, 0.6, 0.7]]
V = torch.tensor(V, dtype=float).to(device)
r = V.new_tensor([[0, 0, 0, 0, 0, 1]])
mask = V.new_tensor([[1, 1, 0, 0, 1, 1]]).bool()

def judge(r, V, mask, lam, gamma, end):
    return gae(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
        gamma=gamma,
        gae_lambda=lam,
        bootstrap_values=V.new_tensor(end),
    ).advantages

cut = 0.2  # V after an answer that was cut off
cases = (0.9, 0.99, cut), (1, 1, 0), (0.9, 1, 0)
for lam, gamma, end in cases:
    A = advantages(r, V, mask, lam, gamma, end)
    right = judge(r, V, mask, lam, gamma, [end])
    assert A.allclose(right)
print(*(f"   a_{t}" for t in (0, 1, 4, 5)))
print(*(f"{a:6.4f}" for a in A[mask].tolist()))
# --8<-- [end:judge]

# --8<-- [start:batch]
from ppo_ref.examples import shared_batch

batch = shared_batch(device)
score = torch.zeros_like(batch.values)
score[0, 5], score[1, 3] = batch.scores
three = (
    torch.cat([score, r]),
    torch.cat([batch.values, V]),
    torch.cat([batch.response_mask, mask]),
)
ends = [0, 0, cut]  # one per row
for lam in 0, 0.95, 1:
    for gamma in 0.99, 1:
        right = judge(*three, lam, gamma, ends)
        end = V.new_tensor(ends)
        A = advantages(*three, lam, gamma, end)
        assert A.allclose(right)
shown = 0.95
for row in advantages(*three, shown).tolist():
    print(*(f"{a:6.3f}" for a in row))
# --8<-- [end:batch]

# --8<-- [start:change]
every = torch.ones_like(mask)  # tool slots too
changes = {
    "as it is": (r, V, mask, 1, 0),
    "r = 0": (0 * r, V, mask, 1, 0),
    "V = 0": (r, 0 * V, mask, 1, 0),
    "gamma 0.99": (r, V, mask, 0.99, 0),
    "end 0.2": (r, V, mask, 1, cut),
    "mask all 1": (r, V, every, 1, 0),
}

def changed(name, lam):
    *rows, gamma, end = changes[name]
    return advantages(*rows, lam, gamma, end)[mask]

lambdas = 0.9, 1
heads = (f"    A_{t}" for t in (0, 1, 4, 5))
print("lambda change    ", *heads)
for lam in lambdas:
    for name in changes:
        A = changed(name, lam).tolist()
        cells = (f"{a:7.4f}" for a in A)
        print(f"{lam:6} {name:10}", *cells)
    as_is = changed("as it is", lam)
    unmasked = changed("mask all 1", lam)
    assert unmasked.allclose(as_is) == (lam == 1)
# --8<-- [end:change]

# --8<-- [start:ends]
earned, now = r[mask], V[mask]
after = torch.cat([now[1:], now.new_zeros(1)])
G = earned.flip(0).cumsum(0).flip(0)
whole, step = G - now, earned + after - now
print("sum - V   ", *(f"{a:.2f}" for a in whole))
print("r + V' - V", *(f"{a:.2f}" for a in step))
assert whole.allclose(changed("as it is", lam=1))
assert step.allclose(changed("as it is", lam=0))
assert whole.allclose(step), "two ends, not one A"
# --8<-- [end:ends]

# --8<-- [start:through]
lam = 0.95
skip = changed("as it is", lam)
through = changed("mask all 1", lam)
print("lambda", lam)
for name, A in ("skip", skip), ("through", through):
    print(f"{name:7}", *(f"{a:.3f}" for a in A))
assert through.allclose(skip), "read the tool's V"
# --8<-- [end:through]

# --8<-- [start:no_done]
score = V.new_tensor([[0, 0, 0, 1]])  # wrong, right
v = V.new_tensor([[0.5, 0.1, 0.5, 0.8]])
two = score >= 0

def estimate(cut):
    x = score[:, cut], v[:, cut], two[:, cut]
    return advantages(*x, lam=0.95, gamma=0.99)

wrong, right = slice(0, 2), slice(2, 4)
each = torch.cat(
    [estimate(wrong), estimate(right)], 1
)
joined = estimate(slice(None))
for name, A in ("alone ", each), ("joined", joined):
    print(name, *(f"{a:5.2f}" for a in A[0]))
praised = joined[0, :2] > 0
assert not praised.any(), "the wrong one gains"
# --8<-- [end:no_done]

# --8<-- [start:lost]
for t in 5, 3:  # the actor's slot, the tool's
    score = torch.zeros_like(r)
    score[0, t] = 1
    A = advantages(score, V, mask)[mask]
    print(f"slot {t}:", *(f"{a:.1f}" for a in A))
assert A.equal(changed("r = 0", lam=1))
# --8<-- [end:lost]

# --8<-- [start:no_critic]
A = changed("V = 0", lam=0.9)
print(*(f"{a:.4f}" for a in A))
discounted = advantages(r, 0 * V, mask, gamma=0.9)
assert A.allclose(discounted[mask])
# --8<-- [end:no_critic]
