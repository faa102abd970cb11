"""k1, k2 and k3 as values, as losses and in rewards."""

from matplotlib import pyplot as plt  # style.py has what a page shows of it

language = "en"  # or "zh"; a page has its own

# --8<-- [start:labels]
words = {
    "mean": ("均值 / KL", "mean / KL"),
    "sd": ("标准差 / KL", "deviation / KL"),
    "kl": ("精确的 KL（nat）", "exact KL (nats)"),
    "dots": ("线：精确；点：抽样",
             "lines exact, dots sampled"),
    "batch": ("64 个样本的平均 / KL",
              "average of 64 / KL"),
    "band": ("带：中间 80%；线：中位数",
             "bands: middle 80%; lines: median"),
    "target": ("目标 q", "the reference q"),
    "token": ("token", "token"),
    "chance": ("概率", "probability"),
    "reward": ("进奖励", "in rewards"),
    "loss": ("当 loss", "as a loss"),
    "along": ("沿着 KL 的梯度",
              "along the KL's gradient"),
    "across": ("偏到别处", "across"),
    "moved": ("KL(old‖actor)（nat）",
              "KL(old‖actor) (nats)"),
}

def say(key):
    return words[key][language == "en"]
# --8<-- [end:labels]

# --8<-- [start:colours]
colours = {"k1": "C0", "k2": "C1", "k3": "C4"}
# --8<-- [end:colours]

# --8<-- [start:policies]
import torch
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

draw = torch.Generator().manual_seed(2)
q = torch.randn(8, generator=draw).double()
log_q = q.log_softmax(0)  # the reference
away = torch.randn(8, generator=draw).double()

def actor(distance):
    return (log_q + distance * away).log_softmax(0)

def estimators(log_p, log_q=log_q):
    """Each estimator, for each token."""
    given = dict(log_probs=log_p[None],
                 ref_log_probs=log_q[None])
    return {"k1": kl_k1(**given)[0],
            "k2": kl_k2(**given)[0],
            "k3": kl_k3(**given)[0]}

def exact(log_p):
    """The KL; mean and deviation of one sample."""
    p = log_p.exp()
    KL = (p * (log_p - log_q)).sum()
    k = torch.stack([*estimators(log_p).values()])
    mean = k @ p
    return KL, mean, (k**2 @ p - mean**2).sqrt()

heads = "k1", "k2", "k3", "sd k1", "sd k2", "sd k3"
print("   KL k1<0", *(f"{x:>6}" for x in heads))
for distance in 0.1, 0.3, 1.0, 2.0, 3.0:
    log_p = actor(distance)
    KL, means, sds = exact(log_p)
    below = log_p.exp()[log_p < log_q].sum()
    cells = [f"{x:6.3f}" for x in (*means, *sds)]
    print(f"{KL:5.3f} {below:4.0%}", *cells)
    assert means[[0, 2]].isclose(KL).all()
    assert means[1] > KL  # along this line
    KL, means, _ = exact(actor(-distance))
    assert means[1] < KL  # the other way along it
# --8<-- [end:policies]

# --8<-- [start:values]
def sampled(log_p, size):
    """The three, of samples that the actor drew."""
    draw = torch.Generator().manual_seed(1)
    tokens = torch.multinomial(
        log_p.exp(), size, True, generator=draw)
    k = estimators(log_p)
    return {name: k[name][tokens] for name in k}

for distance in 0.1, 1.0, 3.0:
    KL, means, sds = exact(actor(distance))
    drawn = sampled(actor(distance), 40000)
    for name, mean in zip(drawn, means):
        k = drawn[name]
        bar = k.std() / len(k) ** 0.5
        assert (k.mean() - mean).abs() < 4 * bar
        print(f"KL {KL:.3f} {name}",
              f"{k.mean():6.3f} +- {bar:.3f}")
# --8<-- [end:values]

# --8<-- [start:draw_values]
grid = torch.logspace(-1.3, 0.6, 40).tolist()
curve = [exact(actor(d)) for d in grid]
x = [KL for KL, _, _ in curve]
fig, (top, low) = plt.subplots(
    2, num="values", figsize=(3.6, 4), sharex=True)
for n, (name, colour) in enumerate(colours.items()):
    style = "--" if name == "k3" else "-"
    top.plot(x, [m[n] / KL for KL, m, _ in curve],
             colour, ls=style, label=name)
    low.plot(x, [sd[n] / KL for KL, _, sd in curve],
             colour)
    for d in grid[::6]:
        KL, _, _ = exact(actor(d))
        k = sampled(actor(d), 40000)[name] / KL
        bar = k.std() / len(k) ** 0.5
        top.errorbar(KL, k.mean(), bar, fmt="o",
                     ms=3, color=colour)
top.set(ylabel=say("mean"), title=say("dots"),
        ylim=(0.5, 1.6))
low.set(ylabel=say("sd"), xlabel=say("kl"))
low.set(xscale="log", yscale="log")
low.set_xticks([0.001, 0.01, 0.1, 1])
low.set_yticks([1, 10])
for axis in low.xaxis, low.yaxis:
    axis.set_major_formatter("{x:g}")
