"""Lines of a log: each figure, and what moves it."""

# --8<-- [start:broken]
from ppo_ref.train.stored_runs import stored_run

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

# --8<-- [start:up-then-down]
print("iteration  score  held_out     kl")
run = stored_run("learned_reward_without_kl")
for line in run.iterations:
    if "held_out" in line:  # every 25 iterations
        print(f"{line['iteration']:9}", end="")
        print(f"{line['score']:7.2f}", end="")
        print(f"{line['held_out']:10.2f}", end="")
        print(f"{line['kl']:7.2f}")
# --8<-- [end:up-then-down]

# --8<-- [start:runs]
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

# --8<-- [start:reward-function]
import re

# verl's rule for GSM8K
RULE = "#### (\\-?[0-9\\.\\,]+)"

def score(answer, truth):
    found = re.findall(RULE, answer)
    last = found[-1] if found else ""
    return float(last.replace(",", "") == truth)

for answer in (
    "5+3=8 #### 8",
    "5+3=8 #### 8.",
    "5+3=8 ####8",
    "5+3=8, so the answer is 8",
    "5+3=8, so \\boxed{8}",
):
    print(score(answer, "8"), answer)
# --8<-- [end:reward-function]

# --8<-- [start:equal-scores]
import torch
from ppo_ref.group_advantages import grpo

device = "cpu"  # or "cuda"
mask = torch.ones(4, 1).bool().to(device)
group = torch.zeros(4).long().to(device)
for name, scores in (
    ("none right", [0.0, 0.0, 0.0, 0.0]),
    ("format alone", [0.1, 0.1, 0.1, 0.1]),
    ("one right", [0.1, 0.1, 0.1, 1.1]),
):
    A = grpo(
        token_level_rewards=torch.tensor([scores])
        .T.to(device),
        response_mask=mask,
        groups=group,
    ).advantages
    told = " ".join(f"{x:5.2f}" for x in A[:, 0])
    print(f"{name:12} {told}")
# --8<-- [end:equal-scores]

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

# --8<-- [start:vf-loss]
import torch
from ppo_ref.losses import value_loss

torch.manual_seed(0)
device = "cpu"  # or "cuda"
R = torch.arange(1000)[None] % 2.0
R = R.to(device)
zero = torch.zeros_like(R)
random = 6 * torch.randn(1, 1000).to(device)
for name, values, returns in (
    ("head begins at 0", zero, R),
    ("head drawn at random", random, R),
    ("scores up to 100", zero, 100 * R),
):
    loss = value_loss(
        values=values,
        old_values=values,
        returns=returns,
        response_mask=torch.ones_like(R).bool(),
        value_clip_range=0.5,
    ).loss
    print(f"{name:20} {loss:8.2f}")
# --8<-- [end:vf-loss]

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

# --8<-- [start:nan]
import torch
from torch.nn.utils import clip_grad_norm_

device = "cpu"  # or "cuda"
inf = torch.tensor(float("inf")).to(device)
nothing = torch.zeros(0).to(device)
big = torch.tensor(12.0).to(device)
for name, x in (
    ("-inf less -inf", -inf + inf),
    ("mean of no token", nothing.mean()),
    ("exp(12) in float16", big.exp().half()),
):
    print(f"{name:20} {x.item():4.0f}")

weights = torch.ones(3).to(device).requires_grad_()
weights.grad = torch.tensor([0.1, 0.2, inf - inf])
norm = clip_grad_norm_([weights], max_norm=1.0)
print(f"grad_norm            {norm.item():4.0f}")
print("clipped", weights.grad.tolist())
dead = torch.full((9,), inf - inf)
print("argmax", dead.argmax().item())
# --8<-- [end:nan]

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

# --8<-- [start:kl-coef]
import torch

# Two answers: one in five is right, and scores 1.
reference = torch.tensor([0.2, 0.8])
score = torch.tensor([1.0, 0.0])
print("coefficient right    KL")
for coefficient in 10, 1, 0.1, 0.01:
    # No policy does better with this coefficient.
    logits = reference.log() + score / coefficient
    best = logits.softmax(0)
    kl = (best * (best / reference).log()).sum()
    right = best[0]
    row = f"{coefficient:11} {right:5.2f} {kl:5.2f}"
    print(row)
# --8<-- [end:kl-coef]

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

# --8<-- [start:entropy-up]
import torch

