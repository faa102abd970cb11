"""What the critic buys, beside a group's mean and beside no baseline network."""

# --8<-- [start:estimates]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch
from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    rloo,
)
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)  # one prompt, twice
V, mask = batch.values, batch.response_mask
r = token_level_scores(batch.scores, mask)
s = r.sum(1, keepdim=True)  # a score a response
n = len(s)

given = {
    "token_level_rewards": r,
    "response_mask": mask,
}
prompt = torch.tensor([7, 7], device=device)
group = {**given, "groups": prompt}
others = (s.sum() - s) / (n - 1)
excess = s - s.mean()
for name, bare, judge in (
    ("gae", s - V, gae(**given, values=V)),
    ("dr_grpo", excess, dr_grpo(**group)),
    ("rloo", s - others, rloo(**group)),
    ("grpo", excess / s.std(), grpo(**group)),
):
    A = torch.where(mask, bare, 0)
    same = torch.isclose(A, judge.advantages, 1e-5)
    assert same.all()
    for row in 0, 1:
        shown = A[row, mask[row]]
        cells = (f"{x:5.2f}" for x in shown)
        print(f"{name:8}row {row}", *cells)
# --8<-- [end:estimates]

# --8<-- [start:runs]
from ppo_ref.train.stored_runs import stored_run

score = {}  # mean of iterations 1-10, 11-20, ...
print(" " * 12 + "prompts critic", end="")
print("  1-10 21-30 41-50 91-100")
for run, name in (
    ("healthy", "GAE"),
    ("reinforce_plus_plus", "REINFORCE++"),
    ("four_responses", "GAE"),
    ("rloo", "RLOO"),
    ("grpo", "GRPO"),
):
    told = stored_run(run)
    options = told.header["options"]
    each = options.get("responses_per_prompt", 1)
    steps = sum(
        line.get("critic_steps", 0)
        for line in told.iterations
    )
    x = told.column("score")
    starts = range(0, 100, 10)
    tens = (x[i : i + 10] for i in starts)
    score[run] = [sum(ten) / 10 for ten in tens]
    print(f"{name:12}{256 // each:7}", end="")
    print(f"{steps:7}", end="")
    shown = (score[run][i] for i in (0, 2, 4, 9))
    print(*(f" {x:.3f}" for x in shown), sep="")

def gaps(one, other):
    pairs = zip(score[one], score[other])
    return [x - y for x, y in pairs]

most = 0.02
plain = "reinforce_plus_plus"
alike = gaps("healthy", plain)
assert max(map(abs, alike)) < most
for name in "rloo", "grpo":
    assert min(gaps("four_responses", name)) > 0
    assert min(gaps(plain, name)) > 0
asked = gaps(plain, "four_responses")
assert min(asked[1:9]) > 0  # iterations 11 to 90
# --8<-- [end:runs]

# --8<-- [start:weights]
size = 8  # responses to a prompt
for k in 1, 2, 4, 6, 7, 8:  # of them right, score 1
    x = (torch.arange(size) < k).double()[:, None]
    x = x.to(device)
    drawn = {
        "token_level_rewards": x,
        "response_mask": x >= 0,
        "groups": torch.zeros_like(x[:, 0]).long(),
    }
    pull = [
        f(**drawn).advantages.abs().sum().item()
        for f in (dr_grpo, grpo)
    ]
    print(f"{k} of {size} right:", end="")
    print(*(f"{x:7.2f}" for x in pull))
# --8<-- [end:weights]

# --8<-- [start:settled]
right = 0.95  # how often a response scores 1
for size in 2, 4, 8, 16:
    equal = right**size + (1 - right) ** size
    print(f"{size:2} responses: {equal:.0%}")
# --8<-- [end:settled]

# --8<-- [start:equal]
from itertools import product
from math import prod

def prompt_with(p):  # over all groups of four
    kept = whole = rest = 0.0
    for g in product((0.0, 1.0), repeat=4):
        chance = prod(p if x else 1 - p for x in g)
        x = torch.tensor(g)
        A = x - x.mean()  # Dr. GRPO
        pull = chance * (A * (x - p)).mean()
        whole += pull
        if len(set(g)) > 1:
            kept, rest = kept + chance, rest + pull
    return kept, whole, rest

chances = 0.05, 0.5, 0.95
exact = torch.tensor([*map(prompt_with, chances)])
kept, whole, rest = exact.T
print("right  share  all     kept    refilled")
for p, row in zip(chances, exact):
    share, before, after = row
    print(f"{p:5}  {share:.3f}", end="")
    print(f"  {before:.4f}  {after:.4f}", end="")
    print(f"  x {after / kept.mean() / before:.2f}")
assert rest.allclose(whole)
# --8<-- [end:equal]

# --8<-- [start:residue]
x = torch.full((7,), 0.35)  # seven equal scores
mean, square = sum(x) / 7, sum(x * x) / 7
std = (square - mean**2).sqrt()  # exactly: 0
print(f"std {std:.1e}")
A = (0 - mean) / (std + 1e-6)
print(f"A of an eighth that scores 0: {A:.0f}")
eight = torch.cat([x, 0 * x[:1]])[:, None]
judged = grpo(
    token_level_rewards=eight,
    response_mask=eight >= 0,
    groups=torch.zeros(8).long(),
).advantages
print(f"grpo: {judged[-1, 0]:.2f}")
for n in 6, 8:  # answers, all of the same score
    same = torch.full((n,), 0.1, dtype=torch.double)
    print(n, "are equal:", same.numpy().std() == 0)
# --8<-- [end:residue]

# --8<-- [start:clip]
from ppo_ref.losses import policy_loss

A = grpo(**group).advantages
log_ratio = (0.5 * A.sign()).requires_grad_()
loss = policy_loss(
    log_probs=log_ratio,
    old_log_probs=0 * A,
    advantages=A,
    response_mask=mask,
).loss
(slope,) = torch.autograd.grad(loss, log_ratio)
assert slope.any(), "GRPO does not clip"
# --8<-- [end:clip]

# --8<-- [start:ablation]
dropped = {}
for x in 0.0, 1.0:  # all four wrong, all right
    same = torch.full((4, 1), x, device=device)
    A = dr_grpo(
        token_level_rewards=same,
        response_mask=same >= 0,
        groups=torch.zeros_like(same[:, 0]).long(),
    ).advantages
    dropped[x] = A.any().item()
    print(f"scores {x}: A", *A[:, 0].tolist())
lost = any(dropped.values())
assert lost, "no gradient was dropped"
# --8<-- [end:ablation]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

print("            prompts  right")
for way, name, prompts in (
    ("GAE", "ppo", 32),
    ("GAE", "eight_responses", 4),
    ("GRPO", "grpo", 4),
    ("REINFORCE++", "without_critic", 32),
):
    run = stored_run(f"smollm2_{name}")
    right = run.column("held_out")[-1]
    print(f"{way:11} {prompts:7}  {right:.2f}")
# --8<-- [end:real]
