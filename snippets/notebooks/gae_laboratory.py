"""What lambda, gamma and the critic do."""

from matplotlib import pyplot as plt  # style.py has what a page shows of it

language = "en"  # or "zh"; a page has its own

# --8<-- [start:labels]
words = {
    "error": ("critic 误差", "critic error"),
    "bias": ("偏差", "bias"),
    "variance": ("方差", "variance"),
    "dots": ("线：精确；点：抽样",
             "lines exact, dots sampled"),
    "verl": ("verl 默认", "verl's default"),
    "mse": ("均方误差 ×100", "squared error × 100"),
    "weights": ("V 的权重", "weight of V"),
    "deltas": ("δ 的权重", "weight of δ"),
    "ahead": ("往后 k 个 token", "k tokens ahead"),
    "left": ("奖励剩几成", "left of the reward"),
    "tokens": ("奖励还有多远", "tokens to go"),
    "short": ("短，对", "short, right"),
    "long": ("长，对", "long, right"),
    "wrong": ("短，错", "short, wrong"),
    "first": ("首 token 的 A", "A of first token"),
    "learned": ("critic 在学", "critic learns"),
    "fixed": ("critic 不改", "critic stays wrong"),
    "right": ("答对的概率", "chance to be right"),
    "updates": ("更新次数", "updates"),
}

def say(key):
    return words[key][language == "en"]
# --8<-- [end:labels]

# --8<-- [start:colours]
plt.rcParams["legend.borderaxespad"] = 2
colours = "C0", "C1", "C3", "C4"
# --8<-- [end:colours]

# --8<-- [start:tree]
import torch
from ppo_ref.advantages import gae

T = 6
digits = 2 ** torch.arange(T - 1, -1, -1)
answers = torch.arange(2**T)[:, None] // digits % 2
right = (answers.sum(1) >= 4).double()
rewards = torch.zeros(2**T, T).double()
rewards[:, -1] = right

# a number for each prefix; 0 is the empty one
state = torch.zeros_like(answers)
for t in range(1, T):
    child = 2 * state[:, t - 1] + 1
    state[:, t] = child + answers[:, t - 1]
sums, visits = torch.zeros(2, 2**T - 1).double()
for t in range(T):
    sums.index_add_(0, state[:, t], right)
    visits.index_add_(0, state[:, t], right * 0 + 1)
truth = sums / visits
gap = (truth[2] - truth[1]).item()

print("answers", 2**T, "right", int(right.sum()))
print("V of nothing, 0, 1:", truth[:3].tolist())
print("gap", gap)
# --8<-- [end:tree]

# --8<-- [start:measure]
def critics(error, count=1, seed=0):
    draw = torch.Generator().manual_seed(seed)
    size = count, len(truth)
    off = torch.randn(size, generator=draw)
    # two decimals: the same on every processor
    off = off.double().round(decimals=2)
    return truth + error * off

def first(critic, lam, gamma=1.0):
    """A_0 of every answer, for each critic."""
    n = len(critic)
    return gae(
        token_level_rewards=rewards.repeat(n, 1),
        values=critic[:, state].flatten(0, 1),
        response_mask=torch.ones(n * 2**T, T) > 0,
        gamma=gamma,
        gae_lambda=lam,
    ).advantages[:, 0].view(n, -1)

def measure(critic, lam, gamma=1.0):
    """Bias and variance of A(1) - A(0), exact."""
    A = first(critic, lam, gamma)
    zero, one = A.chunk(2, 1)  # by first token
    bias = one.mean(1) - zero.mean(1) - gap
    spread = zero.var(1) + one.var(1)
    return bias, spread * 31 / 32  # of all 32
# --8<-- [end:measure]

# --8<-- [start:limits]
junk = critics(5.0, count=50)
bias, _ = measure(junk, lam=1.0)
assert bias.abs().max() < 1e-12
print("lambda = 1: no critic makes a bias")

for lam in 0.0, 0.5, 0.95:
    bias, _ = measure(critics(0.0), lam)
    assert bias.abs().max() < 1e-12
print("exact critic: no lambda makes a bias")

