"""What more epochs do, when weights move, how ratios spread."""

# --8<-- [start:reuse]
import torch
from torch import nn

goal = torch.arange(6)  # of ten tokens

def learn(epochs, rate, seed, batches=20):
    torch.manual_seed(seed)
    token = nn.Embedding(11, 32)  # 10: the start
    place = nn.Embedding(6, 32)
    head = nn.Linear(32, 10)
    net = nn.ModuleList([token, place, head])
    net = net.double()
    adam = torch.optim.Adam(net.parameters(), rate)

    def log_probs(x):  # reads the token before
        at = place.weight[: x.shape[1]]
        z = head((token(x) + at).tanh())
        return z.log_softmax(2)

    scores = []
    for _ in range(batches):
        with torch.no_grad():  # 16 answers
            x = torch.full((16, 1), 10)
            for _ in goal:
                p = log_probs(x)[:, -1].exp()
                written = p.multinomial(1)
                x = torch.cat([x, written], 1)
            y = x[:, 1:, None]
            old = log_probs(x[:, :-1]).gather(2, y)
            right = (x[:, 1:] == goal).double()
            count = right.sum(1)
            A = count - count.mean()
            A = A[:, None, None]
        scores.append(right.mean().item())
        for _ in range(epochs):
            for i in torch.randperm(16).split(8):
                new = log_probs(x[i, :-1])
                new = new.gather(2, y[i])
                r = (new - old[i]).exp()
                near = r.clamp(0.8, 1.2)
                L = torch.min(r * A[i], near * A[i])
                adam.zero_grad()
                (-L.mean()).backward()
                adam.step()
    return scores, old.exp().mean().item()

print("epochs  rate 10th 20th best")
means, best, sure = {}, {}, {}
for run in (
    (1, 0.02),
    (2, 0.02),
    (32, 0.02),
    (1, 0.04),
    (1, 0.16),
    (32, 0.005),
):
    runs = [learn(*run, seed) for seed in range(5)]
    scores = torch.tensor([s for s, _ in runs])
    means[run] = scores.mean(0)
    best[run] = scores[:, -1].max()
    sure[run] = sum(p for _, p in runs) / 5
    cells = [means[run][i] for i in (9, 19)]
    row = " ".join(f"{x:4.1f}" for x in cells)
    row += f" {best[run]:.2f}"
    print(f"{run[0]:6} {run[1]:5} {row}")
one, two, many, twice, far, small = means.values()
assert two[9] > one[9] < twice[9]  # both gain
for run in (32, 0.02), (1, 0.16):
    assert best[run] < 0.9 < sure[run]  # stuck
assert best[32, 0.005] > 0.9  # in small steps, not
# --8<-- [end:reuse]

# --8<-- [start:batch]
import torch
from ppo_ref.train.networks import (
    actor_statistics,
)
from ppo_ref.train.trainer import tiny_trainer

trainer = tiny_trainer(
    batch_size=64,
    mini_batch_size=64,
    micro_batch_size=64,
    actor_lr=0,  # the actor only samples here
)
batch = next(trainer.train()).experience
actor, clip = trainer.models.actor, (0.8, 1.2)
mask = batch.rollout.response_mask

def ratios(rows):  # of the tokens that count
    part = batch.rollout.rows(rows)
    now = actor_statistics(actor, part).log_probs
    old = batch.old_log_probs[rows]  # fixed
    return (now - old).exp()[mask[rows]]
# --8<-- [end:batch]

# --8<-- [start:loop]
adam = torch.optim.Adam(actor.parameters(), 2e-3)
draws = torch.Generator().manual_seed(0)
bias, passes, spread = actor.head.bias, 0, []

for _ in range(2):  # epochs
    order = torch.randperm(64, generator=draws)
    for mini in order.split(16):
        was, tokens = bias.clone(), mask[mini].sum()
        spread.append(ratios(mini).detach())
        adam.zero_grad()
        for micro in mini.split(4):
            r = ratios(micro)
            A = batch.advantages[micro][mask[micro]]
            L = torch.min(r * A, r.clamp(*clip) * A)
            (-L.sum() / tokens).backward()
            passes += 1
        assert bias.equal(was)  # not moved so far
        adam.step()
        assert not bias.equal(was)  # moved
print(passes, "passes,", len(spread), "steps")
# --8<-- [end:loop]

