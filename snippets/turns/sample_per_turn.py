"""Each turn of a rollout as a row: its mask, its weight, the optimizer steps, GSPO."""

# --8<-- [start:comment]
import torch
first = torch.tensor([[0], [2], [3]])  # of 3 turns
at = torch.arange(5)  # each turn has two tokens
own = ((at >= first) & (at < first + 2)).float()
A = 1.0  # of the whole rollout
print(A * own[-1] * own)  # the last row's, copied
print(A * own)  # each row with its own mask
# --8<-- [end:comment]

# --8<-- [start:judge]
from ppo_ref.group_advantages import rloo

mask = torch.cat([own, own[:2]]).bool()
rollout = torch.tensor([0, 0, 0, 1, 1])
score = torch.zeros(5, 5)
score[2, 4] = 1  # rollout 0 ends well, 1 does not
told = rloo(
    token_level_rewards=score,
    response_mask=mask,
    groups=0 * rollout,  # one prompt
    rollouts=rollout,
).advantages
each = torch.tensor([1.0 - 0, 0 - 1])
assert told.equal(each[rollout][:, None] * mask)
assert told[:3].equal(A * own)
# --8<-- [end:judge]

# --8<-- [start:weights]
import torch
from ppo_ref.aggregation import (
    sequence_mean_token_mean,
    token_mean,
)

def seq_mean(losses, mask, row):
    return sequence_mean_token_mean(losses, mask)

def all_tokens(losses, mask, row):
    return token_mean(losses, mask)

def per_rollout(losses, mask, row):
    zero = torch.zeros(2)
    total = zero.index_add(0, row, losses.sum(1))
    n = mask.sum(1).float()
    n = zero.index_add(0, row, n)
    return (total / n).mean()

def weights(mean, *turns):  # of both rollouts
    turns = torch.tensor(turns)
    row = torch.arange(2).repeat_interleave(turns)
    n = torch.tensor([8, 24]) // turns  # in a row
    mask = torch.arange(24) < n[row][:, None]
    x = torch.zeros(mask.shape).requires_grad_()
    mean(x * mask, mask, row).backward()
    share = torch.zeros(2)
    return share.index_add(0, row, x.grad.sum(1))

print("             in one row   a row per turn")
cut = {}
for mean in seq_mean, all_tokens, per_rollout:
    whole = weights(mean, 1, 1)
    cut[mean] = weights(mean, 2, 6)
    both = *whole, *cut[mean]
    cells = (f"{x:6.2f}" for x in both)
    print(f"{mean.__name__:11}", *cells)
    same = whole.allclose(cut[mean])
    assert same == (mean is not seq_mean)
by_turn = cut[seq_mean]
# --8<-- [end:weights]

# --8<-- [start:steps]
import torch

turns = torch.tensor([1, 2, 1, 6, 3, 1, 5, 5])
row = torch.arange(8).repeat_interleave(turns)
by_rows = torch.arange(len(row)).split(4)
by_rollouts = [
    torch.isin(row, four).nonzero()[:, 0]
    for four in torch.arange(8).split(4)
]

def train(mini_batches):
    up = torch.zeros((), requires_grad=True)
    adam = torch.optim.Adam([up], lr=0.05)
    for rows in mini_batches:
        # one token a row, all of them good
        ratio = up.exp().expand(len(rows))
        adam.zero_grad()
        (-ratio).mean().backward()
        adam.step()
    return len(mini_batches), up.detach().exp()

print("mini-batch   steps  ratio")
steps, ratios = [], []
for name, batches in (
    ("4 rows", by_rows),
    ("4 rollouts", by_rollouts),
):
    n, ratio = train(batches)
    print(f"{name:12} {n:5} {ratio:6.2f}")
    steps.append(n)
    ratios.append(ratio)
    assert torch.cat([*batches]).sort()[0].equal(
        torch.arange(len(row))
    )
assert steps == [6, 2] and ratios[0] > ratios[1]
# --8<-- [end:steps]

# --8<-- [start:gspo]
import torch
from ppo_ref.clip_variants import gspo_loss

nats, width = 0.3, 0.2
moved = nats * torch.tensor([[1.0], [-1.0], [0.0]])
moved = moved.expand(3, 4)  # four tokens a turn

def pushes(log_ratio):
    x = log_ratio.clone().requires_grad_()
    gspo_loss(
        log_probs=x,
        old_log_probs=torch.zeros_like(x),
        advantages=torch.ones_like(x),
        response_mask=x == x,
        clip_range=width,
        aggregate=lambda losses, mask: losses.sum(),
    ).loss.backward()
    return -x.grad.reshape(3, 4)[:, 0]

print("turn            1     2     3")
stopped = []
for name, rows in (
    ("a row each", moved),
    ("in one row", moved.reshape(1, 12)),
):
    push = pushes(rows)
    print(name, " ", *(f"{v:z5.2f}" for v in push))
    stopped.append((push == 0).sum())
assert stopped == [1, 0]
# --8<-- [end:gspo]

# --8<-- [start:copied]
import torch

first = torch.tensor([[0], [2], [3]])
at = torch.arange(5)
mask = (at >= first) & (at < first + 2)
advantage = torch.tensor([1.0])  # of the rollout
last_step_advantages = advantage * mask[-1:]
traj_ids = torch.tensor([0, 0, 0])
advantages = last_step_advantages[traj_ids]
given = (advantages * mask != 0).sum(1)
print("tokens", mask.sum(1).tolist())
print("given ", given.tolist())
assert given.equal(mask.sum(1)), "the last mask"
# --8<-- [end:copied]
