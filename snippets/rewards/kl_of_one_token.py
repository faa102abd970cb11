"""How can kld be negative? Sample answers, count the negative ones, take the mean."""

# --8<-- [start:comment]
import torch
actor = torch.tensor([0.5, 0.5])
reference = torch.tensor([0.9, 0.1])
kld = (actor / reference).log()  # of each token
print(f"kld  {kld[0]:.2f} {kld[1]:.2f}")
print(f"mean {actor @ kld:.2f}")
# --8<-- [end:comment]

# --8<-- [start:sample]
import torch
from ppo_ref.kl import kl_k1

torch.manual_seed(3)
device = "cpu"  # or "cuda"
N, T, vocab = 10_000, 6, 8  # answers, tokens
base = torch.randn(vocab, vocab).double()
tuned = 1.4 * base + 0.3 * torch.randn(vocab, vocab)
ref = base.log_softmax(1)
actor = tuned.log_softmax(1)

def sample(probs):  # row i: after word i
    at = [torch.zeros(N, dtype=torch.long)]
    upto = probs.cumsum(1)
    for _ in range(T):
        below = upto[at[-1]] < torch.rand(N, 1)
        at += [below.sum(1)]
    at = torch.stack(at, 1)
    return at[:, :-1], at[:, 1:]  # before, word

answers = sample(actor.exp())
old_log_probs = actor[answers].to(device)
ref_log_prob = ref[answers].to(device)
kld = old_log_probs - ref_log_prob
# --8<-- [end:sample]

# --8<-- [start:mean]
def exact(probs, gap):  # mean of the sum of gap
    p, total = torch.eye(vocab).double()[0], 0.0
    for _ in range(T):
        total += (p @ (probs * gap)).sum().item()
        p = p @ probs
    return total

def share(x):  # how many are negative
    return (x < 0).double().mean().item()

sums = kld.sum(1)
mean, error = sums.mean(), sums.std() / N**0.5
true = exact(actor.exp(), actor - ref)
print(f"tokens  below 0: {share(kld):.1%}")
print(f"answers below 0: {share(sums):.1%}")
print(f"mean {mean:.3f} +- {error:.3f}")
print(f"KL   {true:.3f}")
assert abs(mean - true) < 3 * error and true > 0

judge = kl_k1(
    log_probs=old_log_probs,
    ref_log_probs=ref_log_prob,
)
assert kld.equal(judge)
# --8<-- [end:mean]

# --8<-- [start:who]
p, q = actor.exp(), ref.exp()
hot = (actor / 1.5).softmax(1)
drop = torch.dropout(tuned, 0.2, True)
drop = drop.log_softmax(1)
other = torch.randn(vocab, vocab).double()
other = other.log_softmax(1)

print("                 below 0    mean   error")
for name, sampler, gap in (
    ("actor samples", p, actor - ref),
    ("temperature 1.5", hot, actor - ref),
    ("ref samples", q, actor - ref),
    ("actor's dropout", p, drop - ref),
    ("another ref", p, actor - other),
):
    sums = gap[sample(sampler)].to(device).sum(1)
    mean, error = sums.mean(), sums.std() / N**0.5
    print(f"{name:16}{share(sums):8.1%}", end="")
    print(f"{mean:8.3f}{error:8.3f}")
    true = exact(sampler, gap)
    assert abs(mean - true) < 3 * error
# --8<-- [end:who]

# --8<-- [start:means]
# It ends at once, or nine more tokens follow,
# which actor and reference write alike.
torch.manual_seed(0)
writes = torch.tensor([0.5, 0.5])  # the actor
wrote = torch.tensor([0.9, 0.1])  # the reference
length = torch.tensor([1, 10]).to(device)
gap = (writes / wrote).log().to(device)
drawn = torch.multinomial(writes, 100_000, True)
drawn = drawn.view(100, 1000).to(device)  # batches

total, tokens = gap[drawn], length[drawn]
all_tokens = total.sum(1) / tokens.sum(1)
in_batch = {
    "sum of each answer": total.mean(1),
    "mean of all tokens": all_tokens,
    "mean of each answer": (total / tokens).mean(1),
}
print(" " * 20, "  mean  batches below 0")
for name, means in in_batch.items():
    print(f"{name:20} {means.mean():6.3f}", end="")
    print(f"{share(means):17.0%}")

chance = writes.to(device)
assert (chance * gap).sum() > 0  # the KL
assert (chance * gap / length).sum() < 0  # logged
# --8<-- [end:means]

# --8<-- [start:sampler]
pq = [[0.6, 0.2, 0.15, 0.05], [0.3, 0.3, 0.2, 0.2]]
p, q = torch.tensor(pq).double().to(device)[:, None]
hot = (p.log() / 2).softmax(1)  # temperature 2

def divergence(b, other):
    return (b * (b / other).log()).sum()

KL = divergence(p, q)
for name, b in ("actor", p), ("temperature 2", hot):
    mean = (b * (p / q).log()).sum()
    far, off = divergence(b, q), divergence(b, p)
    print(f"{name:14}{mean:6.3f}", end="")
    print(f" = {far:.3f} - {off:.3f}")
    assert mean.isclose(far - off)
# --8<-- [end:sampler]

# --8<-- [start:fine]
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)
gap = (batch.old_log_probs - batch.ref_log_probs)[1]
added = -batch.kl_coef * gap[:4]
print("added", *[f"{x:.4f}" for x in added])
assert (added <= 0).all(), "all four got a treat"
# --8<-- [end:fine]

# --8<-- [start:broken]
batches = kld.sum(1).view(-1, 8).mean(1)
print(f"batches below 0: {share(batches):.1%}")
assert share(batches) == 0, "and nothing is broken"
# --8<-- [end:broken]

# --8<-- [start:real]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("smollm2_ppo")
sides = "old_log_probs", "ref_log_probs"
kept = [[r[side] for side in sides]
        for r in run.records
        if r["record"] == "response"
        and r["iteration"] > 1]
gaps = [[old - ref for old, ref in zip(*pair)]
        for pair in kept]
of_tokens = [x for gap in gaps for x in gap]
of_answers = [sum(gap) for gap in gaps]
for name, found in (("tokens", of_tokens),
                    ("answers", of_answers)):
    below = sum(x < 0 for x in found) / len(found)
    print(f"{name:8} below 0: {below:.0%}")
least = min(run.column("kl"))
print(f"mean of a batch: from {least:.2f}")
assert least >= 0 and min(of_tokens) < 0
# --8<-- [end:real]