device = "cpu"  # or "cuda"
for coefficient in 0, 0.001:
    start = torch.tensor([0.90, 0.09, 0.01])
    logits = start.log().to(device).requires_grad_()
    adam = torch.optim.Adam([logits], lr=0.1)
    print(f"entropy_coeff={coefficient}")
    for step in range(41):
        log_probs = logits.log_softmax(0)
        probs = log_probs.exp()
        entropy = -(probs * log_probs).sum()
        if step % 20 == 0:
            print(f"  step {step:2} {entropy:5.2f}")
        adam.zero_grad()
        # all scores equal: the bonus stands alone
        (-coefficient * entropy).backward()
        adam.step()
# --8<-- [end:entropy-up]

# --8<-- [start:learning-rate]
import torch

device = "cpu"  # or "cuda"
A = torch.tensor([1.0, -1.0, -1.0]).to(device)
print("lr     ratio_max")
for lr in 1e-06, 1e-03, 1.0:
    logits = torch.zeros(3).to(device)
    logits.requires_grad_()
    adam = torch.optim.Adam([logits], lr=lr)
    old = logits.detach().softmax(0)
    for _ in range(4):
        ratio = logits.softmax(0) / old
        adam.zero_grad()
        (-(old * ratio * A).sum()).backward()
        adam.step()
    ratio = logits.detach().softmax(0) / old
    print(f"{lr:5.0e} {ratio.max():10.5f}")
# --8<-- [end:learning-rate]

# --8<-- [start:bfloat16]
import torch

device = "cpu"  # or "cuda"
torch.manual_seed(0)
weights = 0.02 * torch.randn(1_000_000)
weights = weights.bfloat16().to(device)
moved = {}
for lr in 1e-06, 1e-05:
    moves = weights - lr != weights
    moved[lr] = moves.double().mean().item()
    print(f"{lr:.0e}: {moved[lr]:.0%} move")
assert moved[1e-06] < 0.05 < moved[1e-05] < 0.2
# --8<-- [end:bfloat16]

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

# --8<-- [start:cut-off]
import torch

device = "cpu"  # or "cuda"
limit = 512  # data.max_response_length
for lengths in [90, 200, 310], [90, 512, 512]:
    lengths = torch.tensor(lengths).to(device)
    logged = lengths == lengths.max()  # verl 0.9.1
    full = lengths == limit
    print(f"logged {logged.double().mean():.2f}")
    print(f"full   {full.double().mean():.2f}")
# --8<-- [end:cut-off]

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
trainers = {
    "bfloat16": logits.bfloat16().float(),
    "temperature 0.7": logits / 0.7,
    "one slot off": logits.roll(1, 1),
}
print(f"{'trainer':15} {'kl_k3':>7} {'share':>7}")
for name, trainer in trainers.items():
    m = rollout_mismatch(
        old_log_probs=token_log_probs(trainer, ids),
        rollout_log_probs=sampled,
        response_mask=ids >= 0,
    )
    share = m.effective_sample_size
    print(f"{name:15} {m.kl_k3:7.4f} {share:7.4f}")
# --8<-- [end:mismatch]

# --8<-- [start:samplers]
from ppo_ref.log_probs import kept_log_probs
from ppo_ref.log_probs import kept_tokens

samplers = {  # temperature, top-p
    "bfloat16": (1.0, 1.0),
    "colder": (0.7, 1.0),
    "hotter": (1.3, 1.0),
    "top-p": (1.0, 0.9),
}
print("sampler   p diff   mean  least   most")
for name, (T, top_p) in samplers.items():
    z = logits
    if name == "bfloat16":
        z = z.bfloat16().float()
    given = {"temperature": T, "top_p": top_p}
    kept = kept_tokens(z, **given)
    cut = (z / T).masked_fill(~kept, -torch.inf)
    torch.manual_seed(0)
    probs = cut[0].cpu().softmax(1)
    drawn = torch.multinomial(probs, 1).T.to(device)
    rollout = kept_log_probs(z, drawn, kept, T)
    old = token_log_probs(logits, drawn)
    diff = (old.exp() - rollout.exp()).abs().mean()
    log_ratio = old - rollout
    ratio = log_ratio.exp()
    mean = ratio.mean()
    row = diff, mean, ratio.min(), ratio.max()
    cells = (f"{x:6.3f}" for x in row)
    print(f"{name:9}", *cells)
    kl = -log_ratio.mean()
    k3_kl = (ratio - log_ratio - 1).mean()
    assert (1 + k3_kl - kl).isclose(mean)