low.minorticks_off()
top.legend(loc="lower right")
plt.show()
# --8<-- [end:draw_values]

# --8<-- [start:tail]
far = actor(3.5)
p, k3 = far.exp(), estimators(far)["k3"]
rare = k3.argmax()
print(f"the rarest token: chance {p[rare]:.5f},",
      f"k3 {k3[rare]:.0f}")
below = p < 0.01
share = (p * k3)[below].sum() / (p * k3).sum()
print(f"all below 1%: chance {p[below].sum():.3f},",
      f"{share:.2f} of the mean of k3")

def averages(log_p, size=64, count=4000):
    """Of 64 samples each, over the KL."""
    KL, _, _ = exact(log_p)
    drawn = sampled(log_p, size * count)
    drawn["k3 cut"] = drawn["k3"].clamp(max=10)
    return {name: k.view(count, size).mean(1) / KL
            for name, k in drawn.items()}

for name, mean in averages(far).items():
    bar = mean.std() / len(mean) ** 0.5
    print(f"{name:6} median {mean.median():.2f}",
          f"mean {mean.mean():.2f} +- {bar:.2f}",
          f"most {mean.max():.1f}")
    if name != "k2":
        off = (mean.mean() - 1).abs() > 4 * bar
        assert off == (name == "k3 cut")
# --8<-- [end:tail]

# --8<-- [start:draw_tail]
fig, ax = plt.subplots(num="tail")
ends = torch.tensor([0.1, 0.5, 0.9]).double()
grid = torch.linspace(0.4, 3.9, 15).tolist()
x = [exact(actor(d))[0] for d in grid]
found = [averages(actor(d), count=500)
         for d in grid]
for name, colour in colours.items():
    bands = torch.stack(
        [b[name].quantile(ends) for b in found], 1)
    ax.fill_between(x, bands[0], bands[2], lw=0,
                    color=colour, alpha=0.25)
    ax.plot(x, bands[1], colour, label=name)
ax.axhline(1, color="grey", lw=1, ls=":")
ax.set(xlabel=say("kl"), ylabel=say("batch"),
       title=say("band"), ylim=(0, 2))
ax.legend(ncols=3)
plt.show()
# --8<-- [end:draw_tail]

# --8<-- [start:gradients]
def slope(loss, logits):
    return torch.autograd.grad(
        loss, logits, retain_graph=True)[0]

def gradients(distance):
    """Exact ones: as a loss, and in the rewards."""
    logits = actor(distance).requires_grad_()
    log_p = logits.log_softmax(0)
    p = log_p.exp().detach()  # who sampled
    KL = (log_p.exp() * (log_p - log_q)).sum()
    back = (log_q.exp() * (log_q - log_p)).sum()
    found = {"KL": KL, "back": back}
    for name, k in estimators(log_p).items():
        found[name, "loss"] = (p * k).sum()
        told = k.detach() * log_p
        found[name, "reward"] = (p * told).sum()
    return {name: slope(x, logits)
            for name, x in found.items()}

print("along / across the gradient of the KL")
for distance in 0.1, 2.0:
    g = gradients(distance)
    true, back = g.pop("KL"), g.pop("back")
    assert g["k1", "loss"].abs().max() < 1e-12
    assert g["k2", "loss"].allclose(true)
    assert g["k1", "reward"].allclose(true)
    assert g["k3", "loss"].allclose(back)
    assert g["k3", "reward"].allclose(true - back)
    print(f"KL {exact(actor(distance))[0]:.3f}")
    for (name, place), x in g.items():
        along = (x @ true) / (true @ true)
        across = x - along * true
        across = across.norm() / true.norm()
        along = round(along.item(), 2) + 0.0
        print(f"  {name} {place:6}",
              f"{along:5.2f} {across:5.2f}")
# --8<-- [end:gradients]

# --8<-- [start:where]
places = torch.linspace(-3, 3, 41).double()
hills = torch.stack([-(places + 1.5) ** 2 / 0.18,
                     -(places - 1.2) ** 2 / 0.5])
two_hills = hills.logsumexp(0).log_softmax(0)

def bell(centre, width):
    """An actor that can make one hill only."""
    z = (places - centre) / width.exp()
    return (-z**2 / 2).log_softmax(0)

def minimise(name, place, steps=150):
    knobs = torch.tensor([0.4, 0.0]).double()
    for _ in range(steps):
        knobs.requires_grad_()
        log_p = bell(*knobs)
        k = estimators(log_p, two_hills)[name]
        if place == "reward":
            k = k.detach() * log_p
        g = slope(log_p.exp().detach() @ k, knobs)
        knobs = (knobs - 0.1 * g).detach()
    return bell(*knobs)