# --8<-- [start:numbers]
far = [r.ne(r.clamp(*clip)).float() for r in spread]
outside = [x.mean().item() for x in far]
levels = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])
box = [r.quantile(levels) for r in spread]
print("step   5%  25%  50%  75%  95% outside")
for k in range(8):
    cells = (f"{q:.2f}" for q in box[k])
    share = f"{outside[k]:7.0%}"
    print(f"{k + 1:4}", *cells, share)
assert spread[0].allclose(torch.ones(1))
assert outside[0] == 0 < outside[1] < outside[7]
# --8<-- [end:numbers]

# --8<-- [start:judge]
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.update import (
    mini_batches,
    update_actor,
)

config = PPOConfig(
    actor_epochs=2,
    mini_batch_size=16,
    micro_batch_size=8,  # not 4
    max_grad_norm=1e9,
)
twin = tiny_trainer().models.actor  # same weights
adam = torch.optim.Adam(twin.parameters(), 2e-3)
draws = torch.Generator().manual_seed(0)
minis = mini_batches(batch, 2, 16, draws)
steps = list(
    update_actor(twin, adam, minis, config)
)
largest = [step["ratio_max"] for step in steps]
print(" ".join(f"{x:.2f}" for x in largest))
ours = torch.stack([r.max() for r in spread])
assert ours.allclose(ours.new_tensor(largest))
assert twin.head.bias.allclose(bias, atol=1e-6)
# --8<-- [end:judge]

# --8<-- [start:denominator]
import torch
from ppo_ref.aggregation import token_mean
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
pair = shared_batch(device).response_mask  # 6 and 4
x = torch.zeros(pair.shape).to(device)
x.requires_grad_()  # a loss for every token

def weights(loss):  # of a token in each row
    (w,) = torch.autograd.grad(loss, x)
    assert not w[~pair].any()  # padding weighs 0
    return w[:, 0].tolist()

def part(*row):
    return token_mean(x[row, :], pair[row, :])

own = part(0) / 2 + part(1) / 2  # mean of means
for name, loss in ("all", part(0, 1)), ("own", own):
    row_0, row_1 = weights(loss)
    print(f"{name} {row_0:.3f} {row_1:.3f}")
    assert (row_0 == row_1) == (name == "all")
# --8<-- [end:denominator]

# --8<-- [start:near]
print(" ".join(f"{x:.0%}" for x in outside[:4]))
assert not any(outside[:4]), "step 2 is off-policy"
# --8<-- [end:near]

# --8<-- [start:pass]
print(passes, "passes,", len(spread), "steps")
assert passes == len(spread), "passes are no steps"
# --8<-- [end:pass]

# --8<-- [start:arithmetic]
from torch.utils.flop_counter import FlopCounterMode
from ppo_ref.train.rollout import (
    sample_responses,
)

asked = [q.text for q in trainer.task.train]
prompts = trainer.tokenizer.prompts(asked[:64])
calls, flops = [], []
actor.register_forward_pre_hook(
    lambda *call: calls.append(call)
)
for name in "sample", "train":
    calls.clear()
    with FlopCounterMode(display=False) as counter:
        if name == "sample":
            sample_responses(
                actor, prompts, response_length=8
            )
        else:  # every answer once, there and back
            everything = ratios(torch.arange(64))
            everything.sum().backward()
    flops.append(counter.get_total_flops() / 1e6)
    cells = f"{len(calls)} {flops[-1]:4.1f} MFLOP"
    print(f"{name:6} {cells}")
assert flops[0] > flops[1], "training took more"
# --8<-- [end:arithmetic]

# --8<-- [start:sizes]
prompts, n, gpus, micro = 4, 3, 3, 2
for mini in 4, 2:
    steps, answers = prompts // mini, mini * n
    passes = answers // gpus // micro
    print(f"mini {mini}: steps {steps}, ", end="")
    print(f"answers {answers}, passes {passes}")
    done = steps * passes * micro * gpus
    assert done == prompts * n
# --8<-- [end:sizes]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("smollm2_ppo")
widest = run.column("ratio_max")
clipped = run.column("clip_fraction")
for i in 0, 4, 9, 29, 49:
    print(f"{i + 1:2}: ratio up to {widest[i]:.2f}",
          f"clipped {clipped[i]:.2f}")
early, late = max(clipped[:5]), max(clipped[40:])
assert early / late > 5
# --8<-- [end:real]
