"""How far does V reach into the advantages? Differentiate, and nudge one V."""

# --8<-- [start:comment]
import torch
wrong = torch.tensor([0.0, 0.0, 0.1, 0.0])
for lam in 0.0, 0.5, 1.0:
    A, V_next, out = 0.0, 0.0, []
    for v in wrong.flip(0):  # rewards 0, gamma 1
        A, V_next = V_next - v + lam * A, v
        out.insert(0, A)
    print(lam, *(f"{a:z6.3f}" for a in out))
# --8<-- [end:comment]

# --8<-- [start:reach]
import torch
from torch.autograd.functional import jacobian
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)
V = batch.values[0]

def advantages(V, lam):
    A, V_next, out = 0.0, 0.0, []
    for v in V.flip(0):  # backwards; r 0, gamma 1
        A, V_next = V_next - v + lam * A, v
        out.insert(0, A)
    return torch.stack(out)

def reach(V, lam):  # dA_t / dV_k at [t, k]
    return jacobian(lambda V: advantages(V, lam), V)

heads = (f"    V_{k}" for k in range(6))
print("    ", *heads)
for lam in 0.0, 0.5, 0.95, 1.0:
    row = reach(V, lam)[0]
    cells = (f"{x:z7.4f}" for x in row)
    print(f"{lam:.2f}", *cells)
    w = [lam**k * (1 - lam) for k in range(5)]
    assert row.allclose(V.new_tensor([-1, *w]))
# --8<-- [end:reach]

# --8<-- [start:numbers]
from ppo_ref.advantages import gae

off = batch.values.clone()
off[0, 3] += 0.1  # the critic errs at s_3
lams, columns = (0.0, 0.5, 1.0), []
for lam in lams:
    was, now = (
        gae(
            token_level_rewards=0 * values,
            values=values,
            response_mask=batch.response_mask,
            gae_lambda=lam,
        )
        for values in (batch.values, off)
    )
    A, R = map(torch.sub, now, was)
    assert A[0].allclose(0.1 * reach(V, lam)[:, 3])
    columns += [A[0], R[0]]
print("t", *(f"  A {x}   R {x}" for x in lams))
for t, row in enumerate(torch.stack(columns, 1)):
    print(t, *(f"{x:z7.4f}" for x in row))
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
torch.manual_seed(0)
for _ in range(100):
    junk = torch.randn(3).to(V)[state]  # a V each
    assert policy_gradient(junk, 1.0).allclose(true)
# --8<-- [end:gradient]

# --8<-- [start:everywhere]
later = reach(V, 1.0)[0, 1:]
print("A_0 and later V:", later.abs().tolist())
assert later.any(), "no later V at lambda 1"
# --8<-- [end:everywhere]

# --8<-- [start:short]
def good_first(lam):  # its A_0, answer by answer
    return on_tree(tree.values, lam)[first == 1, 0]

for lam in 0, 1:
    A = good_first(lam)  # they are equally likely
    mean = f"mean {A.mean():.2f}"
    print(f"lambda {lam}: {A.tolist()}, {mean}")
less = good_first(0).mean() < good_first(1).mean()
assert less, "lambda 0 paid no less"
# --8<-- [end:short]

# --8<-- [start:constant]
score, error = 0.5, 0.2  # whatever is written
now = V.new_tensor([[score, 0], [0, score]])
ends = V.new_tensor([[1, 0], [1, 1]]).bool()

def token_0(lam):  # EOS, or one token more
    return gae(
        token_level_rewards=now,
        values=0 * now + score + error,
        response_mask=ends,
        gae_lambda=lam,
    ).advantages[:, 0]

for lam in 0, 1:
    stop, go = token_0(lam)
    told = f"stop {stop:.1f}, go {go:z.1f}"
    print(f"lambda {lam}: {told}")
assert token_0(1).std() < 1e-12
assert token_0(0).std() < 1e-12, "EOS pays"
# --8<-- [end:constant]
