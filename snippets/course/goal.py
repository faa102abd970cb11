"""The goal: all answers of a small actor, their scores, and J."""

# --8<-- [start:probability]
import torch

log_p = torch.tensor(
    [-0.12, -0.08, -0.15, -0.10, -0.05, -0.02]
)
p = log_p.exp()  # of each token
print(*(f"{x:.3f}" for x in p))
print(f"product {p.prod():.4f}")
assert p.prod().allclose(log_p.sum().exp())
# --8<-- [end:probability]

# --8<-- [start:world]
from ppo_ref.examples import WORDS, world

w = world()
P = w.response_probs(w.edge_log_probs)
for row, mask in enumerate(w.response_mask):
    ids = w.responses[row, mask]
    words = [WORDS["en"][i] for i in ids]
    cells = f"{P[row]:.4f} {w.scores[row]:.0f}"
    print(cells, *words)
assert f"{P.sum():.6f}" == "1.000000"
assert P[0].isclose(p.prod().double())
# --8<-- [end:world]

# --8<-- [start:rule]
import re

def rule(answer):
    """1 if the last number is 2, else 0."""
    numbers = re.findall(r"\d+", answer)
    return 1.0 if numbers[-1:] == ["2"] else 0.0

texts = "Yes, 1+1=2", "Yes, it's 3", "No idea."
for text in texts:
    print(rule(text), text)
assert list(map(rule, texts)) == [1, 0, 0]
# --8<-- [end:rule]

# --8<-- [start:objective]
J = P @ w.scores
others = J - P[0]
print(f"J = {P[0]:.4f} + {others:.4f} = {J:.4f}")
# What the cells of the wall say.
values = w.prefix_values(w.edge_log_probs)
V = dict(zip(w.prefixes, values, strict=True))
assert f"{others:.4f}" == "0.2265"
# --8<-- [end:objective]

# --8<-- [start:puzzle]
def moved(borders):
    """Log-probs with such shares after prefixes."""
    log_probs = w.edge_log_probs.clone()
    for prefix, shares in borders.items():
        place = w.prefixes.index(prefix)
        shares = w.scores.new_tensor(shares)
        log_probs[w.parents == place] = shares.log()
    return log_probs

tries = {
    "Yes": {"": [1, 0, 0]},
    "Yes, 1+1=2": {"Yes , 1+1 =": [1, 0]},
    "Yes! 2": {"Yes !": [1, 0]},
    "No problem": {"No": [0, 1]},
}
reached = {
    name: w.mean_score(moved(borders))
    for name, borders in tries.items()
}
for name, mean in reached.items():
    print(f"{mean:.4f} {name}")
assert max(reached, key=reached.get) == "No problem"
# --8<-- [end:puzzle]

# --8<-- [start:drawn]
torch.manual_seed(0)
for n in 2, 8, 100, 10_000:
    drawn = torch.multinomial(P, n, True)
    mean = w.scores[drawn].mean()
    print(f"{n:5} drawn: {mean:.3f}")
assert abs(mean - J) < 0.02
# --8<-- [end:drawn]

# --8<-- [start:scatter]
one = ((w.scores - J).square() @ P).sqrt()
drawn = torch.multinomial(P, 2000 * 100, True)
means = w.scores[drawn].view(2000, 100).mean(1)
print(f"one score    {one:.3f}")
print(f"mean of 100  {means.std():.3f}")
assert abs(means.std() - one / 10) < 0.002
# --8<-- [end:scatter]

# --8<-- [start:cut]
texts = "Yes, it's 2", "Yes, it's 3"
z = torch.tensor([3.0, 1.0]).log().requires_grad_()
q = z.softmax(0)  # of writing either text
choice = torch.multinomial(q, 1)
got = rule(texts[choice])
print("q     ", q.requires_grad)
print("choice", choice.requires_grad)
print("score ", type(got).__name__)
goal = q[0] * rule(texts[0]) + q[1] * rule(texts[1])
print("mean  ", goal.requires_grad)
assert goal.isclose(V["Yes , it's"].float())
# --8<-- [end:cut]

# --8<-- [start:always]
yes = w.mean_score(moved({"": [1, 0, 0]}))
print(f"{yes:.4f} {V['Yes']:.4f}")
assert yes.isclose(V["Yes"])
yes_wide = w.edge_log_probs[0].exp()  # slips
yes_alone = yes_wide * V["Yes"]
# --8<-- [end:always]

# --8<-- [start:its]
its = w.mean_score(moved({"Yes ,": [0, 1]}))
print(f"{its:.4f}")
for prefix in "Yes , 1+1", "Yes , it's":
    print(f"{V[prefix]:.4f} {prefix}")
assert its < J
its_cell = V["Yes , it's"]
# --8<-- [end:its]

# --8<-- [start:same]
short = {
    "": [1, 0, 0], "Yes": [1, 0], "Yes ,": [0, 1]
}
last = "Yes , it's"
other = moved(short | {last: [J, 1 - J]})
best = moved(short | {last: [1, 0]})
for actor in w.edge_log_probs, other, best:
    print(f"{w.mean_score(actor):.4f}")
assert w.mean_score(other).isclose(J)
# --8<-- [end:same]