_, variance = measure(junk, lam=0.0)
assert variance.max() < 1e-12
print("lambda = 0: no variance, all critic")
# --8<-- [end:limits]

# --8<-- [start:sampled]
def sampled(critic, lam, pairs=400):
    draw = torch.Generator().manual_seed(1)
    half = 2 ** (T - 1)
    size = 2, pairs
    rows = torch.randint(half, size, generator=draw)
    A = first(critic, lam)[0]
    return A[half + rows[0]] - A[rows[1]] - gap

def with_error(x):
    error = x.std() / len(x) ** 0.5
    return x.mean().item(), error.item()

for lam in 0.0, 0.95:
    off = sampled(critics(0.4), lam)
    mean, bar = with_error(off)
    bias, _ = measure(critics(0.4), lam)
    assert abs(mean - bias) <= 3 * bar + 1e-12
# --8<-- [end:sampled]

# --8<-- [start:bias]
fig, (top, low) = plt.subplots(
    2, num="bias", figsize=(3.6, 4.2))
grid = torch.linspace(0, 1, 41).tolist()
for error, colour in zip((0.0, 0.1, 0.4), colours):
    critic = critics(error)
    exact = [measure(critic, lam) for lam in grid]
    bias, variance = torch.tensor(exact).T
    label = f"{say('error')} {error}"
    top.plot(grid, bias, colour, label=label)
    low.plot(grid, variance, colour)
    look = dict(color=colour, fmt="o", ms=3)
    for lam in 0.0, 0.25, 0.5, 0.75, 0.95, 1.0:
        off = sampled(critic, lam)
        top.errorbar(lam, *with_error(off), **look)
        square = (off - off.mean()) ** 2
        bar = with_error(square)
        low.errorbar(lam, *bar, **look)
top.legend()
top.set(ylabel=say("bias"), title=say("dots"))
low.set(ylabel=say("variance"), xlabel="λ")
for ax in top, low:
    ax.axvline(1, color="grey", lw=1, ls=":")
low.text(0.98, 0, say("verl"), ha="right")
plt.show()
# --8<-- [end:bias]

# --8<-- [start:map]
errors = 0.0, 0.05, 0.1, 0.2, 0.4, 1.6
lams = 0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0
pairs = 8  # answers with each first token

def parts(error, lam):
    many = critics(error, count=60)
    bias, variance = measure(many, lam)
    return bias.square().mean(), variance.mean()

both = [[parts(error, lam) for lam in lams]
        for error in errors]
both = torch.tensor(both)

def square_error(pairs):
    return both[..., 0] + both[..., 1] / pairs

table = square_error(pairs)
best = table.argmin(1)
for error, place in zip(errors, best):
    print(f"error {error:4}: best at {lams[place]}")
assert (best.diff() > 0).all()
assert (square_error(64).argmin(1) >= best).all()
# --8<-- [end:map]

# --8<-- [start:draw_map]
fig, ax = plt.subplots(num="map")
for y, row in enumerate(table.tolist()):
    for x, mse in enumerate(row):
        mse = 100 * mse
        text = f"{mse:.{int(mse < 10)}f}"
        shade = "C1", min(0.5, mse**0.5 / 15)
        corner = x - 0.5, y - 0.5
        ax.add_patch(plt.Rectangle(
            corner, 1, 1, facecolor=shade, lw=0))
        at = dict(ha="center", va="center")
        ax.text(x, y, text, **at)
ax.plot(best, range(len(best)), "o", ms=20,
        mfc="none", mec="C0", mew=1.5)
ax.set(xlim=(-0.5, 7.5), ylim=(5.5, -0.5))
ax.set_xlabel("λ")
ax.set_xticks(range(len(lams)), lams)
ax.set_yticks(range(len(errors)), errors)
ax.set_ylabel(say("error"))
ax.set_title(say("mse"), loc="left")
ax.set_title(say("verl"), loc="right")
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
plt.show()
# --8<-- [end:draw_map]

# --8<-- [start:weights]
def weights(lam, gamma=1.0, K=21):
    """What A_0 has of each V and of each delta."""
    unit = torch.eye(K).double()
    how = dict(response_mask=unit > -1, gamma=gamma,
               gae_lambda=lam)
    of_V, _ = gae(token_level_rewards=0 * unit,
                  values=unit, **how)
    of_delta, _ = gae(token_level_rewards=unit,
                      values=0 * unit, **how)
    return of_V[:, 0], of_delta[:, 0]

