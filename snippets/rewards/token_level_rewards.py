"""From one score and a row of log-prob gaps to one reward per token."""

# --8<-- [start:comment]
import torch
score, beta = 1.0, 0.1
gaps = torch.tensor([0.5, -0.2, 0.3])  # kld
paid = -beta * gaps
paid[-1] += score
print(*(f"{r:.2f}" for r in paid))
# --8<-- [end:comment]

# --8<-- [start:rewards]
import torch
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_rewards
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask, beta = batch.response_mask, batch.kl_coef
old, ref = batch.old_log_probs, batch.ref_log_probs

kld = old - ref
scores = torch.zeros_like(kld)
last = mask.sum(1) - 1  # the last token that counts
scores[[0, 1], last] = batch.scores
rewards = (scores - beta * kld) * mask

for r in rewards:
    print(*(f"{x:7.4f}" for x in r))
judge = token_level_rewards(
    token_level_scores=token_level_scores(
        batch.scores, mask
    ),
    kl=kld + 9 * ~mask,  # padding is not read
    response_mask=mask,
    kl_coef=beta,
)
assert rewards.equal(judge)
# --8<-- [end:rewards]

# --8<-- [start:sums]
print("score   kld  rewards")
far, total = kld.sum(1), rewards.sum(1)
rows = torch.stack([batch.scores, far, total], 1)
for x, y, z in rows:
    print(f"{x:5.2f} {y:5.2f} {z:8.4f}")
assert total.allclose(batch.scores - beta * far)
# --8<-- [end:sums]

# --8<-- [start:where]
from ppo_ref.advantages import monte_carlo_returns

end = old.new_tensor([[0, 0, 0, 1]])
spread = torch.full_like(end, 0.25)
for r in end, end.flip(1), spread:
    G = r.flip(1).cumsum(1).flip(1)
    print(r.tolist()[0], "->", G.tolist()[0])
    judge = monte_carlo_returns(
        token_level_rewards=r,
        response_mask=r.isfinite(),
    )
    assert G.equal(judge)
# --8<-- [end:where]

# --8<-- [start:pull]
start = old.new_tensor([0.50, 0.49, 0.01])
true = old.new_tensor([1, 0, 0])
proxy = old.new_tensor([1, 0, 2])
truth = {}
print("beta score    KL  true")
for b in 0.05, 0.5, 5:
    weight = start * (proxy / b).exp()
    Z = weight.sum()
    p = weight / Z  # the best policy
    kl = p @ (p / start).log()
    truth[b] = p @ true
    row = p @ proxy, kl, truth[b]
    cells = (f"{x:6.2f}" for x in row)
    print(f"{b:4}" + "".join(cells))
    mean = p @ proxy - b * kl
    assert mean.isclose(b * Z.log())
# --8<-- [end:pull]

# --8<-- [start:environment]
def made(ref):
    kld = (old - ref) * mask
    return (scores - beta * kld).sum(1)

for other in ref, old:  # same answers, same scores
    print(*(f"{x:.4f}" for x in made(other)))
assert made(ref).equal(made(old)), "not the task's"
# --8<-- [end:environment]

# --8<-- [start:dense]
from ppo_ref.advantages import td_residuals
from ppo_ref.examples import two_token_tree

tree = two_token_tree(device)  # a row an answer
score = tree.token_level_rewards.sum(1)
shaped = td_residuals(
    token_level_rewards=tree.token_level_rewards,
    values=tree.values,  # the potential
    response_mask=tree.response_mask,
).sum(1)
q, price = tree.actor_probs.prod(1), 0.5

def mean(p):  # of score, shaped score, less KL
    far = torch.xlogy(p, p / q).sum()
    means = p @ score, p @ shaped
    return *means, means[0] - price * far

greedy = mean(score)  # always the answer 1, 1
best = mean((q.log() + score / price).softmax(0))
print("        score shaped less KL")
print("greedy", *(f"{x:6.3f}" for x in greedy))
print("best  ", *(f"{x:6.3f}" for x in best))
assert greedy[0] > best[0] and greedy[1] > best[1]
assert greedy[2] > best[2], "KL moved the optimum"
# --8<-- [end:dense]

# --8<-- [start:on_padding]
v = batch.values[1].clone()
v[5:] = 0  # TRL keeps one V after EOS

def advantages(slot, lam=0.95):  # no mask here
    A, V_next, out = 0.0, 0.0, []
    for t in reversed(range(6)):
        delta = (t == slot) + V_next - v[t]
        A, V_next = delta + lam * A, v[t]
        out.insert(0, A)
    return torch.stack(out)[:4]  # what is kept

without = advantages(slot=6)
for name, slot in ("EOS", 3), ("PAD", 4):
    gain = advantages(slot) - without
    print(name, *(f"{a:.4f}" for a in gain))
assert not gain.any(), "the score is in all of them"
# --8<-- [end:on_padding]

# --8<-- [start:longer]
for length in 20, 200:
    kl = old.new_full((1, length), 0.05)
    r = token_level_rewards(
        token_level_scores=torch.zeros_like(kl),
        kl=kl,
        response_mask=torch.ones_like(kl).bool(),
        kl_coef=0.01,
    )
    r[:, -1] += 1.0  # both are right
    print(f"{length:3} tokens: {r.sum():.2f}")
# --8<-- [end:longer]