ends = {}
both = ("k1", "loss"), ("k1", "reward")
both = *both, ("k2", "loss"), ("k3", "loss")
for name, place in both:
    log_p = minimise(name, place)
    ends[name, place] = log_p
    p, back = log_p.exp(), two_hills.exp()
    KL = (p * (log_p - two_hills)).sum()
    KL_back = (back * (two_hills - log_p)).sum()
    print(f"{name} {place:6} KL {KL:.2f}",
          f"the other KL {KL_back:.2f}")
k2_end = ends["k2", "loss"]
assert ends["k1", "reward"].allclose(k2_end)
start = bell(*torch.tensor([0.4, 0.0]).double())
assert ends["k1", "loss"].allclose(start, atol=1e-3)
# --8<-- [end:where]

# --8<-- [start:draw_where]
fig, ax = plt.subplots(num="where")
ax.fill_between(places, two_hills.exp(), lw=0,
                color="grey", alpha=0.35,
                label=say("target"))
looks = ("C0", ":"), ("C0", "-"), ("C1", "--")
looks = *looks, ("C4", "-")
for key, (colour, line) in zip(ends, looks):
    name, place = key
    ax.plot(places, ends[key].exp(),
            colour, ls=line,
            label=f"{name} {say(place)}")
ax.set(ylabel=say("chance"), xlabel=say("token"),
       ylim=(0, 0.19))
ax.legend()
plt.show()
# --8<-- [end:draw_where]

# --8<-- [start:straight]
log_p = actor(2.0).requires_grad_()
p = log_p.detach().exp()
k = estimators(log_p)
forward, backward = k["k3"], k["k2"]
plus = backward - backward.detach()
plus = plus + forward.detach()
assert plus.allclose(forward)
ours = slope((p * plus).sum(), log_p)
k2 = estimators(log_p)["k2"]
assert ours.allclose(slope((p * k2).sum(), log_p))
print("k3+: the value of k3, the gradient of k2")
# --8<-- [end:straight]

# --8<-- [start:old]
old = actor(0.3)  # it sampled
chance = old.exp()
drive = torch.randn(8, generator=draw).double()

def stale(step):
    """Gradients: of each token, and of the KL."""
    logits = (old + step * drive).requires_grad_()
    log_p = logits.log_softmax(0)
    losses = estimators(log_p)
    ratio = (log_p - old).exp()
    for name in "k1", "k2", "k3":
        times = ratio * losses[name]
        losses[f"ratio * {name}"] = times
    tokens = {
        name: torch.stack(
            [slope(one, logits) for one in loss])
        for name, loss in losses.items()
    }
    fixed = ratio.detach()[:, None] * tokens["k2"]
    assert tokens["ratio * k3"].allclose(fixed)
    KL = (log_p.exp() * (log_p - log_q)).sum()
    moved = (chance * (old - log_p)).sum().item()
    return moved, tokens, slope(KL, logits)

def parts(gradient, true):
    along = (gradient @ true) / (true @ true)
    across = (gradient - along * true).norm()
    across = across / true.norm()
    return along.item(), across.item()

found = [stale(step) for step in (0.0, 0.4, 0.8)]
heads = (f"{moved:10.2f}" for moved, _, _ in found)
print("KL from old", *heads, "noise")
unbiased, last = ("ratio * k1", "ratio * k3"), {}
for name in found[0][1]:
    row = f"{name:11}"
    for _, tokens, true in found:
        mean = chance @ tokens[name]
        pair = parts(mean, true)
        row += f"{pair[0]:z6.2f}{pair[1]:5.2f}"
        right = mean.allclose(true)
        assert right or name not in unbiased
    one = tokens[name]
    noise = chance @ (one - mean).square()
    noise = noise.sum().sqrt() / true.norm()
    last[name] = pair[0]
    print(f"{row} {noise:5.1f}")
    assert right == (name in unbiased)
# --8<-- [end:old]

# --8<-- [start:draw_old]
fig, (top, low) = plt.subplots(
    2, num="old", figsize=(3.6, 4), sharex=True)
steps = torch.linspace(0, 1, 21).tolist()
found = [stale(step) for step in steps]
x = [moved for moved, _, _ in found]
looks = {"k1": "C0-", "k2": "C1-", "k3": "C4-",
         "ratio * k3": "C4--"}
for name, look in looks.items():
    y = [parts(chance @ tokens[name], true)
         for _, tokens, true in found]
    for axes, values in zip((top, low), zip(*y)):
        axes.plot(x, values, look[:2], ls=look[2:],
                  label=name)
top.set(ylabel=say("along"))
low.set(ylabel=say("across"), xlabel=say("moved"))
low.set(xticks=[0, 0.1, 0.2], yticks=[0, 1, 2, 3])
low.legend()
plt.show()
# --8<-- [end:draw_old]

# --8<-- [start:start]
logits = actor(0.0).requires_grad_()
log_p = logits.log_softmax(0)
for name, k in estimators(log_p).items():
    size = [slope(one, logits).norm() for one in k]
    print(f"{name}: {min(size):.2f}",
          f"to {max(size):.2f}")
    assert (max(size) < 1e-12) == (name != "k1")
# --8<-- [end:start]
