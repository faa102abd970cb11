"""All of PPO in one file, judged by ppo_ref."""

# --8<-- [start:whole]
import copy
import torch
from torch import nn

SIGNS = "0123456789+=."  # "." ends an answer
ASKED = ["1+1=", "2+2="]
ROWS, LONGEST, END = 256, 3, SIGNS.index(".")
GAMMA, LAMBDA, CLIP, BETA = 1.0, 0.95, 0.2, 0.1

class Model(nn.Module):
    """A few numbers for each prefix of a text."""
    def __init__(self, numbers):
        super().__init__()
        self.embed = nn.Embedding(len(SIGNS), 32)
        self.gru = nn.GRU(32, 48, batch_first=True)
        self.head = nn.Linear(48, numbers)

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.head(hidden)

def rollout(actor, tokens):
    """Answers; the mask stops at their end."""
    for _ in range(LONGEST):
        probs = actor(tokens)[:, -1].softmax(-1)
        token = probs.multinomial(1)
        tokens = torch.cat([tokens, token], 1)
    ended = (tokens[:, -LONGEST:] == END).int()
    return tokens, ended.cumsum(1) - ended == 0

def score(tokens):
    """1 for the right sum and then the end."""
    a, _, b, _, c, end = tokens.T[:6]
    return ((c == a + b) & (end == END)).float()

def log_probs(actor, tokens):
    """Of each answer token, given those before."""
    logits = actor(tokens)[:, -LONGEST - 1 : -1]
    every = logits.log_softmax(-1)
    written = tokens[:, -LONGEST:, None]
    return every.gather(-1, written)[..., 0]

def values(critic, tokens):
    """V before each token of the answer."""
    return critic(tokens)[:, -LONGEST - 1 : -1, 0]

def gae(r, V, mask):
    A, later, V_next = torch.zeros_like(V), 0, 0
    for t in reversed(range(LONGEST)):
        delta = r[:, t] + GAMMA * V_next - V[:, t]
        later = delta + GAMMA * LAMBDA * later
        A[:, t] = later = later * mask[:, t]
        V_next = V[:, t] * mask[:, t]
    return A, A + V

def whiten(A, mask):
    std = (A[mask].var() + 1e-8).sqrt()
    return (A - A[mask].mean()) / std

def policy_loss(new, old, A, mask):
    ratio = (new - old).exp()
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
    gain = torch.min(ratio * A, clipped * A)
    return -gain[mask].mean()

def value_loss(V, R, mask):
    return (V - R)[mask].square().mean() / 2

@torch.no_grad()
def collect():
    """Answers and their judgement, then fixed."""
    tokens, mask = rollout(actor, asked)
    old = log_probs(actor, tokens)
    r = BETA * (log_probs(reference, tokens) - old)
    r[range(ROWS), mask.sum(1) - 1] += score(tokens)
    A, R = gae(r, values(critic, tokens), mask)
    return tokens, mask, old, whiten(A, mask), R

def update(tokens, mask, old, A, R):
    new = log_probs(actor, tokens)
    V = values(critic, tokens)
    loss = policy_loss(new, old, A, mask)
    loss = loss + value_loss(V, R, mask)
    adam.zero_grad()
    loss.backward()
    adam.step()

