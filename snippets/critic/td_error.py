"""From values to one step of the critic, and where the TD error enters."""

# --8<-- [start:chain]
import torch
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)
n, lam, lr = 4, 1.0, 2.0  # row 1 has n tokens
rewards = batch.scores.new_zeros(n)
rewards[-1] = batch.scores[1]  # wrong: 0

V = batch.values[1, :n].clone()  # 1 values
V.requires_grad_()
with torch.no_grad():
    V_next = torch.cat([V[1:], V.new_zeros(1)])
    delta = rewards + V_next - V  # 2 TD errors
    A, later = torch.zeros_like(V), 0.0
    for t in reversed(range(n)):  # 3 advantages
        later = A[t] = delta[t] + lam * later
    R = A + V  # 4 returns, the target
loss = 0.5 * ((V - R) ** 2).mean()  # 5 loss
(grad,) = torch.autograd.grad(loss, V)
new = V - lr * grad  # 6 one step

def show(name, row):
    cells = (f"{x:z6.2f}" for x in row)
    print(f"{name:9}", *cells)

show("1 V", V)
show("2 delta", delta)
show("3 A", A)
show("4 R", R)
print(f"5 loss    {loss:7.4f}")
show("  pull", -n * grad)
show("6 new V", new)
assert grad.allclose(-A / n)
assert new.allclose((V + R) / 2)  # half of the way
# --8<-- [end:chain]

# --8<-- [start:gradient]
import torch
from ppo_ref.advantages import gae, td_residuals
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask = batch.response_mask
r = token_level_scores(batch.scores, mask)
V = batch.values.clone().requires_grad_()
given = {
    "token_level_rewards": r,
    "values": V,  # its gradient stops in gae
    "response_mask": mask,
}
delta = td_residuals(**given)

lams = 0.0, 0.5, 1.0
for lam in lams:
    A, R = gae(**given, gae_lambda=lam)
    loss = 0.5 * ((V - R)[mask] ** 2).mean()
    (grad,) = torch.autograd.grad(loss, V)
    pull = -grad * mask.sum()  # of each token
    cells = (f"{x:7.4f}" for x in pull[1, :4])
    print(f"lambda {lam:.1f}", *cells)
    assert pull.allclose(A)
    assert pull.allclose(delta) == (lam == 0)
# --8<-- [end:gradient]

# --8<-- [start:rounds]
T = 4  # one answer, score 1, no discount
r = torch.zeros(1, T, dtype=torch.float64)
r[0, -1] = 1
r = r.to(device)

def rounds(lam):
    V, seen = torch.zeros_like(r), []
    for _ in range(T):
        V = gae(  # fitted until V is the target
            token_level_rewards=r,
            values=V,
            response_mask=r >= 0,
            gae_lambda=lam,
        ).returns
        seen.append(V[0])
    return torch.stack(seen)

for lam in lams:
    first, *_, last = rounds(lam)
    assert (last == 1).all()  # in T rounds
    assert (first == 1).all() == (lam == 1)
for n, V in enumerate(rounds(0.5), 1):
    print(f"round {n} ", *(f"{v:.3f}" for v in V))
# --8<-- [end:rounds]

# --8<-- [start:residual]
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)  # a row an answer
first = tree.responses[:, 0]  # state: s_0, 0.., 1..
state = torch.stack([0 * first, 1 + first], 1)

def learn(frozen):  # lambda 0, all four answers
    w = tree.values.new_zeros(3, requires_grad=True)
    for _ in range(300):
        V = w[state]
        end = torch.zeros_like(V[:, :1])
        V_next = torch.cat([V[:, 1:], end], 1)
        if frozen:  # as under no_grad
            V_next = V_next.detach()
        d = tree.token_level_rewards + V_next - V
        (g,) = torch.autograd.grad((d**2).mean(), w)
        w = (w - g).detach().requires_grad_()
    return w.detach()

for frozen in True, False:
    w = learn(frozen)
    cells = (f"{x:z.3f}" for x in w)
    print(f"frozen {frozen!s:5}", *cells)
    exact = w[state].allclose(tree.values)
    assert exact == frozen
# --8<-- [end:residual]

# --8<-- [start:driver]
def made_of(values):  # delta and target, row 0
    now = given | {"values": values}
    d = td_residuals(**now)[0]
    return d, gae(**now).returns[0]

junk = 0 * batch.values + 7
pairs = made_of(batch.values), made_of(junk)
for d, R in pairs:
    print("delta", *(f"{x:z5.2f}" for x in d))
    print("    R", *(f"{x:5.2f}" for x in R))
(d, R), (d_junk, R_junk) = pairs
assert not d.allclose(d_junk)
assert not R.allclose(R_junk), "the target stayed"
# --8<-- [end:driver]

# --8<-- [start:usual]
T = 512  # a new critic: V is 0 everywhere
r = torch.zeros(1, T, dtype=torch.float64)
r[0, -1] = 1
r = r.to(device)
starts = {}
for gamma, lam in (1, 1), (0.99, 1), (1, 0.95):
    R = gae(
        token_level_rewards=r,
        values=torch.zeros_like(r),
        response_mask=r >= 0,
        gamma=gamma,
        gae_lambda=lam,
    ).returns[0]
    starts[gamma, lam] = R[0]
    setting = f"gamma {gamma:4} lam {lam:4}"
    print(setting, f"R_0 {R[0]:.0e}")
seen = all(R_0 > 0.01 for R_0 in starts.values())
assert seen, "R_0 without the score"
# --8<-- [end:usual]

# --8<-- [start:forgot]
scores = given["token_level_rewards"][0]

def returns(V, lam):  # without no_grad; gamma 1
    R, V_next, out = 0.0, 0.0, []
    for r_t, v in zip(scores.flip(0), V.flip(0)):
        R = r_t + (1 - lam) * V_next + lam * R
        V_next = v
        out.insert(0, R)
    return torch.stack(out)

for lam in 1.0, 0.95:
    V = batch.values[0].clone().requires_grad_()
    R = returns(V, lam)
    good, bad = (
        torch.autograd.grad(
            0.5 * ((V - fixed) ** 2).sum(),
            V,
            retain_graph=True,
        )[0]
        for fixed in (R.detach(), R)
    )
    pairs = ("frozen", good), ("through", bad)
    print(f"lambda {lam}")
    for name, grad in pairs:
        cells = (f"{g:z6.3f}" for g in grad)
        print(f"{name:7}", *cells)
    assert bad.allclose(good) == (lam == 1)
# --8<-- [end:forgot]
