"""A stored run, token by token, and beside it those that were broken on purpose."""

from matplotlib import pyplot as plt  # style.py has what a page shows of it

language = "en"  # or "zh"; a page has its own

# --8<-- [start:labels]
words = {
    "two": ("2 的概率", "chance of 2"),
    "three": ("3 的概率", "chance of 3"),
    "score": ("整批得分", "batch score"),
    "value": ("critic 估的", "critic's value"),
    "iteration": ("轮次", "iteration"),
    "after": ("几轮之后", "after iteration"),
    "after, log": (
        "几轮之后（10 以后是对数刻度）",
        "after iteration (log scale beyond 10)",
    ),
    "right": ("答 2", "answer 2"),
    "wrong": ("答 3", "answer 3"),
    "ratio": ("ratio 的对数", "log of the ratio"),
    "kl": ("离起点的 KL", "KL to the start"),
    "more": ("{} 及以上", "{} or more"),
    "less": ("-{} 及以下", "-{} or less"),
    "fault": ("说错", "wrong"),
    "healthy": ("好的", "healthy"),
    "flipped_sign": ("符号反了", "sign flipped"),
    "shifted_values": (
        "values 晚一格",
        "values late",
    ),
    "penalty": ("只看 mask", "mask only"),
    "whitened_over_padding": (
        "连 padding 一起", "padding too"),
    "learned_reward": ("扣 KL", "KL charged"),
    "learned_reward_without_kl": (
        "不扣 KL", "no KL charged"),
}

def say(key):
    return words[key][language == "en"]
# --8<-- [end:labels]

# --8<-- [start:read]
from itertools import groupby

import torch
from ppo_ref.train.stored_runs import stored_run

def watched(name):
    """What a run makes of 1+1=, each iteration."""
    records = stored_run(name).records
    seen = [r for r in records
            if r["record"] == "watched"]
    log_p, V = (
        torch.tensor([r[key] for r in seen])
        for key in ("log_probs", "values"))
    return [r["says"] for r in seen], log_p, V

says, log_p, V = watched("healthy")
numbered = groupby(enumerate(says), lambda x: x[1])
for answer, group in numbered:
    at = [i for i, _ in group]
    print(f"{at[0]:3} to {at[-1]:3}: {answer}")
# --8<-- [end:read]

# --8<-- [start:start]
asked = stored_run("healthy").records[1]
answers = asked["answers"]
assert asked["question"] == "1+1="
assert answers == ["1+1=2", "1+1=3"]

two, three = log_p[:, :, 4].exp().T  # the digit
for i in 0, 1, 4, 7, 10, 20, 40, 100:
    print(f"{i:3}: 2 {two[i]:.2f}",
          f"3 {three[i]:.2f}")
others = log_p[0, 0, [0, 1, 2, 3, 5]].exp()
print(f"all others at 0: from {others.min():.2f}")
# --8<-- [end:start]

# --8<-- [start:score]
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.sums import all_questions

run = stored_run("healthy")
score, value = map(run.column, ("score", "value"))
# Iteration i + 1 samples its batch after i updates.
for i in 0, 10:
    print(f"{i:2}: 1+1=2 {two[i]:.2f}",
          f"whole batch {score[i]:.2f}")
assert two[10] < two[0] / 2
assert score[10] > 2 * score[0]

config = PPOConfig()
sums = {q.answer for q in all_questions()}
share = config.batch_size / len(sums)
print("1+1 in a batch:", share)
# --8<-- [end:score]

# --8<-- [start:draw_score]
def over_time(ax):
    ax.set_xscale("symlog", linthresh=10)
    ticks = 0, 2, 4, 6, 8, 10, 20, 50, 100
    ax.set_xticks(ticks, ticks)
    ax.minorticks_off()
    ax.set(xlabel=say("after, log"), ylim=(0, 1.02))
    ax.legend(loc=(0.68, 0.15), handlelength=1)

fig, ax = plt.subplots(num="score")
ax.plot(two, "C0", label=say("two"))
ax.plot(three, "C1", label=say("three"))
ax.plot(score, "grey", lw=1, label=say("score"))
over_time(ax)
plt.show()
# --8<-- [end:draw_score]

# --8<-- [start:values]
row = V[:, 0]
spread = row.max(1).values - row.min(1).values
told = (V[:, 0, 5] - V[:, 1, 5]).abs()  # 2 from 3
print(f"most a row differs  {spread.max():.2f}")
print(f"most 2 differs from 3 {told.max():.2f}")
assert told.max() < 0.02
# --8<-- [end:values]

