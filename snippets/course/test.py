"""The numbers of the final test, each question from its own small data."""

# --8<-- [start:goal]
import torch

def tensor(*x):
    return torch.tensor(x, dtype=torch.float64)

p1 = tensor(0.5, 0.3, 0.2)
score1 = tensor(1, 0, 0.5)
J1 = p1 @ score1
kept = p1 * tensor(1, 0, 1)  # B is written no more
J_without = kept / kept.sum() @ score1
print(f"{J1:.2f} {J_without:.2f}")
# --8<-- [end:goal]

# --8<-- [start:gradient]
p2 = tensor(0.25, 0.6, 0.15)
logits2 = p2.log().requires_grad_()
log_p = logits2.log_softmax(0)[0]  # of token A
(push2,) = torch.autograd.grad(log_p, logits2)
print(*(f"{x:.2f}" for x in push2))
# --8<-- [end:gradient]

# --8<-- [start:baseline]
scores3 = tensor(1, 0, 0, 0)
others = (scores3.sum() - scores3) / 3
A3 = scores3 - others
print(*(f"{x:.2f}" for x in A3))
# --8<-- [end:baseline]

# --8<-- [start:critic]
seen4 = tensor(1, 1, 1, 1, 1, 1, 1, 0, 0, 0)
V4 = seen4.mean()  # where the loss is least
left4 = (seen4 - V4).square().mean()
print(f"{V4:.2f} {left4:.2f}")
# --8<-- [end:critic]

# --8<-- [start:network]
out = torch.arange(12)[None]  # positions 0 to 11
print(out[:, 7:11].tolist())
# --8<-- [end:network]

# --8<-- [start:delta]
def deltas(values, score):
    after = torch.cat([values[1:], tensor(score)])
    return after - values  # the score comes last

right6 = tensor(0.3, 0.4, 0.5)
wrong6 = tensor(0.3, 0.6, 0.5)
for d in deltas(right6, 1), deltas(wrong6, 1):
    cells = (f"{x:5.2f}" for x in d)
    print(*cells, f" sum {d.sum():.2f}")
# --8<-- [end:delta]

# --8<-- [start:gae]
d7, half7 = [0.2, 0.0, 0.4], 0.5
A7 = 0.0
for d in reversed(d7):
    A7 = d + half7 * A7
    print(f"{A7:.2f}")
# --8<-- [end:gae]

# --8<-- [start:ratio]
old8, new8 = tensor(0.2, 0.5), tensor(0.3, 0.4)
ratios8 = new8 / old8
whole8 = new8.prod() / old8.prod()
print(*(f"{x:.2f}" for x in ratios8), end=" ")
print(f"answer {whole8:.2f}")
# --8<-- [end:ratio]

# --8<-- [start:clip]
from ppo_ref.losses import policy_loss

eps9 = 0.2
mask9 = torch.ones(1, 1, dtype=torch.bool)

def slope(ratio, advantage):
    log_p = tensor(ratio).log()[None]
    log_p.requires_grad_()
    loss = policy_loss(
        log_probs=log_p, old_log_probs=0 * log_p,
        advantages=tensor(advantage)[None],
        response_mask=mask9, clip_range=eps9,
    ).loss
    (g,) = torch.autograd.grad(loss, log_p)
    return g.item()

for ratio in 0.7, 1.3:
    for advantage in -1, 1:
        moves = slope(ratio, advantage) != 0
        print(f"{ratio} A {advantage:2} {moves}")
# --8<-- [end:clip]

# --8<-- [start:reference]
ref10, score10 = tensor(0.7, 0.3), tensor(0, 1)

def rest(score, beta):  # where training rests
    return (ref10.log() + score / beta).softmax(0)

print(*(f"{p:.3f}" for p in rest(2 * score10, 1.0)))
beta10 = 0.5
print(*(f"{p:.3f}" for p in rest(score10, beta10)))
# --8<-- [end:reference]

# --8<-- [start:kl]
p11, ref11 = tensor(0.5, 0.5), tensor(0.25, 0.75)
kld11 = p11.log() - ref11.log()
KL11 = p11 @ kld11
back11 = ref11 @ -kld11  # the other way round
print(*(f"{x:.2f}" for x in kld11), f"{KL11:.3f}")
# --8<-- [end:kl]

# --8<-- [start:whitening]
A12 = tensor(0.30, 0.31)
W12 = (A12 - A12.mean()) / A12.std()
print(*(f"{x:.2f}" for x in W12))
# --8<-- [end:whitening]

# --8<-- [start:iteration]
from ppo_ref.examples import shared_batch

batch = shared_batch()
both = batch.response_mask
A13 = (batch.scores[:, None] - batch.values) * both

def ratios_after(updates, refresh):
    """Of a batch whose tokens move freely."""
    start = now = old = batch.old_log_probs
    for _ in range(updates):
        old = now if refresh else old
        now = now.detach().requires_grad_()
        loss = policy_loss(
            log_probs=now, old_log_probs=old,
            advantages=A13, response_mask=both,
        ).loss
        (g,) = torch.autograd.grad(loss, now)
        now = (now - 2 * g).detach()
    return (now - start).exp()

for refresh in False, True:
    lowest = ratios_after(5, refresh)[both].min()
    print(f"{lowest:.2f}")
# --8<-- [end:iteration]

# --8<-- [start:loss]
from ppo_ref.masking import masked_whiten

W14 = masked_whiten(A13, both)
now14 = batch.old_log_probs.clone().requires_grad_()
loss14 = policy_loss(
    log_probs=now14, advantages=W14,
    old_log_probs=batch.old_log_probs,
    response_mask=both,
).loss
(g14,) = torch.autograd.grad(loss14, now14)
print(f"{loss14:z.3f} {g14.norm():.3f}")
# --8<-- [end:loss]

# --8<-- [start:groups]
scores15 = tensor(1, 1, 1, 0)
less15 = scores15 - scores15.mean()
A15 = less15 / scores15.std()
print(*(f"{x:.2f}" for x in A15))
# --8<-- [end:groups]

# --8<-- [start:lengths]
short16, long16 = 10, 90
each = tensor(1 / short16, 1 / long16) / 2
by_answer = each[0] / each[1]
print(f"{by_answer:.0f}")
# --8<-- [end:lengths]

# --8<-- [start:sampling]
p17, T17 = tensor(0.8, 0.2), 0.5
q17 = (p17.log() / T17).softmax(0)
log17 = q17 @ tensor(1, 0)  # A scores 1, B 0
print(f"{log17:.2f}")
# --8<-- [end:sampling]

# --8<-- [start:entropy]
even18 = tensor(0.5, 0.5)
sure18 = tensor(0.99, 0.01)

def entropy(p):
    return -(p * p.log()).sum().item()

for p in even18, sure18:
    print(f"{entropy(p):.2f}")
# --8<-- [end:entropy]

# --8<-- [start:log]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("learned_reward_without_kl")
print("step score    KL held-out")
for step in 25, 50:
    it = run.iterations[step - 1]
    print(f"{step:4} {it['score']:5.2f}", end=" ")
    print(f"{it['kl']:5.2f} {it['held_out']:8.2f}")
before = run.iterations[24]
after = run.iterations[49]
# --8<-- [end:log]

# --8<-- [start:equal]
scores20 = tensor(1, 1, 1, 1)
A20 = scores20 - scores20.mean()
print(A20.abs().sum().item())
# --8<-- [end:equal]
