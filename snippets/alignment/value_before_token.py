"""Which tokens has values[:, t] read? Change one token and see which values move."""

# --8<-- [start:comment]
import torch
torch.manual_seed(0)
rnn = torch.nn.GRU(4, 1, batch_first=True)
x = torch.randn(1, 7, 4)  # prompt of 3, answer of 4
before = rnn(x)[0].flatten()
x[0, 3] = 0  # another token 0
moved = (rnn(x)[0].flatten() != before).int()
print(moved[-5:-1].tolist(), moved[-4:].tolist())
# --8<-- [end:comment]

# --8<-- [start:staircase]
import torch
from ppo_ref.alignment import response_outputs

torch.manual_seed(0)
device = "cpu"  # or "cuda"
P, T = 3, 4  # tokens of prompt and response
embed = torch.nn.Embedding(10, 8).to(device)
rnn = torch.nn.GRU(8, 1, batch_first=True)
rnn = rnn.to(device)
tokens = torch.randint(9, (1, P + T)).to(device)

def critic(tokens):  # put yours here
    return rnn(embed(tokens))[0].squeeze(-1)

def moved(t, cut):  # values that token t moves
    changed = tokens.clone()
    changed[0, P + t] = 9  # a token not in use
    after, before = critic(changed), critic(tokens)
    return (after != before)[0, cut].int().tolist()

for t in range(T):
    row = moved(t, slice(-T - 1, -1))
    print(f"token {t} moves values", row)
    assert row == [int(k > t) for k in range(T)]

outputs = critic(tokens)
values = outputs[:, -T - 1 : -1]
assert values.equal(response_outputs(outputs, T))
# --8<-- [end:staircase]

# --8<-- [start:after]
row = moved(0, slice(-T, None))
print("token 0 moves values", row)
assert row[0] == 0, "values[:, 0] read token 0"
# --8<-- [end:after]

# --8<-- [start:early]
row = moved(0, slice(-T - 2, -2))
print("token 0 moves values", row)
assert row[1] == 1, "values[:, 1] missed token 0"
# --8<-- [end:early]

# --8<-- [start:same_slot]
ids = torch.tensor([[0, 1, 2, 3]]).to(device)
after = torch.eye(5).roll(1, 1).to(device)
logits = 9 * after[ids]  # after n comes n + 1
log_p = logits.log_softmax(2)

def scored(log_p, ids):
    picked = log_p.gather(2, ids[..., None])
    return picked.exp().flatten().tolist()

late = scored(log_p, ids)
right = scored(log_p[:, :-1], ids[:, 1:])
print("one before", *(f"{x:.3f}" for x in right))
print("same slot ", *(f"{x:.3f}" for x in late))
assert min(right) > 0.99
assert min(late) > 0.99, "sure tokens look unlikely"
# --8<-- [end:same_slot]

# --8<-- [start:numbers]
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores
from ppo_ref.trace import trace

device = "cpu"  # or "cuda"
batch = shared_batch(device)
scores = token_level_scores(
    batch.scores, batch.response_mask
)
for row in 0, 1:
    table = trace(
        token_level_rewards=scores,
        values=batch.values,
        response_mask=batch.response_mask,
        row=row,
    )
    print(f"row {row}\n{table}")
# --8<-- [end:numbers]

# --8<-- [start:log_probs]
import torch
from ppo_ref.alignment import response_outputs
from ppo_ref.log_probs import token_log_probs

torch.manual_seed(0)
device = "cpu"  # or "cuda"
P, T = 3, 4
embed = torch.nn.Embedding(10, 8).to(device)
rnn = torch.nn.GRU(8, 10, batch_first=True)
rnn = rnn.to(device)
tokens = torch.randint(9, (1, P + T)).to(device)

def log_probs(tokens):
    logits = rnn(embed(tokens))[0]
    return token_log_probs(
        response_outputs(logits, T), tokens[:, -T:]
    )

for t in range(T):
    changed = tokens.clone()
    changed[0, P + t] = 9
    moves = log_probs(changed) != log_probs(tokens)
    row = moves[0].int().tolist()
    print(f"token {t} moves log_probs", row)
    assert row == [int(k >= t) for k in range(T)]
# --8<-- [end:log_probs]
