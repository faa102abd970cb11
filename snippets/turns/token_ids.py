"""Decoded and encoded again: other ids, other log-probs, another gradient."""

# --8<-- [start:drift]
from itertools import product

moved = 0
for ids in product(["a", "b", "ab"], repeat=10):
    again = "".join(ids).replace("ab", "X")  # X: ab
    moved += len(again) < len(ids)
print(f"{moved / 3**10:.3f} come back as other ids")
assert moved > 0.7 * 3**10
# --8<-- [end:drift]

# --8<-- [start:credit]
import torch

device = "cpu"  # or "cuda"
zeros = torch.zeros(2, 2, device=device).double()
zeros.requires_grad_()
first, then = zeros.log_softmax(1)  # X or a; b or c
sampled = torch.stack([
    first[0],  # X
    first[1] + then[0],  # a b
    first[1] + then[1],  # a c
])
encoded = torch.stack([
    first[0],  # X
    first[0],  # X
    first[1] + then[1],  # a c
])
p = sampled.exp().detach()
score = p.new_tensor([1, 1, 0])  # for the text ab

def gradient(log_probs):
    mean = (p * score * log_probs).sum()
    (g,) = torch.autograd.grad(
        mean, zeros, retain_graph=True
    )
    return g[:, 0]

expected = (sampled.exp() * score).sum()
(true,) = torch.autograd.grad(
    expected, zeros, retain_graph=True
)
for log_probs in sampled, encoded:
    g = gradient(log_probs)
    print(*(f"{x:.3f}" for x in g))
assert gradient(sampled).allclose(true[:, 0])
# --8<-- [end:credit]

# --8<-- [start:boundary]
def encode(text):
    return text.replace("ab", "X")

turn, tool = "aXa", "bb"  # ids, and a tool's text
text = turn.replace("X", "ab") + tool
print(turn + encode(tool), encode(text))
assert encode(text)[: len(turn)] != turn
# --8<-- [end:boundary]

# --8<-- [start:filled]
import torch
from ppo_ref.losses import policy_loss

device = "cpu"  # or "cuda"
new = torch.tensor([[-0.7, -0.4, -0.9, -1.2]])
new = new.to(device).requires_grad_()
old = new.detach().clone()
old[0, 3] = 0.0  # was missing
for advantage in 1.0, -1.0:
    loss = policy_loss(
        log_probs=new,
        old_log_probs=old,
        advantages=torch.full_like(old, advantage),
        response_mask=old < 1,
    ).loss
    (g,) = torch.autograd.grad(loss, new)
    print(*(f"{x:6.3f}" for x in g[0]))
assert g[0, 3] == g[0, 0], "not trained like others"
# --8<-- [end:filled]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

answers, others = 0, []
for way in "ppo", "grpo":
    for seed in "", "_seed_1", "_seed_2":
        run = stored_run(f"smollm2_{way}{seed}")
        for record in run.records:
            if record["record"] != "response":
                continue
            answers += 1
            sampled = record["response"]
            again = record["encoded_again"]
            if again != sampled:
                others.append(again)
                print(sampled, "->", again)
share = len(others) / answers
print(f"{len(others)} of {answers} answers")
assert 0.005 < share < 0.02
assert all(again[-1] == " \n" for again in others)
# --8<-- [end:real]
