"""Sampling: an engine of its own, and what a ratio of 1 does not say."""

# --8<-- [start:engine]
import torch
from ppo_ref.examples import world

w = world()
z = w.edge_log_probs  # logits of the actor
first = w.parents == 0  # Yes, No, Let

def engine(z, T=1, top_p=1):
    """Log-probs of what such an engine writes."""
    q = w.log_softmax(z / T).exp()
    for place in range(len(w.prefixes)):
        here = (w.parents == place).nonzero()[:, 0]
        sizes, order = q[here].sort(descending=True)
        before = sizes.cumsum(0) - sizes
        q[here[order[before >= top_p]]] = 0
        q[here] /= q[here].sum()
    return q.log()

def mean_score(log_q):
    return w.mean_score(log_q).item()

cool, hot, top = 0.7, 1.5, 0.9
engines = {
    "trainer": engine(z),
    f"T {cool}": engine(z, T=cool),
    f"T {hot}": engine(z, T=hot),
    f"top-p {top}": engine(z, top_p=top),
}
print("             Yes     No    Let   score")
for name, log_q in engines.items():
    cells = (f"{x:.4f}" for x in log_q[first].exp())
    score = f"{mean_score(log_q):.4f}"
    print(f"{name:9}", *cells, "", score)
assert engines["trainer"].allclose(z)
# --8<-- [end:engine]

# --8<-- [start:ratio]
J = mean_score(engines["trainer"])
cold = engines["T 0.7"]
logged = mean_score(cold)
draws = torch.Generator().manual_seed(0)
drawn = w.response_probs(cold).multinomial(
    100_000, replacement=True, generator=draws
)
old = w.token_log_probs(z)[drawn]  # by the trainer
new = w.token_log_probs(w.log_softmax(z))[drawn]
ratio = (new - old).exp()
low, high = ratio.min(), ratio.max()
print(f"score {w.scores[drawn].mean():.3f}")
print(f"ratio {low:.3f} to {high:.3f}")
print(f"J     {J:.3f}")
warm = mean_score(engines["T 1.5"])  # slips
times = logged * cool
# --8<-- [end:ratio]

# --8<-- [start:push]
def log_P(z):
    log_probs = w.log_softmax(z)
    return w.token_log_probs(log_probs).sum(1)

grad_log_P = torch.func.jacrev(log_P)(z)

def push(log_q, b=0, scores=w.scores, weight=1):
    """Mean push on each logit; the engine draws."""
    Q = w.response_probs(log_q)
    return Q * weight * (scores - b) @ grad_log_P

ones = torch.ones_like(w.scores)
nothing = {
    name: push(log_q, scores=ones)[first]
    for name, log_q in engines.items()
}
print("               Yes      No     Let")
for name, g in nothing.items():
    print(f"{name:9}", *(f"{x:z7.4f}" for x in g))
assert nothing["trainer"].abs().max() < 1e-12
lost = -nothing["top-p 0.9"][2]
# --8<-- [end:push]

# --8<-- [start:baseline]
print("b           0    0.5      1")
on_yes = {}
for name, log_q in engines.items():
    on_yes[name] = [
        push(log_q, b)[0] for b in (0, 0.5, 1)
    ]
    cells = (f"{x:6.3f}" for x in on_yes[name])
    print(f"{name:9}", *cells)
# --8<-- [end:baseline]

# --8<-- [start:weights]
weight = (z - cold).exp()  # of each token
of_yes, of_no, of_let = weight[first].tolist()
print(f"Yes {of_yes:6.3f}")
print(f"No  {of_no:6.3f}")
print(f"Let {of_let:6.3f}")
product = w.response_probs(z - cold)
for b in 0, 0.5, 1:
    g = push(cold, b, weight=product)[0]
    print(f"b {b:3}: push on Yes {g:.4f}")
assert push(cold, 0, weight=product).allclose(
    push(z)
)
# --8<-- [end:weights]

# --8<-- [start:log]
# What rounding to bfloat16 leaves of the logits.
rounded = w.log_softmax(z.bfloat16().double())

def weights_seen(log_q):
    """Of tokens: mean, least, greatest weight."""
    Q = w.response_probs(log_q)[:, None]
    seen = w.response_mask & (Q > 0)
    of_token = (z - log_q).exp()[w.edges][seen]
    share = Q.expand(w.edges.shape)[seen]
    mean = (share @ of_token) / share.sum()
    return mean, of_token.min(), of_token.max()

others = dict(list(engines.items())[1:])
all_seen = {
    name: weights_seen(log_q)
    for name, log_q in (
        others | {"rounding": rounded}
    ).items()
}
print("            mean  least   most")
for name, x in all_seen.items():
    print(f"{name:9}", *(f"{y:6.3f}" for y in x))
# --8<-- [end:log]

# --8<-- [start:picked]
at = w.prefixes.index("Yes , 1+1 =")
two, three = z[w.parents == at].exp()
q_two = two / two  # the only one that is left
weight_two = two / q_two
print(f"2: {two:.3f} / {q_two:.3f}", end=" ")
print(f"= {weight_two:.3f}")
kept = engines["top-p 0.9"][w.parents == at].exp()
assert kept.tolist() == [1, 0]
assert weight_two < 1
upside_down = two / top  # slips
# --8<-- [end:picked]

# --8<-- [start:stall]
def train(updates, **sampler):
    """The score in the log, and J, as it learns."""
    x, path = z, []
    for _ in range(updates + 1):
        Q = w.response_probs(engine(x, **sampler))
        seen = Q @ w.scores
        path.append((seen.item(), mean_score(x)))
        A = w.scores - seen  # no weights
        grad = torch.func.jacrev(log_P)(x)
        x = w.log_softmax(x + Q * A @ grad)
    return path

print("updates    log      J")
path = train(200, top_p=top)
for n in 0, 1, 5, 20, 200:
    cells = (f"{x:6.3f}" for x in path[n])
    print(f"{n:7}", *cells)
log, stuck = path[-1]
on_policy = train(200)[-1][1]
print(f"nothing cut: {on_policy:.3f}")
assert log > 0.999 > on_policy > stuck
# --8<-- [end:stall]

# --8<-- [start:alike]
b = mean_score(cold)  # in the log
alike = push(cold, 1, scores=ones)
print(f"{alike.abs().max():.3f}")
on_cold, on_own = push(cold, b)[0], push(z)[0]
print(f"{on_cold:.3f} instead of {on_own:.3f}")
# --8<-- [end:alike]
