"""What each named correction makes of four weights, and of a response's mean."""

# --8<-- [start:names]
import torch

# trainer / engine, for an answer's four tokens
w = torch.tensor([0.2, 1.0, 1.2, 5.0])
low, high = 0.5, 2.0


def within(x, low=low, high=high):
    return (low <= x) & (x <= high)


product = w.prod()
geometric_mean = product ** (1 / 4)
capped = product.clamp(max=high)
masked = product * within(product)
kept = within(geometric_mean, 0.95, 1.05)
all4 = torch.ones(4)  # one for all tokens
rows = {
    "trainer / engine": w,
    "TIS": w.clamp(max=high),
    "IcePop, MIS": w * within(w),
    "sequence TIS": all4 * capped,
    "sequence MIS": all4 * masked,
    "Geo-RS": all4 * kept,
}
for name, row in rows.items():
    print(f"{name:16}", *(f"{x:.1f}" for x in row))
assert rows["TIS"][3] == 2  # capped
assert rows["IcePop, MIS"][3] == 0  # dropped
assert rows["Geo-RS"][3] == 1  # as if nothing was
# --8<-- [end:names]

# --8<-- [start:underscore]
read = {}
for text in "0.5_2", "0.5_2.0":
    try:
        read[text] = float(text)
    except ValueError:
        read[text] = text  # a string: two bounds
    print(f"{text:8} {read[text]!r}")
assert read["0.5_2"] == 0.52
# --8<-- [end:underscore]

# --8<-- [start:bands]
import math

import torch
from torch.distributions import Binomial

p, q = 0.5, 0.6  # P(right): trainer, engine
steps = math.log(p / q), math.log((1 - p) / (1 - q))
kl = -q * steps[0] - (1 - q) * steps[1]

# The first is rollout_rs_threshold=0.95_1.05, in
# OpenRLHF is_correction_threshold 0.95 1.05.
bands = 0.05, 0.01
print("tokens    wide  narrow")
for T in 10, 100, 1000:
    right = torch.arange(T + 1.0).double()
    chance = Binomial(T, torch.tensor(q).double())
    chance = chance.log_prob(right).exp()
    wrong = T - right
    total = right * steps[0] + wrong * steps[1]
    off = ((total / T).exp() - 1).abs()
    kept = [chance[off < b].sum() for b in bands]
    print(f"{T:6}", *(f"{x:7.4f}" for x in kept))
assert kept[0] > 0.99 and kept[1] < 0.1
# --8<-- [end:bands]
