"""What a log line says: each figure, and what moves it."""

# --8<-- [start:kl]
from ppo_ref.examples import shared_batch
from ppo_ref.kl import kl_k1, kl_k3

device = "cpu"  # or "cuda"
batch = shared_batch(device)
for kl in kl_k1, kl_k3:
    tokens = kl(
        log_probs=batch.old_log_probs,
        ref_log_probs=batch.ref_log_probs,
    )[1, :4].tolist()
    print(kl.__name__, end="")
    print(*(f"{x:7.3f}" for x in tokens), end="")
    print(f"   sum {sum(tokens):6.3f}")
# --8<-- [end:kl]

# --8<-- [start:kl-mean]
import torch

device = "cpu"  # or "cuda"
logits = torch.tensor([3.0, 1.0, 0.0]).to(device)
ref = torch.tensor([2.0, 1.0, 0.0]).to(device)
k1 = logits.log_softmax(0) - ref.log_softmax(0)
for sampler, sampled in (
    ("the actor", logits),
    ("the actor, hotter", logits / 1.5),
    ("the actor of before", ref),
):
    mean = (sampled.softmax(0) * k1).sum()
    print(f"{sampler:20}{mean:7.3f}")
# --8<-- [end:kl-mean]

# --8<-- [start:kl-rows]
import torch

device = "cpu"  # or "cuda"
# two responses: one token, or two, the second free
actor = torch.tensor([0.5, 0.5]).to(device)
ref = torch.tensor([0.6, 0.4]).to(device)
length = torch.tensor([1, 2]).to(device)
k1 = (actor / ref).log()  # summed over a response
mean = (actor * k1).sum()
rows = (actor * k1 / length).sum()  # as verl logs
print(f"mean of sums  {mean:6.3f}")
print(f"mean of means {rows:6.3f}")
# --8<-- [end:kl-rows]

# --8<-- [start:ratio]
import torch

device = "cpu"  # or "cuda"
old = torch.tensor([0.90, 0.09, 0.01]).to(device)
new = torch.tensor([0.90, 0.05, 0.05]).to(device)
ratio = new / old
mean = (old * ratio).sum()  # over what old samples
for name, x in (
    ("ratio_mean", mean),
    ("ratio_min", ratio.min()),
    ("ratio_max", ratio.max()),
):
    print(f"{name:10} {x:.2f}")
# --8<-- [end:ratio]

# --8<-- [start:pg-loss]
from ppo_ref.examples import shared_batch
from ppo_ref.losses import policy_loss
from ppo_ref.masking import masked_whiten

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask = batch.response_mask
raw = batch.scores[:, None] - batch.values
log_probs = batch.old_log_probs.clone()
loss = policy_loss(
    log_probs=log_probs.requires_grad_(),
    old_log_probs=batch.old_log_probs,
    advantages=masked_whiten(raw, mask),
    response_mask=mask,
).loss
loss.backward()
print(f"loss          {abs(loss.item()):.4f}")
print(f"gradient norm {log_probs.grad.norm():.4f}")
# --8<-- [end:pg-loss]

# --8<-- [start:clip]
import torch
from ppo_ref.losses import policy_loss

device = "cpu"  # or "cuda"
ratio = torch.tensor([[1.5, 1.5, 0.5, 0.5]])
A = torch.tensor([[1.0, -1.0, 1.0, -1.0]])
ratio, A = ratio.to(device), A.to(device)
log_probs = ratio.log().requires_grad_()
found = policy_loss(
    log_probs=log_probs,
    old_log_probs=torch.zeros_like(A),
    advantages=A,
    response_mask=A != 0,
)
found.loss.backward()
print(f"clip_fraction {found.clip_fraction}")
print("gradient", log_probs.grad.tolist()[0])
# --8<-- [end:clip]

# --8<-- [start:explained-variance]
import torch
from ppo_ref.diagnostics import explained_variance

device = "cpu"  # or "cuda"
R = torch.tensor([[0.0, 1.0, 1.0, 0.0]]).to(device)
for name, values in (
    ("R", R),
    ("R + 5", R + 5),
    ("a constant", torch.zeros_like(R)),
    ("-R", -R),
):
    found = explained_variance(
        values=values,
        returns=R,
        response_mask=torch.ones_like(R).bool(),
    )
    print(f"values = {name:10} {found:5.2f}")
# --8<-- [end:explained-variance]

# --8<-- [start:junk-critic]
import torch
from ppo_ref.advantages import gae
from ppo_ref.diagnostics import explained_variance
from ppo_ref.rewards import token_level_scores

torch.manual_seed(0)
device = "cpu"  # or "cuda"
scores = (torch.arange(256) % 2).float().to(device)
mask = torch.ones(256, 20).bool().to(device)
rewards = token_level_scores(scores, mask)
# random numbers, whatever is written
one_a_row = torch.randn(256, 1).expand(256, 20)
one_a_token = torch.randn(256, 20)

def explained(values, lam):
    values = values.to(device)
    returns = gae(
        token_level_rewards=rewards,
        values=values,
        response_mask=mask,
        gae_lambda=lam,
    ).returns
    return explained_variance(
        values=values,
        returns=returns,
        response_mask=mask,
    )

print("lambda       one a row  one a token")
for lam in 1, 0.95, 0.5, 0:
    smooth = explained(one_a_row, lam)
    rough = explained(one_a_token, lam)
    cells = f"{smooth:9.1f} {rough:12.1f}"
    print(f"lambda {lam:4} {cells}")
# --8<-- [end:junk-critic]