# --8<-- [start:heat]
def cell(ax, x, y, value, most, text=""):
    """Hue is the sign, depth the size."""
    hue = "C1" if value < 0 else "C4"
    depth = min(1, abs(value) / most)
    depth = round(0.6 * depth, 2)
    if depth >= 0.01:
        ax.add_patch(plt.Rectangle(
            (x - 0.5, y - 0.5), 1, 1, lw=0,
            facecolor=(hue, depth), clip_on=False))
    if text:
        ax.text(x, y, text, ha="center",
                va="center", fontsize=7)

def heat(ax, table, rows, columns, most, show=None):
    for y, row in enumerate(table):
        for x, value in enumerate(row):
            text = show(value) if show else ""
            cell(ax, x, y, value, most, text)
    frame(ax, rows, columns)

def frame(ax, rows, columns):
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
# --8<-- [end:heat]

# --8<-- [start:draw_values]
tokens = *"1+1=2", "eos"
rows = 0, 1, 2, 3, 4, 5, 6, 8, 10, 20, 40, 70, 100
both = torch.cat([V[:, 0], V[:, 1, 5:]], 1)
both = both[list(rows)]
fig, ax = plt.subplots(
    num="values", figsize=(3.6, 3.4))
heat(ax, both.tolist(), rows, (*tokens, "3 eos"),
     most=1, show="{:.2f}".format)
ax.axvline(5.5, color="black", lw=1)
ax.set_ylabel(say("after"))
plt.show()
# --8<-- [end:draw_values]

# --8<-- [start:late]
for i in 1, 2, 3, 5, 6, 8, 20, 50, 99:
    print(f"{i:2}: score {score[i]:.2f}",
          f"value {value[i]:.2f}")
gap = torch.tensor(value) - torch.tensor(score)
assert (gap[1:4] < -0.35).all()  # late
assert (gap[5:7] > 0.15).all()  # too far
assert gap[20:].abs().max() < 0.1
# --8<-- [end:late]

# --8<-- [start:draw_late]
fig, ax = plt.subplots(num="late", figsize=(3.6, 2))
ax.plot(score, "grey", lw=1, label=say("score"))
ax.plot(value, "C4", label=say("value"))
over_time(ax)
plt.show()
# --8<-- [end:draw_late]

# --8<-- [start:advantages]
from ppo_ref.advantages import gae

kl = log_p - log_p[0]
rewards = -config.kl_coef * kl
rewards[:, 0, -1] += config.right_score
flat = rewards.flatten(0, 1)

def judged(lam):
    """Advantages of both answers, not whitened."""
    A, _ = gae(
        token_level_rewards=flat,
        values=V.flatten(0, 1),
        response_mask=torch.ones_like(flat) > 0,
        gamma=config.gamma,
        gae_lambda=lam,
    )
    return A.view_as(V)

A = judged(config.gae_lambda)
for i in 0, 6, 20, 100:
    print(f"{i:3}: if 2 {A[i, 0, 4]:5.2f}",
          f"  if 3 {A[i, 1, 4]:5.2f}")
blame = -config.gae_lambda * V[:, 1, 5]
bonus = rewards[:, 1, 4]  # KL of the 3
print(f"if 3 at 100: {blame[100]:.2f}",
      f"and KL +{bonus[100]:.2f}")
off = A[:, 1, 4] - blame - bonus
assert off.abs().max() < 0.03
left = config.gae_lambda ** torch.arange(5, -1, -1)
off = A[:, 0] - (1 - V[:, 0, -1:]) * left
print(f"off (1 - V) 0.95^k: {off.abs().max():.2f}")
assert off.abs().max() < 0.05
# --8<-- [end:advantages]

# --8<-- [start:draw_advantages]
def key(fig, most):
    """The deepest colours, and what they mean."""
    hues = {"more": "C4", "less": "C1"}
    squares = [plt.Rectangle((0, 0), 1, 1, lw=0,
               facecolor=(hue, 0.6))
               for hue in hues.values()]
    texts = [say(hue).format(most) for hue in hues]
    fig.legend(squares, texts, ncols=2,
               loc="outside lower center",
               handlelength=0.7)

def pair(num, tables, titles, rows, most, heads):
    """Two maps with the same rows."""
    fig, axes = plt.subplots(
        1, 2, num=num,
        sharey=True, figsize=(3.6, 3.2))
    for ax, table, title, head in zip(
            axes, tables, titles, heads):
        heat(ax, table.tolist(), rows, head, most)
        ax.set_title(say(title))
    axes[0].set_ylabel(say("after"))
    key(fig, most)
    plt.show()

