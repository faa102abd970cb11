"""Two rows of advantages that dialogues printed, and the gamma and lambda they need."""

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
