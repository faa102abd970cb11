"""How far does V reach into the advantages? Differentiate, and nudge one V."""

# --8<-- [start:reach]
import torch
from torch.autograd.functional import jacobian
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask, V = batch.response_mask, batch.values[0]
rewards = torch.zeros_like(batch.values)

def advantages(V, lam, gamma=1.0):
    A, V_next, out = 0.0, 0.0, []
    for v in V.flip(0):  # from the end, r = 0
        A = gamma * V_next - v + gamma * lam * A
        V_next = v
        out.insert(0, A)
    return torch.stack(out)

def reach(*factors):  # dA_t / dV_k at [t, k]
    def of(V):
        return advantages(V, *factors)
    return jacobian(of, V)

def weights(lam, gamma=1.0):
    w = [
        gamma**k * lam ** (k - 1) * (1 - lam)
        for k in range(1, len(V))
    ]
    return V.new_tensor([-1, *w])

heads = (f"    V_{k}" for k in range(6))
print("    ", *heads)
for lam in 0.0, 0.5, 0.95, 1.0:
    cells = (f"{x:z7.4f}" for x in reach(lam)[0])
    print(f"{lam:.2f}", *cells)
    for factors in (lam, 1.0), (lam, 0.9):
        A_0 = reach(*factors)[0]
        assert A_0.allclose(weights(*factors))
# --8<-- [end:reach]

# --8<-- [start:numbers]
def estimate(values, lam):
    return gae(
        token_level_rewards=rewards,
        values=values,
        response_mask=mask,
        gae_lambda=lam,
    )

off = batch.values.clone()
off[0, 3] += 0.1  # the critic errs at s_3
moved = {}
for lam in 0.0, 0.5, 1.0:
    was = estimate(batch.values, lam)
    now = estimate(off, lam)
    A = now.advantages - was.advantages
    R = now.returns - was.returns
    moved["A", lam], moved["R", lam] = A[0], R[0]
    column = 0.1 * reach(lam)[:, 3]
    assert A[0].allclose(column)
    column[3] = 0
    assert R[0].allclose(column)

pairs = sorted(moved)
print("t", *(f"  {x} {lam}" for x, lam in pairs))
for t in range(6):
    cells = (f"{moved[x][t]:z7.4f}" for x in pairs)
    print(t, *cells)
# --8<-- [end:numbers]

# --8<-- [start:gradient]
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)  # a row an answer
r = tree.token_level_rewards
first = tree.responses[:, 0]
state = torch.stack([0 * first, 1 + first], 1)
logits = V.new_zeros(3, 2).requires_grad_()
log_pi = logits.log_softmax(1)
chosen = log_pi[state, tree.responses]
p = chosen.sum(1).exp()  # of each answer

def gradient(x):  # at the logits of token 1
    (g,) = torch.autograd.grad(
        x, logits, retain_graph=True
    )
    return g[:, 1]

def on_tree(values, lam):
    return gae(
        token_level_rewards=r,
        values=values,
        response_mask=tree.response_mask,
        gae_lambda=lam,
    ).advantages

def policy_gradient(values, lam):
    A = p.detach()[:, None] * on_tree(values, lam)
    return gradient((A * chosen).sum())

true = gradient(p @ r.sum(1))  # of the mean score
for lam in 1.0, 0.5, 0.0:
    g = policy_gradient(tree.wrong_values, lam)
    print(f"{lam:.1f}", *(f"{x:z.4f}" for x in g))
    assert g.allclose(true) == (lam == 1)
    g = policy_gradient(tree.values, lam)
    assert g.allclose(true)
junk = tree.wrong_values + V.new_tensor([3.0, -2.0])
assert policy_gradient(junk, 1.0).allclose(true)
# --8<-- [end:gradient]

# --8<-- [start:everywhere]
later = reach(1.0)[0, 1:]
print("A_0 and later V:", later.abs().tolist())
assert later.any(), "no later V at lambda 1"
# --8<-- [end:everywhere]

# --8<-- [start:short]
exact = on_tree(tree.values, 0.0)[:, 0]
print("A_0, lambda 0:", exact.tolist())
good = first == 1
assert not exact[good].any(), "paid before r_1 came"
# --8<-- [end:short]

# --8<-- [start:cut]
def cut(after, lam):  # V(s_6) of a cut answer
    return gae(
        token_level_rewards=rewards[:1],
        values=batch.values[:1],
        response_mask=mask[:1],
        gae_lambda=lam,
        bootstrap_values=V.new_tensor([after]),
    ).advantages[0]

for lam in 0.0, 0.5, 1.0:
    more = cut(1.0, lam) - cut(0.0, lam)
    print(f"{lam:.1f}", *(f"{x:.4f}" for x in more))
    w = [lam ** (5 - t) for t in range(6)]
    assert more.allclose(V.new_tensor(w))
# --8<-- [end:cut]
