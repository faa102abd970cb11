"""Claims of official documents about ratios and caps, computed."""

# --8<-- [start:length]
import torch
from math import log
from torch.distributions import Binomial

mu, pi = 0.6, 0.53  # of the first token
up, down = log(pi / mu), log((1 - pi) / (1 - mu))
mean = mu * pi / mu + (1 - mu) * (1 - pi) / (1 - mu)
drift = mu * up + (1 - mu) * down  # -KL(mu, pi)
row = f"ratio {mean:.3f}, log {drift:.4f}"
print(f"one token: {row}")
print("tokens  log  below 0.5  kept  above 2")
first, lost = torch.tensor(mu), []
for T in 10, 100, 1000:
    n = torch.arange(T + 1.0)  # of the first token
    share = Binomial(T, first).log_prob(n).exp()
    rho = n * up + (T - n) * down  # log of product
    low = share[rho < -log(2)].sum()
    high = share[rho > log(2)].sum()
    kept = 1 - low - high
    row = f"{low:8.2f} {kept:8.2f} {high:8.2f}"
    print(f"{T:5} {T * drift:6.1f} {row}")
    lost.append((low, high))
assert abs(mean - 1) < 1e-12 and drift < 0
assert lost[-1][0] > 0.9 and lost[-1][1] < 0.1
# --8<-- [end:length]

# --8<-- [start:cispo]
import torch

logp = torch.tensor(-1.0).requires_grad_()
ratio = (logp - logp.detach()).exp()  # 1
slopes = []
for cap in 0.2, 5.0:  # as by default, as advised
    weight = ratio.clamp(max=cap).detach()
    goal = weight * logp  # A is 1
    (g,) = torch.autograd.grad(goal, logp)
    print(f"epsilon_high {cap}: gradient {g:.1f}")
    slopes.append(g)
assert slopes[0] == 0.2 and slopes[1] == 1
# --8<-- [end:cispo]