actor, critic = Model(len(SIGNS)), Model(1)
reference = copy.deepcopy(actor)
both = nn.ModuleList([actor, critic])
adam = torch.optim.Adam(both.parameters(), 5e-3)
ids = [[SIGNS.index(s) for s in q] for q in ASKED]
asked = torch.tensor(ids).repeat(ROWS // 2, 1)
for _ in range(25):  # iterations
    batch = collect()
    for _ in range(2):  # epochs
        for rows in torch.randperm(ROWS).split(128):
            update(*(x[rows] for x in batch))
    print(".", end="", flush=True)
print(f"\nright: {score(batch[0]).mean():.1f}")
# --8<-- [end:whole]

# --8<-- [start:answers]
tokens = asked[:2]
for _ in range(2):  # the likeliest token each time
    token = actor(tokens)[:, -1:].argmax(-1)
    tokens = torch.cat([tokens, token], 1)
for row in tokens:
    print("".join(SIGNS[i] for i in row))
# --8<-- [end:answers]

# --8<-- [start:chance]
chance = 1 / len(SIGNS) ** 2
print(f"{chance:.4f} {ROWS * chance:.1f}")
# --8<-- [end:chance]

# --8<-- [start:train]
torch.set_default_dtype(torch.float64)

def train(iterations, **broken):
    """The same again, seeded; what to break."""
    global actor, critic, reference, adam
    names = globals()
    whole = {name: names[name] for name in broken}
    names.update(broken)
    torch.manual_seed(0)
    actor, critic = Model(len(SIGNS)), Model(1)
    reference = copy.deepcopy(actor)
    both = nn.ModuleList([actor, critic])
    adam = torch.optim.Adam(both.parameters(), 5e-3)
    right, expected = [], []
    for _ in range(iterations):
        batch = collect()
        with torch.no_grad():
            V = values(critic, batch[0])[:, 0]
        right.append(score(batch[0]).mean().item())
        expected.append(V.mean().item())
        for _ in range(2):
            order = torch.randperm(ROWS)
            for rows in order.split(128):
                update(*(x[rows] for x in batch))
    names.update(whole)
    return right, expected

def every_third(numbers):
    print(*(f"{x:z.2f}" for x in numbers[::3]))

right, expected = train(19)
every_third(right)
every_third(expected)
# --8<-- [end:train]

# --8<-- [start:ceiling]
import math

nats = math.log(1 / chance)  # of a right answer
print(f"{1 - BETA * nats:.2f}")
# --8<-- [end:ceiling]

# --8<-- [start:agree]
def agree(what, ours, judge):
    off = (ours - judge).abs().max()
    assert off < 1e-4, f"{what} is off by {off}"
    print(what, "agrees")
# --8<-- [end:agree]

# --8<-- [start:estimates]
from ppo_ref.advantages import gae as judge_gae
from ppo_ref.log_probs import token_log_probs
from ppo_ref.masking import masked_whiten
from ppo_ref.rewards import (
    token_level_rewards,
    token_level_scores,
)

tokens, mask, old, W, R = collect()
with torch.no_grad():
    # The prompt is 4 tokens, 0 to 3.
    logits = actor(tokens)[:, 3:-1]
    ref = log_probs(reference, tokens)
    V = values(critic, tokens)
answers = tokens[:, 4:]  # after the prompt
agree("old", old, token_log_probs(logits, answers))
r = token_level_rewards(
    token_level_scores=token_level_scores(
        score(tokens), mask
    ),
    kl=old - ref,
    response_mask=mask,
    kl_coef=BETA,
)
judge = judge_gae(
    token_level_rewards=r,
    values=V,
    response_mask=mask,
    gamma=GAMMA,
    gae_lambda=LAMBDA,
)
agree("R", R[mask], judge.returns[mask])
white = masked_whiten(judge.advantages, mask)
agree("A", W[mask], white[mask])
# --8<-- [end:estimates]

# --8<-- [start:losses]
from ppo_ref import losses

update(tokens, mask, old, W, R)  # ratios move
new = log_probs(actor, tokens).detach()
judge = losses.policy_loss(
    log_probs=new,
    old_log_probs=old,
    advantages=W,
    response_mask=mask,
    clip_range=CLIP,
)
ours = policy_loss(new, old, W, mask)
agree("policy loss", ours, judge.loss)
judge = losses.value_loss(
    values=V,
    old_values=V,
    returns=R,
    response_mask=mask,
    value_clip_range=10.0,  # too wide to act
)
ours = value_loss(V, R, mask)
agree("value loss", ours, judge.loss)
# --8<-- [end:losses]

# --8<-- [start:first]
batch = collect()
tokens, mask, old, W, R = batch
for what in "before", "after":
    with torch.no_grad():
        new = log_probs(actor, tokens)
    ratio = (new - old)[mask].exp()
    off = (ratio - 1).abs().max()
    print(what, "all ratios 1:", bool(off < 1e-5))
    update(*batch)
# --8<-- [end:first]

# --8<-- [start:grpo]
from ppo_ref.group_advantages import grpo

scores = torch.tensor([1.0, 0, 0, 1, 1, 0])
groups = torch.tensor([0, 0, 0, 1, 1, 1])
mask = torch.ones(6, LONGEST).bool()
A = torch.zeros(6, LONGEST)
for g in 0, 1:
    same = groups == g
    s = scores[same]
    A[same] = ((s - s.mean()) / s.std())[:, None]
print(*(f"{a:.2f}" for a in A[:, 0]))
r = torch.zeros(6, LONGEST)
r[:, -1] = scores
judge = grpo(
    token_level_rewards=r,
    response_mask=mask,
    groups=groups,
)
agree("A", A, judge.advantages)
# --8<-- [end:grpo]

# --8<-- [start:greedy]
def greedy(actor, tokens):
    for _ in range(LONGEST):
        probs = actor(tokens)[:, -1].softmax(-1)
        token = probs.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, token], 1)
    ended = (tokens[:, -LONGEST:] == END).int()
    return tokens, ended.cumsum(1) - ended == 0

without_draws, _ = train(10, rollout=greedy)
every_third(without_draws)
# --8<-- [end:greedy]

# --8<-- [start:unclipped]
unclipped, _ = train(10, CLIP=100)
every_third(right[:10])
every_third(unclipped)
# --8<-- [end:unclipped]

# --8<-- [start:last_slot]
@torch.no_grad()
def misplaced():
    tokens, mask = rollout(actor, asked)
    old = log_probs(actor, tokens)
    r = BETA * (log_probs(reference, tokens) - old)
    r[:, -1] += score(tokens)
    A, R = gae(r, values(critic, tokens), mask)
    return tokens, mask, old, whiten(A, mask), R

unheard, _ = train(10, collect=misplaced)
every_third(unheard)
# --8<-- [end:last_slot]
