"""Asserts for a trainer: each passes on the right code and names a planted bug."""

# --8<-- [start:toy]
import torch
from ppo_ref.alignment import response_mask

torch.manual_seed(0)
device = "cpu"  # or "cuda"
P, T, V = 3, 6, 10  # prompt, response, vocabulary
embed = torch.nn.Embedding(V, 8).to(device)
body = torch.nn.GRU(8, 8, batch_first=True)
body = body.to(device)
heads = torch.nn.Linear(8, 1 + V).to(device)
ids = torch.randint(2, V, (2, P + T)).to(device)
ids[:, -3:] = torch.tensor([[3, 4, 1], [1, 0, 0]])
mask = response_mask(ids[:, -T:], eos_token_id=1)

def critic(ids):  # [batch, sequence]
    return heads(body(embed(ids))[0])[..., 0]

def actor(ids):  # [batch, sequence, vocabulary]
    return heads(body(embed(ids))[0])[..., 1:]
# --8<-- [end:toy]

# --8<-- [start:values]
from ppo_ref.check.asserts.slices import (
    assert_values_before_tokens,
)

def right(ids):
    return critic(ids)[:, -T - 1 : -1]

def late(ids):
    return critic(ids)[:, -T:]

assert_values_before_tokens(right, ids, mask)
assert_values_before_tokens(late, ids, mask)
# --8<-- [end:values]

# --8<-- [start:log-probs]
from ppo_ref.check.asserts.slices import (
    assert_log_probs_of_tokens,
)
from ppo_ref.log_probs import token_log_probs

def right(ids):
    logits = actor(ids)[:, -T - 1 : -1]
    return token_log_probs(logits, ids[:, -T:])

def late(ids):
    logits = actor(ids)[:, -T:]
    return token_log_probs(logits, ids[:, -T:])

for log_probs in right, late:
    assert_log_probs_of_tokens(
        log_probs, ids, mask, vocab_size=V
    )
# --8<-- [end:log-probs]

# --8<-- [start:padding]
from ppo_ref.check.asserts.masks import (
    assert_padding_ignored,
)
from ppo_ref.examples import shared_batch
from ppo_ref.masking import masked_whiten

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask = batch.response_mask
returns = batch.scores[:, None] * mask

def right(values):
    return masked_whiten(returns - values, mask)

def plain(values):
    A = returns - values
    return (A - A.mean()) / (A.std() + 1e-8)

inputs = {"values": batch.values}
assert_padding_ignored(right, inputs, mask)
assert_padding_ignored(plain, inputs, mask)
# --8<-- [end:padding]

# --8<-- [start:score]
import torch
from ppo_ref.check.asserts.masks import (
    assert_score_on_last_token,
)
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
mask = shared_batch(device).response_mask
right, late = torch.zeros(2, 2, 6).to(device)
right[[0, 1], mask.sum(1) - 1] = 1.0
late[:, -1] = 1.0  # where padding may be
assert_score_on_last_token(right, mask)
assert_score_on_last_token(late, mask)
# --8<-- [end:score]

# --8<-- [start:kl]
from ppo_ref.check.asserts.step_zero import (
    assert_kl_zero,
)
from ppo_ref.log_probs import token_log_probs

def log_probs(temperature):
    logits = actor(ids)[:, -T - 1 : -1]
    responses = ids[:, -T:]
    return token_log_probs(
        logits, responses, temperature
    )

reference = log_probs(0.7)
assert_kl_zero(log_probs(0.7), reference, mask)
assert_kl_zero(log_probs(1.0), reference, mask)
# --8<-- [end:kl]

# --8<-- [start:ratio]
from ppo_ref.check.asserts.step_zero import (
    assert_ratio_one,
)
from ppo_ref.log_probs import token_log_probs

def log_probs(ids):
    logits = actor(ids)[:, -T - 1 : -1]
    return token_log_probs(logits, ids[:, -T:])

old = log_probs(ids).detach()
assert_ratio_one(log_probs(ids), old, mask)
shifted = old.roll(1, 1)  # cut by another slice
assert_ratio_one(log_probs(ids), shifted, mask)
# --8<-- [end:ratio]

# --8<-- [start:return-to-go]
from ppo_ref.advantages import gae
from ppo_ref.check.asserts.targets import (
    assert_return_to_go,
)
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask = batch.response_mask
rewards = token_level_scores(batch.scores, mask)

def check(values):
    A = gae(
        token_level_rewards=rewards,
        values=values,
        response_mask=mask,
    ).advantages
    assert_return_to_go(
        advantages=A,
        values=batch.values,
        token_level_rewards=rewards,
        response_mask=mask,
    )

check(batch.values)
check(batch.values.roll(-1, 1))  # V(s_{t+1})
# --8<-- [end:return-to-go]

# --8<-- [start:other-row]
import torch

from ppo_ref.advantages import gae
from ppo_ref.check.asserts.targets import (
    assert_return_to_go,
)
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask = batch.response_mask
rewards = token_level_scores(batch.scores, mask)
A = gae(
    token_level_rewards=rewards,
    values=batch.values,
    response_mask=mask,
).advantages
drawn = torch.tensor([1, 0])  # rows, by chance
assert_return_to_go(
    advantages=A[drawn],  # and nothing else
    values=batch.values,
    token_level_rewards=rewards,
    response_mask=mask,
)
# --8<-- [end:other-row]

