"""Who puts out which row of a batch? Fill the ledger, then ask who read what."""

# --8<-- [start:ledger]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)  # two answers
mask, beta = batch.response_mask, batch.kl_coef

# Written by the modules, one number a token.
old, ref = batch.old_log_probs, batch.ref_log_probs
values = batch.values * mask
end = mask.sum(1, keepdim=True) - 1  # EOS
scores = torch.zeros_like(values)
scores.scatter_(1, end, batch.scores[:, None])

# Computed by the trainer, gamma = lambda = 1.
rewards = (scores - beta * (old - ref)) * mask
returns = rewards.flip(1).cumsum(1).flip(1)
raw = returns - values

ledger = {
    "scores": scores,
    "old": old,
    "ref": ref,
    "values": values,
    "rewards": rewards,
    "advantage": raw,
    "returns": returns,
}

words = "Yes , 1+1 = 2 EOS", "No idea . EOS"

def show(row, names):
    print("token", *(f"{x:>9}" for x in names))
    for t, word in enumerate(words[row].split()):
        line = f"{word:5}"
        for x in names:
            line += f"{ledger[x][row, t]:z10.4f}"
        print(line)

written = "scores", "old", "ref", "values"
computed = "rewards", "advantage", "returns"
show(0, written)
show(0, computed)
judge = gae(
    token_level_rewards=rewards,
    values=values,
    response_mask=mask,
)
assert raw.allclose(judge.advantages)
assert raw[0].argmin() == end[0]
# --8<-- [end:ledger]

# --8<-- [start:tokens]
prompt = [1, 234, 567, 89, 10, 11, 12, 13]
right = [100, 101, 102, 103, 104, 2]  # 2 is EOS
wrong = [105, 106, 107, 2, 0, 0]  # 0 is padding
rows = [prompt + right, prompt + wrong]
input_ids = torch.tensor(rows, device=device)
attention_mask = (input_ids != 0).long()
responses = input_ids[:, len(prompt) :]
response_mask = attention_mask[:, len(prompt) :]
assert mask.equal(response_mask.bool())
tokens_of = {
    "input_ids": input_ids,
    "attention_mask": attention_mask,
    "responses": responses,
    "response_mask": response_mask,
}
for name, x in tokens_of.items():
    print(name, tuple(x.shape))
    for row in x.tolist():
        print(" ", *row)
# --8<-- [end:tokens]

# --8<-- [start:whitened]
from ppo_ref.train.estimates import whitened_gae

mean, std = raw[mask].mean(), raw[mask].std()
advantages = (raw - mean) / std * mask
judge = whitened_gae(
    token_level_rewards=rewards,
    values=batch.values,
    response_mask=mask,
    gamma=1,
    gae_lambda=1,
)
assert advantages.allclose(judge.advantages)
assert returns.allclose(judge.returns)
# --8<-- [end:whitened]

# --8<-- [start:row-1]
show(1, written)
show(1, computed)
for x in ledger.values():
    assert not x[~mask].any()
print(f"mean {mean:.4f}, deviation {std:.4f}")
ledger["whitened"] = advantages
for row in 0, 1:
    show(row, ["advantage", "whitened"])
# --8<-- [end:row-1]

# --8<-- [start:updates]
from ppo_ref.losses import policy_loss, value_loss

V = values.clone()
z = torch.logit(old.exp() * mask + 0.5 * ~mask)
metrics = {}
for _ in range(2):
    V.requires_grad_()
    z.requires_grad_()
    critic = value_loss(
        values=V,
        old_values=values,
        returns=returns,
        response_mask=mask,
        value_clip_range=0.5,
    )
    actor = policy_loss(
        log_probs=z.sigmoid().log(),
        old_log_probs=old,
        advantages=advantages,
        response_mask=mask,
    )
    (dV,) = torch.autograd.grad(critic.loss, V)
    (dz,) = torch.autograd.grad(actor.loss, z)
    returned = {
        "critic/vf_loss": critic.loss,
        "critic/vf_clipfrac": critic.clip_fraction,
        "critic/grad_norm": dV.norm(),
        "actor/pg_loss": actor.loss,
        "actor/pg_clipfrac": actor.clip_fraction,
        "actor/ppo_kl": actor.approx_kl,
        "actor/grad_norm": dz.norm(),
    }
    for name, x in returned.items():
        row = metrics.setdefault(name, [])
        row.append(x.item())
    V = (V - 5 * dV).detach()
    z = (z - 5 * dz).detach()
for name, (first, second) in metrics.items():
    print(f"{name:19}{first:z8.4f}{second:z8.4f}")
# --8<-- [end:updates]

# --8<-- [start:reads]
given = {k: ledger[k] for k in written}

def made(kl_coef, lam, scores, old, ref, values):
    r = (scores - kl_coef * (old - ref)) * mask
    return r, *gae(
        token_level_rewards=r,
        values=values,
        response_mask=mask,
        gae_lambda=lam,
    )

for setting in (0, 1), (0.01, 0.95):
    print("kl_coef {}, lambda {}".format(*setting))
    was = made(*setting, **given)
    for name, x in given.items():
        more = {**given, name: 1.1 * x}
        now = made(*setting, **more)
        row = [
            int(not a.allclose(b))
            for a, b in zip(was, now, strict=True)
        ]
        print(f"  {name:6} moves", row)
# --8<-- [end:reads]

# --8<-- [start:rows]
printed = 0.13, 0.10, 0.08, 0.05, 0.03, 0.05
edges = torch.linspace(0, 1, 41).double().to(device)
g0, g1 = edges[:-1, None], edges[1:, None]  # gamma
l0, l1 = edges[:-1], edges[1:]  # lambda
fits = (g0 + l0).isfinite()  # every box, so far
low = high = 0 * (g0 + l0)  # A_t is between them
V_next = 0.0
for t in reversed(range(6)):
    r, V = rewards[0, t], values[0, t]
    low = torch.min(g0 * l0 * low, g1 * l1 * low)
    low = low + r + g0 * V_next - V
    high = torch.max(g0 * l0 * high, g1 * l1 * high)
    high = high + r + g1 * V_next - V
    fits &= low <= printed[t] + 0.005
    fits &= high >= printed[t] - 0.005
    left = fits.sum()
    print(f"A_{t} = {printed[t]:.2f}: {left} left")
    V_next = V
assert fits.any(), "no gamma and lambda fit"
# --8<-- [end:rows]

# --8<-- [start:generation]
import torch

torch.manual_seed(0)
device = "cpu"  # or "cuda"
logits = 4 * torch.randn(1, 6, 1000)  # one model
logits = logits.to(device)
tokens = logits.argmax(-1, keepdim=True)

def sampled(logits):
    return logits.log_softmax(-1).gather(-1, tokens)

trainer = sampled(logits)
engine = sampled(logits.bfloat16().float())
ratio = (trainer - engine).exp().flatten()
print(*(f"{x:.3f}" for x in ratio.tolist()))
assert ratio.allclose(ratio.new_ones(6)), "not 1"
# --8<-- [end:generation]

# --8<-- [start:entropy]
p, vocab = old[0].exp(), 152_064  # as in Qwen2.5
rest = (vocab - 1) / (1 - p)  # evenly on all others
most = (1 - p) * rest.log() - p * p.log()
most = most.mean()
print(f"at most {most:.2f} nats")
assert most >= 2.34, "2.34 is too much"
# --8<-- [end:entropy]

# --8<-- [start:losses]
loss = (values - returns).square().sum()
assert loss.requires_grad, "nothing to train"
# --8<-- [end:losses]
