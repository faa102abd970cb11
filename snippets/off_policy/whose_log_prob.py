"""Whose log-prob: temperature and truncation, in the engine and in the trainer."""

# --8<-- [start:verdict]
import torch
probs = torch.tensor([0.5, 0.3, 0.15, 0.05])
kept = probs.cumsum(0) - probs < 0.9  # top-p 0.9
mass = probs[kept].sum()
engine = probs[kept] / mass  # what it samples from
ratio = probs[kept] / engine  # trainer: all tokens
print(f"kept {mass:.2f}, ratios {ratio[0]:.2f}")
assert ratio.allclose(mass)
# --8<-- [end:verdict]

# --8<-- [start:trainers]
import torch
from ppo_ref.log_probs import kept_log_probs
from ppo_ref.log_probs import kept_tokens
from ppo_ref.log_probs import token_log_probs

device = "cpu"  # or "cuda"
T, vocab = 0.7, 50
logits = -1.2 * torch.arange(1.0, vocab + 1).log()
# the same logits at 50 places, each token at one:
# so every token is scored, and none sampled
logits = logits.to(device).expand(1, vocab, vocab)
ids = torch.arange(vocab).to(device)[None]
kept = kept_tokens(logits, temperature=T, top_p=0.9)

engine = kept_log_probs(logits, ids, kept, T)[0]
drawn = engine > -torch.inf  # can be sampled
q = engine[drawn].exp()
raw = token_log_probs(logits, ids)[0]
unscaled = kept_log_probs(logits, ids, kept)[0]
full = token_log_probs(logits, ids, T)[0]
trainers = {
    "as the engine": engine,
    "without top-p": full,
    "without T": unscaled,
    "log_probs / T": raw / T,
}
print(
    f"{'trainer':14} sums to   mean  least   most"
)
for name, log_probs in trainers.items():
    total = log_probs.exp().sum()
    ratio = (log_probs - engine)[drawn].exp()
    row = q @ ratio, ratio.min(), ratio.max()
    row = " ".join(f"{x:6.3f}" for x in row)
    print(f"{name:14} {total:7.3f} {row}")
mass = full[drawn].exp().sum()
rows = trainers.values()
mean = [q @ (x - engine)[drawn].exp() for x in rows]
assert mean[0].isclose(q.sum())
assert mean[1].isclose(mass)
# --8<-- [end:trainers]

# --8<-- [start:score]
z = logits[:1, :1].clone().requires_grad_()
wide = z.expand_as(logits)
push = {
    "as the engine": kept_log_probs(
        wide, ids, kept, T
    ),
    "without top-p": token_log_probs(wide, ids, T),
    "without T": kept_log_probs(wide, ids, kept),
}
print(f"{'mean gradient':14} likeliest  not kept")
pushes = {}
for name, log_probs in push.items():
    goal = q @ log_probs[0, drawn]  # A = 1
    (g,) = torch.autograd.grad(
        goal, z, retain_graph=True
    )
    pushes[name] = g = g[0, 0]
    row = g[0], g[~drawn].sum()
    cells = (f"{x:z9.3f}" for x in row)
    print(f"{name:14}", *cells)
assert pushes["as the engine"].abs().max() < 1e-5
# --8<-- [end:score]

# --8<-- [start:divide]
import torch

device = "cpu"  # or "cuda"
logits = torch.tensor([2.0, 1.0, 0.0]).to(device)
right = (logits / 0.7).softmax(0)
wrong = (logits.log_softmax(0) / 0.7).exp()
for name, p in ("right", right), ("wrong", wrong):
    row = " ".join(f"{x:.3f}" for x in p)
    print(name, row, f"sum {p.sum():.3f}")
assert wrong.allclose(right), "no distribution"
# --8<-- [end:divide]

# --8<-- [start:reference]
import torch

device = "cpu"  # or "cuda"
logits = torch.tensor([2.0, 1.0, 0.0]).to(device)
actor = (logits / 0.7).log_softmax(0)
reference = logits.log_softmax(0)  # same weights
kl = actor.exp() @ (actor - reference)
print(f"KL of a model to itself: {kl:.3f}")
assert kl == 0, "two temperatures, one model"
# --8<-- [end:reference]
