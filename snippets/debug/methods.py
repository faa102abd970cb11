"""Methods on one batch: each is PPO with a few parts exchanged."""

# --8<-- [start:batch]
import torch

# two prompts, two responses each; one is right
lengths = torch.tensor([[2], [3], [1], [1]])
mask = torch.arange(3) < lengths
prompts = torch.tensor([0, 0, 1, 1])
scores = torch.zeros(4, 3)
scores[0, 1] = 1
V = mask * torch.tensor([0.3, 0.5, 0.4])

old = -mask.float()  # log-probs
new, engine = old.clone(), old.clone()
new[0, 1] += torch.tensor(1.25).log()  # ratio 1.25
engine[1, 2] -= torch.tensor(4.0).log()  # far off
# --8<-- [end:batch]

# --8<-- [start:parts]
from ppo_ref.advantages import gae
from ppo_ref.aggregation import (
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from ppo_ref.clip_variants import (
    cispo_loss,
    gmpo_loss,
    gspo_loss,
    sapo_loss,
)
from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    rloo,
)
from ppo_ref.losses import policy_loss
from ppo_ref.rollout_correction import (
    accepted_tokens,
    token_weights,
)

def part(changes, **settings):
    return changes, settings

def baseline(estimate, **more):
    A = estimate(
        token_level_rewards=scores,
        response_mask=mask,
        **more,
    )
    A = getattr(A, "advantages", A)
    return part("baseline", advantages=A)

def by_length(**batch):  # a lambda for each row
    rows = []
    for i, n in enumerate(lengths):
        own = {k: x[[i]] for k, x in batch.items()}
        lam = 1 - 1 / n.item()  # alpha is 1
        rows.append(gae(**own, gae_lambda=lam))
    return torch.cat([A for A, _ in rows])

critic = baseline(gae, values=V)
own_lambda = baseline(by_length, values=V)
group = baseline(grpo, groups=prompts)
no_std = baseline(dr_grpo, groups=prompts)
others = baseline(rloo, groups=prompts)
batch = baseline(reinforce_plus_plus)

by_token = part("mean", aggregate=token_mean)
by_response = part(
    "mean", aggregate=sequence_mean_token_mean
)
constant = part(
    "mean", aggregate=sequence_mean_token_sum
)

higher = part("clip", clip_range=(0.2, 0.28))
weight = part("clip", loss=cispo_loss)
soft = part("clip", loss=sapo_loss)
sequence = part("ratio clip", loss=gspo_loss)
geometric = part("ratio clip", loss=gmpo_loss)
neither = part(
    "ratio clip", loss=cispo_loss, bounds=(1.0, 1.0)
)

ours = {"old_log_probs": old, "response_mask": mask}
both = ours | {"rollout_log_probs": engine}
times = token_weights(**both, cap=9.0)
capped = part(
    "ratio", rollout_weights=times.clamp(max=2)
)
banded = part(
    "ratio mask",
    rollout_weights=times * accepted_tokens(**both),
)
first = (prompts == 0)[:, None]  # differs
unequal = part("mask", response_mask=mask & first)
# --8<-- [end:parts]

# --8<-- [start:methods]
ppo = [critic, by_token, part("", loss=policy_loss)]
methods = {
    "PPO": [],
    "GRPO": [by_response, group],
    "Dr. GRPO": [constant, no_std],
    "DAPO": [unequal, group, higher],
    "RLOO": [neither, constant, others],
    "REINFORCE++": [batch],
    "GSPO": [sequence, by_response, group],
    "CISPO": [group, weight],
    "SAPO": [by_response, group, soft],
    "GMPO": [geometric, by_response, group],
    "VAPO": [own_lambda, higher],
    "TIS": [capped],
    "IcePop": [banded],
}

def push(parts):
    x = new.clone().requires_grad_()
    given = ours | {"log_probs": x}
    for _, settings in ppo + parts:
        given = given | settings
    loss = given.pop("loss")
    loss(**given).loss.backward()
    return -x.grad