sides = [A[list(rows), i] for i in (0, 1)]
heads = [(*text, "eos") for text in answers]
pair("advantages", sides, ("right", "wrong"), rows,
     most=1, heads=heads)
# --8<-- [end:draw_advantages]

# --8<-- [start:batch]
def batch(name, iterations):
    """Four answers each from some batches."""
    return [r for r in stored_run(name).records
            if r["record"] == "response"
            and r["iteration"] in iterations]

def text(record):
    return "".join(record["response"]).split("<")[0]

def mean_of(numbers):
    return sum(numbers) / len(numbers)

for r in batch("healthy", (1, 40, 80)):
    points = r["score"]
    A_r = mean_of(r["advantages"])
    print(f"{r['iteration']:3} {text(r):6}",
          f"score {points:.0f} A {A_r:5.2f}")
    assert (A_r > 0) == (points == 1)
# --8<-- [end:batch]

# --8<-- [start:draw_batch]
def spelled(ax, records, key, most):
    """Answers, each token coloured by a number."""
    for y, r in enumerate(records):
        pairs = zip(r["response"], key(r))
        for x, (token, value) in enumerate(pairs):
            token = token.replace("<eos>", "eos")
            cell(ax, x, y, value, most, token)
    numbers = [r["iteration"] for r in records]
    first = {n: numbers.index(n) for n in numbers}
    frame(ax, [""] * len(records), [""] * 7)
    ax.set_yticks([*first.values()], first)
    for y in set(first.values()) - {0}:
        ax.axhline(y - 0.5, color="grey", lw=0.5)

def advantages(record):
    return record["advantages"]

fig, ax = plt.subplots(
    num="batch", figsize=(3.6, 3))
spelled(ax, batch("healthy", (1, 40, 80)),
        advantages, most=4)
ax.set_ylabel(say("iteration"))
key(fig, most=4)
plt.show()
# --8<-- [end:draw_batch]

# --8<-- [start:ratios]
ratio = log_p.diff(dim=0).exp()[:, 0]
digit = ratio[:, 4]
rest = ratio[:, [0, 1, 2, 3, 5]]
outside = (digit - 1).abs() > config.clip_range
for name, part in (("first 50", slice(50)),
                   ("last 50", slice(50, 100))):
    print(f"{name}: digit {digit[part].min():.2f}",
          f"to {digit[part].max():.2f},",
          "outside", int(outside[part].sum()))
print(f"all other tokens: {rest.min():.2f}",
      f"to {rest.max():.2f}")
assert outside[50:].sum() < outside[:50].sum() / 3
# --8<-- [end:ratios]

# --8<-- [start:kl]
k1 = kl[:, 0]
for i in 1, 7, 10, 20, 50, 100:
    print(f"{i:3}: digit {k1[i, 4]:5.2f},",
          f"whole answer {k1[i].sum():5.2f}")
most = -log_p[0, 0, 4]
print(f"the digit can never pass {most:.2f}")
assert (k1[:, 4] <= most).all()
assert k1[100, 4] > 0.9 * k1[100].sum()
assert (k1[6:12, 4] < 0).all()
# --8<-- [end:kl]

# --8<-- [start:draw_ratios]
at = list(rows[1:])
changes = ratio[[i - 1 for i in at]].log()
sides = changes, k1[at]
pair("ratios", sides, ("ratio", "kl"), at,
     most=0.7, heads=heads[:1] * 2)
# --8<-- [end:draw_ratios]

# --8<-- [start:broken]
names = ("healthy", "flipped_sign",
         "shifted_values",
         "learned_reward_without_kl")
said = {name: watched(name)[0] for name in names}
shown = *range(13), 15, 20, 30, 40, 60, 80, 100
for name in names:
    print(f"{name}: {said[name][100]}")
upwards = [f"1+1={n}" for n in (2, 3, 4, 5)]
assert said["flipped_sign"][:4] == upwards
assert said["shifted_values"].count("1") > 15
# --8<-- [end:broken]

# --8<-- [start:draw_broken]
fig, ax = plt.subplots(
    num="broken", figsize=(3.6, 4.2))
for y, i in enumerate(shown):
    for x, name in enumerate(names):
        answer = said[name][i]
        fault = -1 if answer != answers[0] else 0
        cell(ax, x, y, fault, 2, answer)
