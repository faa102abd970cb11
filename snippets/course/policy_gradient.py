"""The policy gradient, on all 14 answers and on eight that were drawn."""

# --8<-- [start:tree]
import torch
from ppo_ref.examples import world

w = world()
z = w.edge_log_probs.clone()  # logits of cells
z.requires_grad_()

def log_P(z):
    """Log-probability of each of the 14 answers."""
    log_probs = w.log_softmax(z)  # among siblings
    return w.token_log_probs(log_probs).sum(1)

P = log_P(z).exp()
J = P @ w.scores
print(f"{len(z)} logits, J = {J:.4f}")
# --8<-- [end:tree]

# --8<-- [start:exact]
(exact,) = torch.autograd.grad(J, z)
first = w.parents == 0  # Yes, No, Let
roots = exact[first]
print(*(f"{g:.4f}" for g in roots))
# --8<-- [end:exact]

# --8<-- [start:by_hand]
values = w.prefix_values(w.edge_log_probs)
V = {
    prefix: values[i].item()
    for i, prefix in enumerate(w.prefixes)
}
p = w.edge_log_probs[first].exp()
gains = [V[word] - V[""] for word in ("Yes", "No")]
for i in 0, 1:
    print(f"{p[i] * gains[i]:.4f}")
    assert roots[i].isclose(p[i] * gains[i])
# --8<-- [end:by_hand]

# --8<-- [start:average]
def push(answer):  # of one answer, on each logit
    (g,) = torch.autograd.grad(log_P(z)[answer], z)
    return g

for answer in 0, 9, 13:
    g = push(answer)[first]
    print(f"{answer:4}", *(f"{x:6.3f}" for x in g))
chance = P.detach()
mean = torch.zeros_like(exact)
for answer in range(14):
    weight = chance[answer] * w.scores[answer]
    mean += weight * push(answer)
print("mean", *(f"{x:.4f}" for x in mean[first]))
assert mean.allclose(exact)
# --8<-- [end:average]

# --8<-- [start:loss]
draws = torch.Generator().manual_seed(0)

def draw(n):
    return chance.multinomial(
        n, replacement=True, generator=draws
    )

drawn = draw(8)
print("scores", *w.scores[drawn].int().tolist())
loss = -(w.scores[drawn] * log_P(z)[drawn]).mean()
loss.backward()
uphill = 0 - z.grad[first]  # the sign back
print("push  ", *(f"{g:.4f}" for g in uphill))
# --8<-- [end:loss]

# --8<-- [start:often]
many = draw(20_000 * 8).view(-1, 8)
said_yes = (many < 9).double()
on_yes = w.scores[many] * (said_yes - p[0])
on_yes = on_yes.mean(1)
wrong = (on_yes < 0).double().mean()
print(f"{wrong:.0%} of the batches push Yes down")
assert on_yes.mean().isclose(exact[0], atol=2e-3)
# --8<-- [end:often]

# --8<-- [start:shared]
from ppo_ref.examples import shared_batch

batch = shared_batch()
prob = batch.old_log_probs.exp()
up = batch.scores[:, None] * (1 - prob)
for row, n in enumerate(batch.response_mask.sum(1)):
    print(f"answer {row}")
    for name, x in ("p", prob), ("push", up):
        cells = (f"{v:.3f}" for v in x[row, :n])
        print(f"{name:4}", *cells)
# --8<-- [end:shared]

# --8<-- [start:problem]
after_no = w.parents == w.prefixes.index("No")
idea, problem = exact[after_no]
print(f"idea {idea:.4f} problem {problem:.4f}")
p_problem = w.edge_log_probs[after_no][1].exp()
gain = V["No problem"] - V["No"]
assert problem.isclose(p[1] * p_problem * gain)
# --8<-- [end:problem]

# --8<-- [start:all_right]
P_all = log_P(z).exp()
(g,) = torch.autograd.grad(P_all.sum(), z)
assert g.abs().max() < 1e-12
one = push(9)[first]
print("one answer", *(f"{x:.3f}" for x in one))
print("all of them", g.abs().max().item() < 1e-12)
# --8<-- [end:all_right]

# --8<-- [start:ten]
J_10 = log_P(z).exp() @ (10 * w.scores)
(g_10,) = torch.autograd.grad(J_10, z)
print(*(f"{x:.3f}" for x in g_10[first]))
assert g_10.allclose(10 * exact)
# --8<-- [end:ten]
