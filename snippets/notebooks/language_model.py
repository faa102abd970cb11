"""A language model learns two-digit sums: what the stored runs of it measured."""

from matplotlib import pyplot as plt  # style.py has what a page shows of it

language = "en"  # or "zh"; a page has its own

# --8<-- [start:labels]
words = {
    "right": ("答对的比例", "right answers"),
    "iteration": ("轮次", "iteration"),
    "eight": ("PPO，每题八个", "PPO, 8 each"),
    "any": ("写出数就给分", "any number paid"),
    "score": ("采样得分", "sampled score"),
    "value": ("critic 估的", "critic's value"),
}

def say(key):
    return words[key][language == "en"]
# --8<-- [end:labels]

# --8<-- [start:read]
from ppo_ref.train.stored_runs import stored_run

def records(name, kind):
    return [r for r in stored_run(name).records
            if r["record"] == kind]

def held_out(name):
    """Right answers, every ten iterations."""
    (before,) = records(name, "before PPO")
    later = stored_run(name).column("held_out")
    return [before["held_out"], *later]

seeds = "", "_seed_1", "_seed_2"
PPO = [f"smollm2_ppo{seed}" for seed in seeds]
GRPO = [f"smollm2_grpo{seed}" for seed in seeds]
for name in PPO + GRPO:
    first, *_, last = held_out(name)
    name = name.removeprefix("smollm2_")
    print(f"{name:11} {first:.2f} to {last:.2f}")

def mean(numbers):
    return sum(numbers) / len(numbers)

def before(names):
    return mean([held_out(x)[0] for x in names])

def after(names):
    return mean([held_out(x)[-1] for x in names])

def minutes(names):
    """Of one core, on average."""
    return mean([stored_run(x).header["cpu_seconds"]
                 for x in names]) / 60

for way in PPO, GRPO:
    print(f"{before(way):.2f} to {after(way):.2f},",
          f"{minutes(way):.0f} CPU minutes")
assert after(PPO) > before(PPO) + 0.45
# --8<-- [end:read]

# --8<-- [start:draw_learned]
def line(name, look, label=None):
    share = held_out(name)
    at = [10 * i for i in range(len(share))]
    plt.plot(at, share, look, label=label)

plt.figure(num="learned")
for look, way, label in (("C0-", PPO, "PPO"),
                         ("C1-", GRPO, "GRPO")):
    for i, name in enumerate(way):
        line(name, look, None if i else label)
line("smollm2_eight_responses", "C4--",
     say("eight"))
line("smollm2_any_number", "C3--", say("any"))
plt.ylim(0, 1)
plt.xlabel(say("iteration"))
plt.ylabel(say("right"))
plt.legend(loc="lower right", ncols=2)
plt.show()
# --8<-- [end:draw_learned]

# --8<-- [start:eight]
eight = held_out("smollm2_eight_responses")
alone = held_out("smollm2_without_critic")
print("eight each", *[f"{x:.2f}" for x in eight])
print("no critic ", *[f"{x:.2f}" for x in alone])
spent = minutes(["smollm2_without_critic"])
print(f"{spent:.1f} CPU minutes")
assert alone[-1] - eight[-1] > 0.2
# --8<-- [end:eight]

# --8<-- [start:control]
control = held_out("smollm2_any_number")
run = stored_run("smollm2_any_number")
paid = run.column("score")
print(f"paid  {paid[0]:.2f} to {paid[-1]:.2f}")
print("right", *[f"{x:.2f}" for x in control])
# --8<-- [end:control]

# --8<-- [start:contained]
LOOSE = "smollm2_contained"
loose = held_out(LOOSE)
print("right", *[f"{x:.2f}" for x in loose])
run = stored_run(LOOSE)
paid = run.column("score")
right = run.column("solved")
gained = max(p - r for p, r in zip(paid, right))
length = run.column("response_length")
print(f"paid beyond what is right: {gained:.2f}")
print(f"tokens a response: {length[0]:.2f}",
      f"to {length[-1]:.2f}, of 8")
assert gained < 0.05 and length[-1] / length[0] < 1
# --8<-- [end:contained]

# --8<-- [start:sampled]
run = stored_run("smollm2_ppo")
score = run.column("score")
entropy = run.column("entropy")
cut = run.column("truncated")
greedy = held_out("smollm2_ppo")
for i in 0, 4, 9, 19, 49:
    print(f"{i + 1:2}: score {score[i]:.2f}",
          f"entropy {entropy[i]:.2f}",
          f"cut off {cut[i]:.2f}")
print(f"greedy: {greedy[0]:.2f}",
      f"to {greedy[-1]:.2f}")
assert score[0] < greedy[0] / 2
# --8<-- [end:sampled]

# --8<-- [start:tens]
import re
from collections import Counter

def errors(look):
    """By how much wrong answers are off."""
    asked = zip(look["questions"], look["answers"])
    for question, answer in asked:
        a, b = re.findall(r"\d+", question)
        told = re.match(r"\d+", answer)
        off = None
        if told:
            off = int(told[0]) - int(a) - int(b)
        if off != 0:
            yield off

def counted(names, kind):
    return Counter(off for name in names
                   for off in errors(
                       records(name, kind)[-1]))

first = counted(PPO, "before PPO")
last = counted(PPO, "held out")
for errors_of in first, last:
    by_ten = errors_of[10] + errors_of[-10]
    print(f"{errors_of.total()} wrong,",
          f"{by_ten} of them by ten")
assert last[10] + last[-10] > 0.7 * last.total()
# --8<-- [end:tens]