frame(ax, shown, [say(name) for name in names])
ax.set_ylabel(say("after"))
plt.show()
# --8<-- [end:draw_broken]

# --8<-- [start:flipped]
_, flipped, flipped_V = watched("flipped_sign")
for i in 0, 1, 2, 3, 5, 10:
    said_two = flipped[i, 0, 4].exp()
    end = flipped[i, 0, 5].exp()
    print(f"{i:2}: 2 {said_two:.3f}  eos {end:.2f}")
last = flipped_V[100, 0]
print("V", *(f"{v:.2f}" for v in last))
assert (last.diff() > 0).all()
# --8<-- [end:flipped]

# --8<-- [start:draw_flipped]
sides = [v[list(rows), 0] for v in (V, flipped_V)]
pair("flipped", sides, ("healthy", "flipped_sign"),
     rows, most=2, heads=heads[:1] * 2)
# --8<-- [end:draw_flipped]

# --8<-- [start:shifted]
for name in "healthy", "shifted_values":
    right = [r["advantages"]
             for r in batch(name, (40, 60))
             if r["score"] == 1]
    end = mean_of([A[-1] for A in right])
    rest = mean_of([mean_of(A[:-1]) for A in right])
    at_end = stored_run(name).column("score")[-1]
    print(f"{name:14}",
          f"eos {end:.2f}, rest {rest:.2f},",
          f"score {at_end:.2f}")
    # Is all the praise in one column?
    assert (end > 10 * rest) == (name != "healthy")
# --8<-- [end:shifted]

# --8<-- [start:draw_shifted]
def beside(num, left, right, at, number, most):
    """The same questions in two runs."""
    fig, axes = plt.subplots(
        1, 2, num=num, figsize=(3.6, 2))
    for ax, name in zip(axes, (left, right)):
        spelled(ax, batch(name, at), number, most)
        ax.set_title(say(name))
    axes[0].set_ylabel(say("iteration"))
    key(fig, most)
    plt.show()

beside("shifted", "healthy", "shifted_values",
       (40, 60), advantages, most=2.5)
# --8<-- [end:draw_shifted]

# --8<-- [start:padding]
for name in "penalty", "whitened_over_padding":
    tokens_of = [A for r in batch(name, (60,))
                 for A in r["advantages"]
                 if r["score"] == 0]
    below = sum(A < 0 for A in tokens_of)
    losses = stored_run(name).column("policy_loss")
    print(f"{name:22}",
          f"{below} of {len(tokens_of)} below 0,",
          f"loss {losses[59]:.2f}")
    bad = name == "whitened_over_padding"
    assert (below > len(tokens_of) / 2) == bad
# --8<-- [end:padding]

# --8<-- [start:draw_padding]
beside("padding", "penalty",
       "whitened_over_padding", (1, 60), advantages,
       most=2.5)
# --8<-- [end:draw_padding]

# --8<-- [start:hacking]
run = stored_run("learned_reward")
charged = run.header["options"]

def left_the_start(record):
    """k1 of each token, actor to reference."""
    old, ref = (record[f"{name}_log_probs"]
                for name in ("old", "ref"))
    return [a - b for a, b in zip(old, ref)]

for name in ("learned_reward",
             "learned_reward_without_kl"):
    print(name)
    for r in batch(name, (80, 100)):
        k = left_the_start(r)
        print(f"  {text(r):6} digit {k[-2]:4.1f},",
              f"eos {k[-1]:4.1f},",
              f"score {r['score']:4.1f}")
        bare = text(r).endswith("=1")
        assert k[-1] > 4 if bare else k[-1] < 0.1
# --8<-- [end:hacking]

# --8<-- [start:draw_hacking]
beside("hacking", "learned_reward",
       "learned_reward_without_kl", (80, 100),
       left_the_start, most=4)
# --8<-- [end:draw_hacking]

# --8<-- [start:yours]
name, iteration, number = "penalty", 20, "entropy"

for r in batch(name, (iteration,)):
    cells = zip(r["response"], r[number])
    cells = [f"{t} {x:.2f}" for t, x in cells]
    print("  ".join(cells))
# --8<-- [end:yours]

# --8<-- [start:guess]
for lam in 0.95, 1.0:
    A_right = judged(lam)[2, 0]
    print(f"lambda {lam:4}:",
          *(f"{x:.2f}" for x in A_right))
assert A_right.max() - A_right.min() < 0.1
# --8<-- [end:guess]