# --8<-- [end:samplers]

# --8<-- [start:rollout-corr]
print(f"{'':15}      kl   k3_kl   chi2_token")
for name, trainer in trainers.items():
    old = token_log_probs(trainer, ids)
    log_ratio = old - sampled
    ratio = log_ratio.exp()
    kl = -log_ratio.mean()
    k3_kl = (ratio - log_ratio - 1).mean()
    chi2 = (ratio**2).mean() - 1
    figures = f"{kl:7.3f} {k3_kl:7.3f} {chi2:12.3f}"
    print(f"{name:15} {figures}")
# --8<-- [end:rollout-corr]

# --8<-- [start:weights]
import torch

device = "cpu"  # or "cuda"
for greatest in 1, 2, 10, 100:
    w = torch.ones(100).to(device)
    w[0] = greatest
    share = w.sum() ** 2 / (len(w) * (w**2).sum())
    print(f"greatest {greatest:3}: {share:.2f}")
# --8<-- [end:weights]

# --8<-- [start:log]
import textwrap
from ppo_ref.train.stored_runs import stored_run

names = {
    "actor/entropy": "entropy",
    "actor/reward_kl_penalty": "kl",
    "critic/vf_loss": "value_loss",
    "critic/grad_norm": "critic_grad_norm",
    "actor/pg_loss": "policy_loss",
    "actor/pg_clipfrac": "clip_fraction",
    "actor/ppo_kl": "approx_kl",
    "actor/grad_norm": "actor_grad_norm",
    "val-core/sums/acc/mean@1": "held_out",
    "critic/score/mean": "score",
    "critic/vf_explained_var": "explained_variance",
    "response_length/mean": "response_length",
    "response_length/clip_ratio": "truncated",
}
free = stored_run("learned_reward_without_kl")
figures = free.iterations[49]
log = "step:50"
for verl, ours in names.items():
    log += f" - {verl}:{figures[ours]:.3f}"
lines = textwrap.wrap(
    log, 52, break_on_hyphens=False
)
for line in lines:
    print(line)
# --8<-- [end:log]

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

# --8<-- [start:healthy_real]
spoken = [stored_run(f"smollm2_ppo{seed}")
          for seed in ("", "_seed_1", "_seed_2")]
print(f"{'':17}  iteration 1    last ten")
for name in (
    *("score", "kl", "entropy"),
    *("explained_variance", "policy_loss"),
    *("clip_fraction", "approx_kl", "ratio_max"),
    *("actor_grad_norm", "critic_grad_norm"),
    *("response_length", "truncated"),
):
    print(f"{name:18}", end="")
    for part in slice(1), slice(-10, None):
        x = [value for run in spoken
             for value in run.column(name)[part]]
        low, high = min(x), max(x)
        print(f"{low:6.2f} {high:5.2f}", end="  ")
    print()
# --8<-- [end:healthy_real]

# --8<-- [start:posted]
posted = {  # as logged in these threads
    "actor/entropy": (0.323, None, 0.222666),
    "actor/pg_loss": (0.001, 0.010, 0.042397),
    "actor/pg_clipfrac": (0.001, 0.001, 0.000794),
    "actor/kl_loss": (0.000, None, 0.001328),
    "actor/grad_norm": (0.020, 0.279, 0.129639),
    "critic/score/mean": (0.558, -0.643, -0.018280),
    "response_length/mean": (288.7, 1161.2, 1267.0),
    "response_length/max": (963, 9723, 3072),
    "rollout_probs_diff_mean": (0.003, None, None),
}
print(f"{'verl':24}    #2060    #1458    #7412")
for name, row in posted.items():
    cells = ("-" if x is None else x for x in row)
    print(f"{name:24}", *(f"{x:>8}" for x in cells))
# --8<-- [end:posted]

# --8<-- [start:settings]
actor = "actor_rollout_ref.actor"
settings = {  # verl 0.9.1's default, what to try
    f"{actor}.optim.lr": (1e-06, 1e-07),
    "critic.optim.lr": (1e-05, 1e-06),
    f"{actor}.clip_ratio_high": (0.2, 0.28),
    f"{actor}.entropy_coeff": (0, 0.001),
    f"{actor}.kl_loss_coef": (0.001, 0.01),
    "algorithm.kl_ctrl.kl_coef": (0.001, 0.01),
}
for key, (default, tried) in settings.items():
    print(f"{key}={tried}")
    print(f"    default {default}")
# --8<-- [end:settings]