k = torch.arange(1, 21).double()
for lam, gamma in (0.5, 0.9), (0.95, 1), (1.0, 1):
    of_V, of_delta = weights(lam, gamma)
    formula = gamma**k * lam ** (k - 1) * (1 - lam)
    assert of_V[1:].allclose(formula)
    assert of_delta[1:].allclose((gamma * lam) ** k)
    print(f"lambda {lam:4}: V_1 {of_V[1]:.2f},",
          f"V_2 to V_20 {of_V[2:].sum():.2f}")
# --8<-- [end:weights]

# --8<-- [start:draw_weights]
fig, (top, low) = plt.subplots(
    2, num="weights", figsize=(3.6, 4), sharex=True)
marks = {0.0: "s-", 0.5: "^-", 0.95: "v-", 1: "o-"}
order = dict(zip(marks, (*colours[1:], colours[0])))

def name(lam):
    note = f" ({say('verl')})" if lam == 1 else ""
    return f"λ = {lam}{note}"

for lam, mark in marks.items():
    of_V, of_delta = weights(lam)
    look = dict(color=order[lam], ms=3.5, lw=1)
    look["label"] = name(lam)
    top.plot(k, of_V[1:], mark, **look)
    low.plot(range(21), of_delta, mark, **look)
top.set(ylabel=say("weights"), ylim=(-0.05, 1.08))
low.set(ylabel=say("deltas"), ylim=(-0.05, 1.08))
low.set(xlabel=say("ahead"), xticks=range(0, 21, 5))
top.legend()
plt.show()
# --8<-- [end:draw_weights]

# --8<-- [start:gamma]
gammas = 1.0, 0.9999, 0.999, 0.99
lengths = 200, 2000, 16000
for gamma in gammas:
    left = (gamma ** (n - 1) for n in lengths)
    cells = (f"{x:.4f}" for x in left)
    print(f"gamma {gamma:6}:", *cells)
# --8<-- [end:gamma]

# --8<-- [start:draw_gamma]
fig, ax = plt.subplots(num="gamma")
steps = torch.logspace(0, 4.3, 200)
for gamma, colour in zip(gammas, colours):
    note = f" ({say('verl')})" if gamma == 1 else ""
    ax.plot(steps, gamma ** (steps - 1), colour,
            label=f"{gamma}{note}")
for n in lengths:
    ax.axvline(n, color="grey", lw=1, ls=":")
    ax.text(n, 1.45, f"{n}", ha="center")
ax.set(xscale="log", yscale="log", ylim=(5e-4, 1.3))
for axis in ax.xaxis, ax.yaxis:
    axis.set_major_formatter("{x:g}")
ax.minorticks_off()
ax.set(xlabel=say("tokens"), ylabel=say("left"))
ax.legend(loc="lower left", title="γ",
          handlelength=1, borderaxespad=0)
plt.show()
# --8<-- [end:draw_gamma]

# --8<-- [start:lengths]
def first_tokens(gamma, lengths=(200, 2000, 200)):
    """A_0 if V of the prompt is the mean return."""
    slots = torch.arange(max(lengths))
    ends = torch.tensor(lengths)[:, None]
    scores = torch.tensor([[1], [1], [0]]).double()
    rewards = scores * (slots == ends - 1)
    how = dict(
        token_level_rewards=rewards,
        response_mask=slots < ends,
        gamma=gamma,
    )
    _, G = gae(values=0 * rewards, **how)
    V = 0 * rewards + G[:, 0].mean() * (slots == 0)
    A, _ = gae(values=V, **how)
    return A[:, 0].tolist()

kinds = "short", "long", "wrong"
bars = [first_tokens(gamma) for gamma in gammas]
for gamma, row in zip(gammas, bars):
    cells = (f"{A:6.3f}" for A in row)
    print(f"gamma {gamma:6}:", *cells)
assert bars[0][0] == bars[0][1]
assert bars[2][0] > 0 > bars[2][1]
# --8<-- [end:lengths]