# --8<-- [start:critic]
value = run.column("value")
for i in 0, 4, 9, 19, 49:
    print(f"{i + 1:2}: score {score[i]:.2f}",
          f"value {value[i]:.2f}")

def explained(name):
    run = stored_run(name)
    return run.column("explained_variance")

most = max(max(explained(name)) for name in PPO)
print(f"explained variance at most {most:.2f}")
# --8<-- [end:critic]

# --8<-- [start:long]
from statistics import median

LONG = "smollm2_long"
known = explained(LONG)
thirds = [median(known[i:i + 50])
          for i in (0, 50, 100)]
print("median EV", *[f"{x:.3f}" for x in thirds])
said = [r["values"]
        for r in records(LONG, "response")
        if r["iteration"] > 100 and r["score"] == 1]
by_token = [mean(column) for column in zip(*said)]
print("value at each token of right answers",
      *[f"{V:.2f}" for V in by_token])
longest = held_out(LONG)
print(f"right at the end {longest[-1]:.2f}")
assert thirds[2] / thirds[0] > 2
assert thirds[2] / by_token[0] < 0.2
assert by_token[0] < by_token[1] < by_token[2]
# --8<-- [end:long]

# --8<-- [start:draw_critic]
plt.figure(num="critic")
plt.plot(score, "grey", lw=1, label=say("score"))
plt.plot(value, "C0", label=say("value"))
plt.ylim(0, 1)
plt.xlabel(say("iteration"))
plt.legend(loc="lower right")
plt.show()
# --8<-- [end:draw_critic]

# --8<-- [start:all_right]
run = stored_run("smollm2_ppo")
full = run.column("solved").index(1.0)
norm = run.column("actor_grad_norm")
moved = run.column("approx_kl")
others = [i for i in range(40, 50) if i != full]

def usual(figure):
    return median(figure[i] for i in others)

print(f"all right: gradient {norm[full]:.2f},",
      f"KL {moved[full]:.5f}")
print(f"around it: gradient {usual(norm):.2f},",
      f"KL {usual(moved):.5f}")
assert norm[full] / usual(norm) < 0.2
assert moved[full] / usual(moved) > 1
# --8<-- [end:all_right]

# --8<-- [start:late]
LATE = "smollm2_shifted_values"
late = held_out(LATE)
print("right", *[f"{x:.2f}" for x in late])

def by_place(name):
    """Mean advantages of right answers."""
    kept = [r["advantages"]
            for r in records(name, "response")
            if r["iteration"] >= 20
            and r["score"] == 1]
    return [mean(column) for column in zip(*kept)]

for name in PPO[0], LATE:
    print("advantages",
          *[f"{A:5.2f}" for A in by_place(name)])
assert by_place(LATE)[0] < 0 < by_place(PPO[0])[0]
healthy = sorted(held_out(x)[-1] for x in PPO)
assert healthy[0] < late[-1] < healthy[-1]
# --8<-- [end:late]

# --8<-- [start:temperature]
HOT = "smollm2_temperature"
hot = held_out(HOT)
print("right", *[f"{x:.2f}" for x in hot])
options = stored_run(HOT).header["options"]
sampled_at = options["temperature"]
gap = stored_run(HOT).column("rollout_kl")
sound = max(stored_run(PPO[0]).column("rollout_kl"))
later = median(gap[1:]), max(gap[1:])
print(f"rollout_kl: first {gap[0]:.3f},",
      f"later {later[0]:.3f} to {later[1]:.3f}")
print(f"without the fault at most {sound:.0e}")
assert gap[0] / later[0] > 20
assert later[0] / sound > 1e6
# --8<-- [end:temperature]

# --8<-- [start:kl_free]
FREE = "smollm2_kl_free"
free = held_out(FREE)
print("right", *[f"{x:.2f}" for x in free])
for name in PPO[0], FREE:
    kl = stored_run(name).column("kl")
    print(f"KL {mean(kl[40:]):.2f} nats a response")
price = 0.02  # the trainer's default, a nat
bill = price * mean(kl[40:])  # had it been charged
print(f"it would have cost {bill:.2f}")
assert 0.03 < bill < 0.06
# --8<-- [end:kl_free]

# --8<-- [start:tokens]
from math import exp

def answer(name, iteration, question):
    (found,) = [r for r in records(name, "response")
                if r["iteration"] == iteration
                and r["question"] == question]
    return found

def moves(record):
    """Probability before and after, advantage."""
    return list(zip(
        record["response"],
        map(exp, record["old_log_probs"]),
        map(exp, record["new_log_probs"]),
        record["advantages"]))

falls = answer(PPO[1], 5, "34 + 15 = ")
rises = answer(PPO[1], 2, "40 + 46 = ")
stays = answer(PPO[0], 10, "13 + 19 = ")
four, _, _ = moves(falls)
_, six, _ = moves(rises)
two, _, _ = moves(stays)
least = 0.01
changed = [A * (new - old)
           for name in PPO
           for record in records(name, "response")
           for _, old, new, A in moves(record)
           if abs(new - old) > least]
against = sum(x < 0 for x in changed)
share = against / len(changed)
for record in falls, rises, stays:
    print(record["question"], end="")
    print("".join(record["response"]), end="")
    for token, old, new, A in moves(record):
        p = f"{old:.3f} to {new:.3f}"
        print(f"  {token!r:5} {p}  A {A:5.2f}")
print(f"{against} of {len(changed)} tokens",
      "moved against A")
assert 0.1 < share < 0.5
# --8<-- [end:tokens]
