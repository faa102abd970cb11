"""Which numbers of the log may be below 0, and what a negative one means."""

# --8<-- [start:comment]
import torch
scores = torch.tensor([-6.2, -5.1, -5.8, -4.9])
for offset in 0, 6:
    s = scores + offset
    A = (s - s.mean()) / s.std()
    print(*(f"{x:5.2f}" for x in A))
# --8<-- [end:comment]

# --8<-- [start:empty]
empty = torch.tensor([-6.2, -5.1, 0.0, -4.9])
A = (empty - empty.mean()) / empty.std()
print(*(f"{x:5.2f}" for x in A))
assert A.argmax() == 2  # no answer is best
# --8<-- [end:empty]

# --8<-- [start:least]
import torch
from ppo_ref.diagnostics import explained_variance
from ppo_ref.kl import kl_k1, kl_k3
from ppo_ref.log_probs import log_probs_and_entropy
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_whiten

draws = torch.Generator().manual_seed(0)

def normal(*shape):
    x = torch.randn(*shape, generator=draws)
    return x.double()

mask = torch.ones(8, 6).bool()  # of 6 tokens each
lows = {}
for _ in range(200):
    old = normal(8, 6, 5)  # logits of five words
    new, ref = old + 0.3 * normal(2, 8, 6, 5)
    p = old.softmax(-1).view(-1, 5)
    ids = p.multinomial(1, generator=draws)
    (was, entropy), (now, _), (said, _) = (
        log_probs_and_entropy(x, ids.view(8, 6))
        for x in (old, new, ref)
    )
    score, values = normal(8, 1) - 6, normal(8, 6)
    A = score - values
    k = {"log_probs": was, "ref_log_probs": said}
    V = {"values": values, "response_mask": mask}
    V["returns"] = score.expand(8, 6)
    seen = {
        "score": score,
        "value": values,
        "advantage": A,
        "KL, k1": kl_k1(**k),
        "KL, k3": kl_k3(**k),
        "entropy": entropy,
        "explained var.": explained_variance(**V),
    }
    seen["value loss"] = value_loss(
        old_values=values, value_clip_range=0.5, **V
    ).loss
    seen["policy loss"] = policy_loss(
        log_probs=now,
        old_log_probs=was,
        advantages=masked_whiten(A, mask),
        response_mask=mask,
    ).loss
    for name, x in seen.items():
        low = x.mean().item()  # as a log has it
        lows[name] = min(low, lows.get(name, low))
for name, low in lows.items():
    word = "below 0" if low < 0 else "never"
    print(f"{name:18} {word}")
never = {name for name in lows if lows[name] >= 0}
assert never == {"KL, k3", "entropy", "value loss"}
# --8<-- [end:least]

# --8<-- [start:run]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("healthy")
loss = run.column("policy_loss")
score = run.column("score")
print("iterations  loss < 0  mean loss  score")
for start in 0, 25, 50, 75:
    some = loss[start : start + 25]
    below = sum(x < 0 for x in some)
    mean = sum(score[start : start + 25]) / 25
    name = f"{start + 1}-{start + 25}"
    print(f"{name:10}{below:10}", end="")
    print(f"{sum(some) / 25:z11.3f}{mean:7.2f}")
# --8<-- [end:run]