# --8<-- [start:targets]
import torch
from ppo_ref.check.asserts.targets import (
    assert_targets_fixed,
)

device = "cpu"  # or "cuda"
A = torch.tensor([[1.0, 0.5, -0.5]]).to(device)
batch = {"advantages": A, "returns": A + 0.25}

def right(A):
    return (A - A.mean()) / A.std()

def in_place(A):
    return A.sub_(A.mean()).div_(A.std())

for whiten in right, in_place:
    with assert_targets_fixed(batch):
        for _ in range(2):
            whiten(batch["advantages"])
# --8<-- [end:targets]

# --8<-- [start:gradient]
import torch
from ppo_ref.check.asserts.updates import (
    assert_same_gradient,
)

torch.manual_seed(0)
device = "cpu"  # or "cuda"
model = torch.nn.Linear(4, 1).to(device)
x = torch.randn(4, 6, 4).to(device)
lengths = torch.tensor([6, 2, 4, 1]).to(device)
mask = torch.arange(6).to(device) < lengths[:, None]

def outputs(size):  # of each micro-batch
    for i in range(0, len(x), size):
        rows = slice(i, i + size)
        yield model(x[rows])[mask[rows]]

def right(size):
    for out in outputs(size):
        (out.sum() / mask.sum()).backward()

def means(size):
    for out in outputs(size):
        (out.mean() * size / len(x)).backward()

assert_same_gradient(model, right, (4, 1))
assert_same_gradient(model, means, (4, 1))
# --8<-- [end:gradient]

# --8<-- [start:steps]
import torch
from ppo_ref.check.asserts.updates import (
    assert_optimizer_steps,
)

device = "cpu"  # or "cuda"
weight = torch.ones(1).to(device).requires_grad_()
adam = torch.optim.Adam([weight])

def update(step_in_micro_batch):
    for _mini_batch in range(1024 // 256):
        for _micro_batch in range(256 // 64):
            weight.sum().backward()
            if step_in_micro_batch:
                adam.step()
        if not step_in_micro_batch:
            adam.step()

for step_in_micro_batch in False, True:
    with assert_optimizer_steps(
        adam, batch_size=1024, mini_batch_size=256
    ):
        update(step_in_micro_batch)
# --8<-- [end:steps]

# --8<-- [start:masked-out]
from ppo_ref.check.asserts.masks import (
    assert_masked_out_ignored,
)
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask = batch.response_mask
returns = batch.scores[:, None] * mask

def right(values):
    losses = (values - returns).square()
    return (losses * mask).sum() / mask.sum()

def mean(values):
    return (values - returns).square().mean()

inputs = {"values": batch.values}
assert_masked_out_ignored(right, inputs, mask)
assert_masked_out_ignored(mean, inputs, mask)
# --8<-- [end:masked-out]

# --8<-- [start:packed]
from torch.nn.utils.rnn import pad_sequence
from ppo_ref.check.asserts.packing import (
    assert_packed_equals_alone,
)

rows = [ids[0], ids[1, :-2]]  # of unequal lengths

def padded(rows):
    V = critic(pad_sequence(rows, batch_first=True))
    return [v[: len(r)] for v, r in zip(V, rows)]

def packed(rows):
    V = critic(torch.cat(rows)[None])[0]
    return V.split([len(r) for r in rows])

assert_packed_equals_alone(padded, rows)
assert_packed_equals_alone(packed, rows)
# --8<-- [end:packed]

# --8<-- [start:check]
import torch
from ppo_ref.__main__ import main
from ppo_ref.advantages import gae
from ppo_ref.alignment import slot_after_end
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)
mask = batch.response_mask
scores = token_level_scores(batch.scores, mask)
A, returns = gae(
    token_level_rewards=scores,
    values=batch.values * mask,
    response_mask=mask,
    gae_lambda=0.95,
)
dump = {
    "attention_mask": mask,
    "response_mask": mask | slot_after_end(mask),
    "token_level_scores": scores,
    "token_level_rewards": scores,
    "values": batch.values * mask,
    "advantages": (A - A.mean()) / A.std(),
    "returns": returns,
}
torch.save(dump, "dump.pt")
code = main(["check", "dump.pt", "--lam", "0.95"])
print("exit code", code)
# --8<-- [end:check]

# --8<-- [start:check-trl]
import torch
from ppo_ref.__main__ import main

scores = torch.tensor([
    [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0],
    [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
])
halves = scores.view(4, 4)
A = halves - halves.mean(1, keepdim=True)
A /= halves.std(1, keepdim=True) + 1e-4
prompts = torch.tensor([[11], [12]])
dump = {
    "prompt_ids": prompts.repeat_interleave(8, 0),
    "completion_ids": torch.arange(64).view(16, 4),
    "completion_mask": torch.ones(16, 4).long(),
    "advantages": A.flatten(),
}
torch.save(dump, "dump.pt")
code = main(["check", "dump.pt"])
assert code == 3
# --8<-- [end:check-trl]
