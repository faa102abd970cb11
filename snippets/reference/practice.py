"""A hole filled in with a bug, its judge, and the same without the bug."""

# --8<-- [start:wrong]
import torch

def gae(rewards, values, mask, gamma, gae_lambda):
    """GAE, with a bug that is easy to make."""
    decay = gamma * gae_lambda
    advantages = torch.zeros_like(rewards)
    for row, length in enumerate(mask.sum(1)):
        carried = 0.0
        for t in reversed(range(length)):
            after = 0.0
            if t + 1 < mask.shape[1]:
                after = values[row, t + 1]
            delta = rewards[row, t] + gamma * after
            delta = delta - values[row, t]
            carried = delta + decay * carried
            advantages[row, t] = carried
    return advantages
# --8<-- [end:wrong]

# --8<-- [start:judged]
from ppo_ref.practice.holes.gae import HOLE
from ppo_ref.practice.judging import judge_here

verdict = judge_here(gae, HOLE)
print(verdict.said, verdict.mistake)
print("wrong", verdict.wrong, "of", verdict.batches)
rows = {
    "rewards": verdict.case.rewards,
    "values": verdict.case.values,
    "mask": verdict.case.mask,
    "yours": verdict.got.values[0],
    "right": verdict.right.values[0],
}
for name, row in rows.items():
    numbers = (f"{x:5.2f}" for x in row[0])
    print(f"{name:8}", *numbers)
# --8<-- [end:judged]

# --8<-- [start:right]
import torch

def fixed(rewards, values, mask, gamma, gae_lambda):
    """Nothing is expected behind the end."""
    V = torch.where(mask, values, 0)
    return gae(rewards, V, mask, gamma, gae_lambda)

verdict = judge_here(fixed, HOLE)
print(verdict.said, verdict.batches)
# --8<-- [end:right]

# --8<-- [start:known]
from importlib import import_module

from ppo_ref.practice import words

for name in words.HOLES:
    path = "ppo_ref.practice.holes." + name
    hole = import_module(path).HOLE
    print(f"{name:20} {len(hole.mistakes)} known")
# --8<-- [end:known]
