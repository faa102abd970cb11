"""The goal: the probability of an answer, its score, and J."""

# --8<-- [start:probability]
from ppo_ref.examples import shared_batch

batch = shared_batch()
log_p = batch.old_log_probs
p = log_p.exp()  # of each token
P = log_p.sum(1).exp()  # of each answer
for row, n in enumerate(batch.response_mask.sum(1)):
    cells = (f"{x:.3f}" for x in p[row, :n])
    print(f"answer {row}:", *cells)
    print(f"  product {P[row]:.4f}")
assert p.prod(1).allclose(P)
# --8<-- [end:probability]

# --8<-- [start:rule]
import re

def rule(answer):
    """1 if the last number is 2, else 0."""
    numbers = re.findall(r"\d+", answer)
    return 1.0 if numbers[-1:] == ["2"] else 0.0

texts = "Yes, 1+1=2", "No idea."
for text in texts:
    print(rule(text), text)
assert list(map(rule, texts)) == [1, 0]
# --8<-- [end:rule]

# --8<-- [start:objective]
import torch

s = batch.scores
P_others = 1 - P.sum()
s_others = 0  # an assumption
J = P @ s + P_others * s_others
print(f"J = {J:.4f}")
torch.manual_seed(0)
for n in 2, 100, 10_000:
    drawn = torch.rand(n) < P[0]  # answer 0?
    mean = drawn.double().mean()
    print(f"{n:5} drawn: {mean:.3f}")
# --8<-- [end:objective]

# --8<-- [start:cut]
texts = "1+1=2", "1+1=3"
z = torch.zeros(2, requires_grad=True)
q = z.softmax(0)  # of writing either text
drawn = torch.multinomial(q, 1)
got = rule(texts[drawn])
print("q     ", q.requires_grad)
print("drawn ", drawn.requires_grad)
print("score ", type(got).__name__)
goal = q[0] * rule(texts[0]) + q[1] * rule(texts[1])
print("J     ", goal.requires_grad)
# --8<-- [end:cut]

# --8<-- [start:surer]
surer = p[0].clone()
surer[2] = surer[4]
P_new = surer.prod()
print(f"P {P[0]:.3f} -> {P_new:.3f}")
print(f"J {J:.3f} -> {P_new * s[0]:.3f}")
# --8<-- [end:surer]

# --8<-- [start:units]
print(f"{J:.3f} {P @ (100 * s):.1f}")
# --8<-- [end:units]

# --8<-- [start:hacked]
def lax(answer):
    return 1.0 if "2" in answer else 0.0

for text in "1+1=2", "1+1=3", "1+1=12":
    print(rule(text), lax(text), text)
# --8<-- [end:hacked]