heads = "right1 right2 wrong1 wrong2 wrong3"
print("changes      ", heads)
for name, parts in methods.items():
    g = push(parts)
    names = " ".join(each for each, _ in parts)
    pushes = (f"{v:z6.2f}" for v in g[mask][:5])
    print(len(names.split()), f"{name:11}", *pushes)
# --8<-- [end:methods]

# --8<-- [start:more]
from types import SimpleNamespace
from ppo_ref.masking import masked_whiten

brief = torch.zeros(4, 3)  # pays short answers
brief[[0, 2, 3], [1, 0, 0]] = 1

def gdpo(token_level_rewards, **batch):
    total = 0  # each reward by itself, then added
    for r in token_level_rewards, brief:
        A = grpo(token_level_rewards=r, **batch)
        total = total + A.advantages
    return masked_whiten(total, mask)

def in_groups(baseline, std=False):
    def estimate(token_level_rewards, **batch):
        r = token_level_rewards.sum(1)
        G = r[:, None] * mask
        A = torch.zeros(4, 3)
        for rows in torch.arange(4).split(2):
            b = baseline(G[rows], rows)
            A[rows] = G[rows] - b
            if std:
                A[rows] /= G[rows, 0].std() + 1e-6
        return A * mask
    return estimate

def by_lengths(G, rows):  # OPO
    n = lengths[rows]
    return (n * G[:, :1]).sum() / n.sum()

def by_token(G, rows):  # OTB, of two tokens a place
    p = old[rows].exp()
    square = p**2 + (1 - p) ** 2
    W = (1 - 2 * p + square) * mask[rows]
    W = W.cumsum(1) * mask[rows]
    b = (G * W).sum(0) / (W.sum(0) + 1e-8)
    alone = mask[rows].sum(0) == 1
    return b.masked_fill(alone, 0)

def second_best(G, rows):  # pass@k: the best alone
    best = G[:, 0] == G[:, 0].max()
    second = G[:, 0].sort().values[-2]
    return torch.where(best[:, None], second, G)

def weighted(weight):  # a weight, and no clip
    def loss(log_probs, advantages, aggregate, **_):
        ratio = (log_probs - old).exp().detach()
        w = weight(ratio, advantages)
        each = -w * advantages * log_probs
        total = aggregate(each, mask)
        return SimpleNamespace(loss=total)
    return loss

def dppo(ratio, A):  # probabilities moved by 0.2
    moved = old.exp() * (ratio - 1)
    high, low = moved > 0.2, moved < -0.2
    out = torch.where(A > 0, high, low)
    return ratio * ~out

def vespo(ratio, A):  # falls on both sides of 1
    w = (ratio.log() * mask).sum(1).exp()[:, None]
    k = torch.where(A >= 0, 2, 3)
    b = torch.where(A >= 0, 3, 2)
    return w**k * (b * (1 - w)).exp()

def regression(log_probs, **_):  # A*-PO
    r, beta = scores.sum(1), 0.5
    groups = (r / beta).exp().view(2, 2)
    V_star = beta * groups.mean(1).log()[prompts]
    away = ((log_probs - old) * mask).sum(1)
    loss = ((away - (r - V_star)) ** 2).mean()
    return SimpleNamespace(loss=loss)

every_part = "baseline mean ratio clip"
newer = {
    "DPPO": [part("clip", loss=weighted(dppo))],
    "VESPO": [
        group,
        part("ratio clip", loss=weighted(vespo)),
    ],
    "LUSPO": [sequence, constant, group],
    "GDPO": [
        by_response,
        baseline(gdpo, groups=prompts),
    ],
    "OPO": [
        neither,
        baseline(in_groups(by_lengths)),
    ],
    "OTB": [baseline(in_groups(by_token))],
    "pass@k": [
        baseline(in_groups(second_best, std=True))
    ],
    "A*-PO": [part(every_part, loss=regression)],
}
# --8<-- [end:more]

# --8<-- [start:newer]
methods |= newer
print("changes      ", heads)
for name, parts in newer.items():
    g = push(parts)
    names = " ".join(each for each, _ in parts)
    pushes = (f"{v:z6.2f}" for v in g[mask][:5])
    print(len(names.split()), f"{name:11}", *pushes)
# --8<-- [end:newer]
