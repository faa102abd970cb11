"""A new critic: what is left of the score at lambda < 1, and what warms a critic up."""

# --8<-- [start:comment]
import torch
score = torch.tensor([[0.0], [1]])  # fail, succeed
V = torch.full((2, 200), 0.5)  # a critic, no idea
deltas = torch.cat([V[:, 1:], score], 1) - V
print("lambda    wrong    right")
for lam in 1.0, 0.99, 0.95:
    A = deltas @ lam ** torch.arange(200.0)
    print(f"{lam:6}", *(f"{x:8.5f}" for x in A))
# --8<-- [end:comment]

# --8<-- [start:judge]
from ppo_ref.advantages import gae

r = torch.zeros_like(V)
r[:, -1:] = score
judged = gae(
    token_level_rewards=r,
    values=V,
    response_mask=r == r,
    gae_lambda=lam,
).advantages[:, 0]
assert judged.allclose(A, atol=1e-6)
assert A[1] - A[0] < 1e-4  # alike, at 0.95
# --8<-- [end:judge]

# --8<-- [start:critics]
from ppo_ref.diagnostics import explained_variance

torch.manual_seed(0)
drawn = torch.randint(2, (4000, 200)) - 0.5
step = torch.full((200,), (0.5 / 199) ** 0.5)
step[0] = 0.5**0.5  # half of the score's variance
after = (drawn * step).cumsum(1)  # the exact V
before = after - drawn * step
r = torch.zeros(4000, 200)
r[:, -1] = after[:, -1]  # the score
mask = r == r
noise = torch.randn(4000, 200) / 2
critics = {
    "random": noise,
    "half": (before + noise) / 2,
    "exact": before,
}

def estimate(V, lam):
    return gae(
        token_level_rewards=r,
        values=V,
        response_mask=mask,
        gae_lambda=lam,
    )

def kept(V, lam):  # of what token 0 changed
    A = estimate(V, lam).advantages[:, 0]
    both = torch.stack([A, after[:, 0]])
    return torch.corrcoef(both)[0, 1].item()

lams = 0.0, 0.9, 0.95, 0.99, 0.999, 1.0
found = {
    name: [kept(V, lam) for lam in lams]
    for name, V in critics.items()
}
head = (f"{lam:5g}" for lam in lams)
print("lambda", *head, "   EV")
for name, V in critics.items():
    cells = (f"{x:5.2f}" for x in found[name])
    ev = explained_variance(
        values=V,
        returns=estimate(V, 1.0).returns,
        response_mask=mask,
    )
    print(f"{name:6}", *cells, f"{ev:5.2f}")
# --8<-- [end:critics]

# --8<-- [start:target]
r = torch.zeros(1, 200)
r[0, -1] = 1  # every answer scores 1
mask = r == r
rounds = 1, 2, 5, 10, 20
print("round", *(f"{k:5}" for k in rounds))
for lam in 1.0, 0.95:
    V, at_prompt = 0 * r, []
    for _ in range(20):  # fits its targets exactly
        V = estimate(V, lam).returns
        at_prompt.append(V[0, 0].item())
    shown = (at_prompt[k - 1] for k in rounds)
    print(f"{lam:5}", *(f"{x:5.2f}" for x in shown))
# --8<-- [end:target]

# --8<-- [start:adaptive]
alpha = 0.05

def adaptive_lambda(length):
    return max(0.0, 1 - 1 / (alpha * length))

print("length lambda  token 0  near the end")
for length in 200, 2000, 20000:
    r = torch.zeros(1, length)
    r[0, -1] = 1
    lam = adaptive_lambda(length)
    A = gae(
        token_level_rewards=r,
        values=0 * r,  # a critic that knows nothing
        response_mask=r == r,
        gae_lambda=lam,
    ).advantages[0]
    near = A[-int(alpha * length)]
    print(f"{length:6} {lam:6.4f}", end="  ")
    print(f"{A[0]:.1e}  {near:.2f}")
# --8<-- [end:adaptive]

# --8<-- [start:less]
random = found["random"]
better = random[lams.index(0.95)] > random[-1]
assert better, "a little bias, far less variance"
# --8<-- [end:less]
