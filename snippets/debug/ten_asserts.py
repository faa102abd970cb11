"""Ten asserts for a trainer: each passes on the right code and names a planted bug."""

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
from ppo_ref.asserts.slices import (
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
from ppo_ref.asserts.slices import (
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
