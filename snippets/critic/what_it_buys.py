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
print(" " * 12 + "prompts", end="")
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
    x = told.column("score")
    starts = range(0, 100, 10)
    tens = (x[i : i + 10] for i in starts)
    score[run] = [sum(ten) / 10 for ten in tens]
    print(f"{name:12}{256 // each:7}", end="")
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