# --8<-- [start:entropy]
import torch
from ppo_ref.log_probs import token_entropy

device = "cpu"  # or "cuda"
logits = torch.tensor([[[4.0, 2.0, 0.0, 0.0]]])
logits = logits.to(device)
for temperature in 0.1, 0.5, 1.0, 100.0:
    nats = token_entropy(logits, temperature).item()
    print(f"temperature {temperature:5} {nats:.2f}")
# --8<-- [end:entropy]

# --8<-- [start:grad-norm]
import torch
from torch.nn.utils import clip_grad_norm_

device = "cpu"  # or "cuda"
for scale in 1, 1000:
    x = torch.zeros(2).to(device).requires_grad_()
    sgd = torch.optim.SGD([x], lr=0.01)
    (scale * x).sum().backward()
    norm = clip_grad_norm_([x], max_norm=1.0)
    sgd.step()
    print(f"logged {norm:7.2f}  step {x[0]:.3f}")
# --8<-- [end:grad-norm]

# --8<-- [start:length]
import torch

device = "cpu"  # or "cuda"
slots = 4
# ends early, ends in the last slot, is cut off
length = torch.tensor([3, 4, 4]).to(device)
has_eos = torch.tensor([True, True, False])
has_eos = has_eos.to(device)
full = length == slots
truncated = full & ~has_eos
print(f"clip_ratio {full.double().mean():.2f}")
print(f"truncated  {truncated.double().mean():.2f}")
# --8<-- [end:length]

# --8<-- [start:mismatch]
import torch
from ppo_ref.diagnostics import rollout_mismatch
from ppo_ref.log_probs import token_log_probs

torch.manual_seed(0)
device = "cpu"  # or "cuda"
logits = 3 * torch.randn(1, 4096, 64)
probs = logits[0].softmax(1)
ids = torch.multinomial(probs, 1).T.to(device)
logits = logits.to(device)
sampled = token_log_probs(logits, ids)
print(f"{'trainer':15} {'kl_k3':>7} {'share':>7}")
for name, trainer in (
    ("bfloat16", logits.bfloat16().float()),
    ("temperature 0.7", logits / 0.7),
    ("one slot off", logits.roll(1, 1)),
):
    m = rollout_mismatch(
        old_log_probs=token_log_probs(trainer, ids),
        rollout_log_probs=sampled,
        response_mask=ids >= 0,
    )
    share = m.effective_sample_size
    print(f"{name:15} {m.kl_k3:7.4f} {share:7.4f}")
# --8<-- [end:mismatch]

# --8<-- [start:weights]
import torch

device = "cpu"  # or "cuda"
for greatest in 1, 2, 10, 100:
    w = torch.ones(100).to(device)
    w[0] = greatest
    share = w.sum() ** 2 / (len(w) * (w**2).sum())
    print(f"greatest {greatest:3}: {share:.2f}")
# --8<-- [end:weights]

# --8<-- [start:runs]
from ppo_ref.stored_runs import stored_run

def compare(runs, statistics):
    """The first, two on the way, the last."""
    for run in runs:
        print(run)
        for statistic in statistics:
            x = stored_run(run).column(statistic)
            n = len(x)
            print(f"  {statistic:16}", end="")
            for i in 0, n // 4, n // 2, n - 1:
                print(f"{x[i]:8.2f}", end="")
            print()

compare(
    ("learned_reward_without_kl", "learned_reward"),
    ("score", "solved", "kl"),
)
# --8<-- [end:runs]

# --8<-- [start:answers]
free = stored_run("learned_reward_without_kl")
paid = stored_run("learned_reward")
for run in paid, free:
    print(run.header["name"])
    for record in run.records[-4:]:
        answer = "".join(record["response"])
        score = record["score"]
        print(f"  {answer:12} {score:.2f}")
# --8<-- [end:answers]

# --8<-- [start:broken]
compare(
    ("healthy", "flipped_sign", "shifted_values"),
    ("score", "kl", "response_length"),
)
# --8<-- [end:broken]

# --8<-- [start:late]
from ppo_ref.advantages import gae
from ppo_ref.examples import two_token_tree

device = "cpu"  # or "cuda"
tree = two_token_tree(device)  # its critic is exact
rewards = tree.token_level_rewards
late = tree.values.roll(-1, 1)
late[:, -1] = 0
for name, values in (
    ("in time:", tree.values),
    ("one late:", late),
):
    A = gae(
        values=values,
        token_level_rewards=rewards,
        response_mask=tree.response_mask,
    ).advantages[:, 0]
    bad, good = A[:2].mean(), A[2:].mean()
    print(f"{name} bad {bad:5.2f} good {good:5.2f}")
# --8<-- [end:late]

# --8<-- [start:padding]
compare(
    ("penalty", "whitened_over_padding"),
    ("score", "policy_loss", "entropy"),
)
# --8<-- [end:padding]

# --8<-- [start:healthy]
healthy = stored_run("healthy")
print(f"{'':21}  first   last    min    max")
for name in (
    *("score", "kl", "entropy"),
    *("explained_variance", "value_loss"),
    *("policy_loss", "clip_fraction", "approx_kl"),
    *("ratio_min", "ratio_mean", "ratio_max"),
    *("effective_sample_size", "actor_grad_norm"),
    *("critic_grad_norm", "response_length"),
    *("truncated", "rollout_kl"),
):
    x = healthy.column(name)
    four = x[0], x[-1], min(x), max(x)
    print(f"{name:21}", end="")
    print("".join(f"{n:7.3f}" for n in four))
# --8<-- [end:healthy]
