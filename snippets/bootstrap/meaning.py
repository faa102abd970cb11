"""What is bootstrapping? Cut the answer short, ask the critic, and see who moves."""

# --8<-- [start:cuts]
from ppo_ref.advantages import td_residuals
from ppo_ref.examples import three_tokens

device = "cpu"  # or "cuda"
batch = three_tokens(device)
delta = td_residuals(**batch._asdict())[0]
r = batch.token_level_rewards[0]  # 0, 0, 1
V = batch.values[0]  # 0.3, 0.4, 0.6

def target(n, V):  # of token 0, cut after n
    rest = V[n] if n < len(V) else 0.0  # ended
    return r[:n].sum() + rest

for n in 1, 2, 3:
    was, now = target(n, V), target(n, V + 0.1)
    print(f"cut {n}: {was:.1f}, V + 0.1: {now:.1f}")
    assert (now != was) == (n < len(V))
    assert was.isclose(delta[:n].sum() + V[0])
# --8<-- [end:cuts]

# --8<-- [start:numbers]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores

shared = shared_batch(device)
mask, V = shared.response_mask, shared.values[0]
rewards = token_level_scores(shared.scores, mask)
r, N = rewards[0], len(V)  # row 0: six tokens
cuts = [target(n, V) for n in range(1, N + 1)]
w = {}  # by lambda: the weight of each cut
for lam in 0.0, 0.95, 1.0:
    some = [lam**n * (1 - lam) for n in range(N)]
    w[lam] = [*some[:-1], lam ** (N - 1)]  # uncut
    mix = V.new_tensor(w[lam]) @ torch.stack(cuts)
    estimate = gae(
        token_level_rewards=rewards,
        values=shared.values,
        response_mask=mask,
        gae_lambda=lam,
    )
    assert mix.isclose(estimate.returns[0, 0])
    print(f"lambda {lam:.2f}: target {mix:.4f}")
print("cut target ", *(f"w {x:.2f}" for x in w))
for n, c in enumerate(cuts, 1):
    cells = (f"{x[n - 1]:.4f}" for x in w.values())
    print(f"{n:3} {c:.4f} ", *cells)
# --8<-- [end:numbers]

# --8<-- [start:terminal]
critics = V, 0 * V, -9 * V
end = [target(len(V), V).item() for V in critics]
one = [target(1, V).item() for V in critics]
print("cut after EOS:", end)
print("cut after 1:  ", [round(x, 2) for x in one])
assert len(set(end)) > 1, "no critic in this one"
# --8<-- [end:terminal]

# --8<-- [start:lifted]
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)
V_0 = V_1 = 0.0  # V_1: the first token was 1
for sweep in 1, 2:  # means over the next token
    V_0, V_1 = (0 + V_1) / 2, (0 + 1) / 2
    print(f"{sweep}: V_0 {V_0:.2f}, V_1 {V_1:.2f}")
assert tree.values[3].tolist() == [V_0, V_1]
assert V_0 > 0  # lifted by V_1 alone
# --8<-- [end:lifted]

# --8<-- [start:resampling]
scores = torch.tensor([1.0, 0.0, 0.0, 0.0])
scores = scores.to(device)  # one prompt, 4 answers
pairs = torch.cartesian_prod(scores, scores)
best = pairs.amax(1)  # all draws of 2, put back
print(f"best@2/mean {best.mean():.3f}")
print(f"best@2/std  {best.std(correction=0):.3f}")
assert best.mean() == 1 - (3 / 4) ** 2
# --8<-- [end:resampling]