# --8<-- [start:draw_lengths]
fig, ax = plt.subplots(num="lengths")
for n, kind in enumerate(kinds):
    places = [x + (n - 1) * 0.27 for x in range(4)]
    ax.bar(places, [row[n] for row in bars], 0.25,
           color=("C0", "C1", "grey")[n],
           label=say(kind))
ax.axhline(0, color="black", lw=0.8)
ticks = [f"γ = {gamma}" for gamma in gammas]
ticks[0] += "\n" + say("verl")
ax.set_xticks(range(4), ticks)
ax.set(ylabel=say("first"), ylim=(-0.75, 0.8))
ax.legend(loc="upper right", handlelength=1)
ax.spines.bottom.set_visible(False)
ax.tick_params(axis="x", length=0)
plt.show()
# --8<-- [end:draw_lengths]

# --8<-- [start:train]
seeds, updates, batch = 24, 100, 16
wrong = 0.4

def train(lam, learns):
    torch.manual_seed(0)
    logits = torch.zeros(seeds, len(truth)).double()
    critic = 0 * logits
    if not learns:
        critic = critics(wrong, seeds)
    mask = torch.ones(seeds * batch, T) > 0
    curve = []
    for _ in range(updates):
        p = logits.sigmoid()
        chance = p[:, state] - (answers == 0) * 1
        chance = chance.abs().prod(2)
        curve.append(chance @ right)
        row = torch.multinomial(chance, batch, True)
        at, act = state[row], answers[row]
        at, act = at.flatten(1), act.flatten(1)
        V = critic.gather(1, at)
        r = rewards[row].view(-1, T)
        A, R = gae(
            token_level_rewards=r, gae_lambda=lam,
            values=V.view(-1, T),
            response_mask=mask)
        up = A.view_as(V) * (act - p.gather(1, at))
        logits.scatter_add_(1, at, up * 4 / batch)
        if learns:
            gain = R.view_as(V) - V
            gain = gain * 2 / batch
            critic.scatter_add_(1, at, gain)
    return torch.stack(curve, 1)
# --8<-- [end:train]

# --8<-- [start:learning]
curves = {}
for learns in True, False:
    for lam in 0.0, 0.5, 0.95, 1.0:
        runs = train(lam, learns)
        mean = runs.mean(0)
        bar = runs.std(0) / seeds**0.5
        curves[learns, lam] = mean, bar
        critic = "learns" if learns else "is wrong"
        print(f"critic {critic:8} lambda {lam:4}:",
              f"{mean[-1]:.3f} +- {bar[-1]:.3f}")
# --8<-- [end:learning]

# --8<-- [start:draw_learning]
fig, axes = plt.subplots(
    2, num="learning", figsize=(3.6, 4))
for (learns, lam), (mean, bar) in curves.items():
    ax, colour = axes[int(not learns)], order[lam]
    ax.plot(mean, colour, label=name(lam))
    ax.fill_between(
        range(updates), mean - bar, mean + bar,
        color=colour, alpha=0.25, lw=0)
for ax, key in zip(axes, ("learned", "fixed")):
    ax.set_title(say(key))
    ax.set(ylabel=say("right"), ylim=(0.1, 1.02))
axes[1].set_xlabel(say("updates"))
axes[1].legend(loc="lower right")
plt.show()
# --8<-- [end:draw_learning]

# --8<-- [start:yours]
quality = 0.1  # error of the critic: 0 is exact
gamma = 1.0
lam = 0.95
pairs = 8

some = critics(quality, 99)
bias, variance = measure(some, lam, gamma)
bias = bias.square().mean().sqrt()
print(f"bias (root mean square) {bias:.3f}")
deviation = (variance / pairs).mean().sqrt()
print(f"standard deviation      {deviation:.3f}")
# --8<-- [end:yours]

# --8<-- [start:discounted]
exact = critics(0.0)
for lam in 0.0, 0.5, 1.0:
    bias, _ = measure(exact, lam, gamma=0.99)
    print(f"lambda {lam}: bias {bias.item():.4f}")
    assert bias < -0.001
# --8<-- [end:discounted]
