"""The Lab: what its first tasks come to; what the run viewer shows; a batch as JSON."""

# --8<-- [start:wall]
from ppo_ref.examples import world

w = world()
edges = w.edge_log_probs

def by_prefix(x):
    return dict(zip(w.prefixes, x.tolist()))

V = by_prefix(w.prefix_values(edges))
ours = by_prefix(w.prefix_probs(edges))
theirs = by_prefix(
    w.prefix_probs(w.edge_ref_log_probs)
)
P = w.response_probs(edges)
J = V[""]
print(f"J {J:.4f}")
print(f"No {ours['No']:.4f} {theirs['No']:.4f}")
both = ours["Yes"] + ours["No"]  # right for certain
one = J + P[9].item()  # "No idea." is gone
print(f"{both:.4f} {one:.4f}")
green = ours["No idea"] * V["No idea"]
print(f"{V['No idea']:.2f} {green:.4f}")
single = (J * (1 - J)) ** 0.5  # of a score 0 or 1
scatter = single / 100**0.5
print(f"{single:.3f} {scatter:.3f}")
assert one < both < 1 and ours["Let"] > 0
assert ours["No"] < theirs["No"]
# --8<-- [end:wall]

# --8<-- [start:strip]
from ppo_ref.advantages import gae, td_residuals

def with_values(values):
    rewards = 0 * values
    last = w.response_mask.sum(1) - 1
    rewards[range(len(last)), last] = w.scores
    return {
        "token_level_rewards": rewards,
        "values": values,
        "response_mask": w.response_mask,
    }

fooled = world(critic={"No": 0.90}).values

def gap(lam):
    """How far "No" is above "Yes", on average."""
    first = gae(
        **with_values(fooled), gae_lambda=lam,
    ).advantages[:, 0]
    yes, no = (
        P[rows] @ first[rows] / P[rows].sum()
        for rows in (slice(9), slice(9, 13))
    )
    return (no - yes).item()

turn, lam = 0.17, 0.95
print(*(f"{gap(x):z.2f}" for x in (0, turn, lam)))
assert gap(turn - 0.01) > 0 > gap(turn)

# V, TD errors, advantages of "No idea, maybe 2"
before = w.values[11].tolist()
deltas = td_residuals(**with_values(w.values))
delta = deltas[11].tolist()
lucky = gae(
    **with_values(w.values), gae_lambda=lam,
).advantages[11].tolist()
print(*(f"{x:.2f}" for x in lucky))
most = deltas.amax(1)
print(f"{most.max():.2f} row {most.argmax()}")
assert most.argmax() == 10  # "No idea. Maybe 2"

# With the exact V, gamma 0.9
shrunk = 0.9
later = td_residuals(
    **with_values(w.exact_values), gamma=shrunk
)
comma = later[12, 2].item()  # "No problem, 2"
print(f"{comma:.2f}")
# --8<-- [end:strip]

# --8<-- [start:clip]
import torch
from ppo_ref.losses import policy_loss

def push(ratio, advantage):
    """What the loss does to a token's log-prob."""
    x = torch.tensor([[ratio]]).log()
    x.requires_grad_()
    policy_loss(
        log_probs=x,
        old_log_probs=torch.zeros_like(x),
        advantages=torch.tensor([[advantage]]),
        response_mask=torch.tensor([[True]]),
        clip_range=(0.2, 0.2),
        dual_clip=3.0,
    ).loss.backward()
    return -x.grad.item()

low, high, bound = 0.8, 1.2, 3.0
for edge, A in (high, 1), (low, -1), (bound, -1):
    near = [
        push(edge + x, float(A))
        for x in (-0.01, 0.01)
    ]
    cells = (f"{x:z5.2f}" for x in near)
    print(f"{A:2}", edge, *cells)
    assert 0 in near and near != [0, 0]
# --8<-- [end:clip]

# --8<-- [start:variance]
from ppo_ref import advantages

# Exact but for "No", which is judged.
wrong = world(critic=V | {"No": 0.90}).values
of_no = slice(9, 13)
share = P[of_no] / P[of_no].sum()

def judge(lam):
    """Bias and squared error of the advantage."""
    A = advantages.gae(
        **with_values(wrong), gae_lambda=lam,
    ).advantages[of_no, 0]
    bias = share @ A - (V["No"] - J)
    noise = share @ (A - share @ A).square()
    return bias.item(), (bias**2 + noise).item()

grid = [k / 100 for k in range(101)]
best = min(grid, key=lambda x: judge(x)[1])
for x in 0, best, 1:
    bias, squared = judge(x)
    print(f"{x:4.2f} {bias:z6.3f} {squared:6.3f}")
unbiased = round(bias, 9)
assert unbiased == 0
# --8<-- [end:variance]

# --8<-- [start:runs]
from ppo_ref.train.stored_runs import stored_run

for name in "smollm2_ppo", "smollm2_large_steps":
    run = stored_run(name)
    score = run.column("score")[10 - 1]
    said = [
        record for record in run.records
        if record["record"] == "response"
        and record["iteration"] == 10
    ]
    answer = "".join(said[4]["response"])
    print(f"{name:19} {score:.2f}", end="  ")
    print(said[4]["question"], repr(answer))
# --8<-- [end:runs]

# --8<-- [start:json]
import json
import torch

def write_json(
    tensors, path, tokenizer=None, rows=16
):
    dump = {
        name: x[:rows].tolist()
        for name, x in tensors.items()
        if torch.is_tensor(x) and x.ndim == 2
    }
    if tokenizer and "responses" in dump:
        dump["tokens"] = [
            [tokenizer.decode([i]) for i in row]
            for row in dump["responses"]
        ]
    with open(path, "w") as file:
        json.dump(dump, file)
# --8<-- [end:json]

# --8<-- [start:written]
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)
write_json(
    {
        "response_mask": batch.response_mask,
        "values": batch.values,
        "old_log_probs": batch.old_log_probs,
        "ref_log_prob": batch.ref_log_probs,
    },
    "dump.json",
)
with open("dump.json") as file:
    print(*json.load(file))
# --8<-- [end:written]
