"""Invented rows of advantages; and one answer of a language model as it learns."""

# --8<-- [start:invented]
import torch

dialogue_001 = [  # r_t, V(s_t), printed A_t
    [-0.01, -0.01, -0.01, -0.01, -0.01, 0.99],
    [0.85, 0.88, 0.90, 0.93, 0.96, 0.99],
    [0.037, 0.033, 0.030, 0.021, 0.010, 0.0],
]
dialogue_002 = [
    [-3e-4, -2e-4, -3e-4, -2e-4, -3e-4, 0.9999],
    [0.82, 0.85, 0.88, 0.90, 0.92, 0.95],
    [0.13, 0.10, 0.08, 0.05, 0.03, 0.05],
]
device = "cpu"  # or "cuda"
grid = torch.linspace(0, 1, 1001, device=device)
gamma, lam = grid[:, None], grid  # a million pairs

def least_miss(rows):
    A = V_next = worst = 0 * gamma * lam
    for r, V, printed in list(zip(*rows))[::-1]:
        A = r + gamma * V_next - V + gamma * lam * A
        worst = worst.maximum((A - printed).abs())
        V_next = V
    return worst.min().item()

misses = [least_miss(dialogue_001)]
misses += [least_miss(dialogue_002)]
rounding = 0.0005, 0.005
print(f"001 misses by {misses[0]:.4f} on this grid")
print(f"002 misses by {misses[1]:.4f} on this grid")
fits = [m <= r for m, r in zip(misses, rounding)]
assert any(fits), "no gamma, lambda give these rows"
# --8<-- [end:invented]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

def is_right(question, answer):
    a, b = question.split()[::2]  # "17 + 34 = "
    return answer == str(int(a) + int(b))

run = stored_run("smollm2_ppo")
rights = []
for look in run.records:
    if "answers" not in look:
        continue  # it is of sampled responses
    asked = look["questions"], look["answers"]
    rights.append(sum(map(is_right, *asked)))
    one = dict(zip(*asked))["17 + 34 = "]
    at = look["iteration"]
    print(f"{at:2}  17 + 34 = {one}",
          f"  right: {rights[-1]}")
assert rights[0] < 50 and rights[-1] > 90
# --8<-- [end:real]
