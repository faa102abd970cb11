"""What official documents say of ratios and caps, computed."""

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

# --8<-- [start:divisor]
import torch
from torch.distributions import Multinomial

score = torch.tensor([1.0, 0.0, 0.0])
length = torch.tensor([2.0, 2.0, 8.0])
p = torch.ones(3) / 3
A = score - p @ score

def direction(on_log_probs):
    g = on_log_probs - p * on_log_probs.sum()
    return g / g[0]  # by the logits

print("divisor         right short  long")
rows = [("a constant", p * A)]
for N in 4, 16, 256:
    n = torch.arange(N + 1.0)
    n = torch.cartesian_prod(n, n)
    n = n[n.sum(1) <= N]  # right, short
    n = torch.cat([n, N - n.sum(1, True)], 1)
    share = Multinomial(N, p).log_prob(n).exp()
    steps = n * A / (n @ length)[:, None]
    rows.append((f"tokens of {N}", share @ steps))
for name, row in rows:
    cells = (f"{x:6.3f}" for x in direction(row))
    print(f"{name:14}", *cells)
shares = [direction(row)[1] for _, row in rows]
assert shares[0] == -0.5 and shares[1] < -0.55
assert abs(shares[3] + 0.5) < 0.01
# --8<-- [end:divisor]

# --8<-- [start:truncated]
from math import comb

p, n = 0.5, 4  # p: of finishing, which scores 1
punished = masked = left_out = 0
for k in range(n + 1):  # so many finish
    share = comb(n, k) * p**k * (1 - p) ** (n - k)
    mean = k / n
    finished = share * k * (1 - p) / n  # slopes
    cut = share * (n - k) * -p / n
    masked += (1 - mean) * finished
    punished += (1 - mean) * finished - mean * cut
    left_out += (1 - 1) * finished
print(f"punished         {punished:.3f}")
print(f"masked           {masked:.3f}")
print(f"not in the mean  {left_out:.3f}")
assert masked == punished / 2 > left_out
# --8<-- [end:truncated]
