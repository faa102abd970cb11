"""The classmate who predicts: a story of three words, and how surprised she was."""

# --8<-- [start:surprise]
guesses = [0.3, 0.4, 0.6, 0]  # 0: it is over
marks = [0, 0, 1]  # the teacher's, word by word

def surprises(guesses, marks):
    found = []
    for t in range(3):
        old_guess = guesses[t]
        new_guess = guesses[t + 1]
        surprise = new_guess - old_guess + marks[t]
        found.append(round(surprise, 6))
    return found

for t, s in enumerate(surprises(guesses, marks)):
    print(f"word {t + 1}: surprise {s:.1f}")
assert surprises(guesses, marks) == [0.1, 0.2, 0.4]
# --8<-- [end:surprise]

# --8<-- [start:add]
for t in range(3):
    old, new = guesses[t], guesses[t + 1]
    line = f"+{new:.1f} -{old:.1f} +{marks[t]}"
    print(f"word {t + 1}:  {line}")
print("together:    -0.3 +1")

silly = [0.3, 0.9, 0.2, 0]  # wild guesses later on
for name, g in ("hers", guesses), ("silly", silly):
    found = surprises(g, marks)
    line = " ".join(f"{s:+.1f}" for s in found)
    print(f"{name:6}{line}  all {sum(found):.1f}")
    assert round(sum(found), 6) == 1 - 0.3
# --8<-- [end:add]

# --8<-- [start:endings]
cat_can = [1, 1, 1, 0, 0]  # five ways to end it
cat_is = [1, 0, 0, 0, 0]
cat = cat_can + cat_is  # the ten that begin "cat"
stone = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]

def mean(marks):
    return sum(marks) / len(marks)

every = cat + stone
counted = [mean(every), mean(cat), mean(cat_can)]
print("counted:", counted)
assert counted == guesses[:3]

by_ending = [mark - 0.3 for mark in cat]
print(*[f"{x:+.1f}" for x in by_ending[:5]])
print(*[f"{x:+.1f}" for x in by_ending[5:]])
print(f"mean {mean(by_ending):.1f}")
assert round(mean(by_ending), 6) == 0.1
# --8<-- [end:endings]

# --8<-- [start:dial]
def grade(word, trust, guesses, marks):
    total, weight = 0, 1
    for s in surprises(guesses, marks)[word:]:
        total += weight * s
        weight *= trust  # the next one counts less
    return total

off = [0.3, 0.1, 0.6, 0]  # too low after "cat"
print("trust  right guess  wrong guess")
for trust in 0, 0.5, 1:
    right = grade(0, trust, guesses, marks)
    wrong = grade(0, trust, off, marks)
    print(f"{trust:5}{right:13.2f}{wrong:13.2f}")
assert round(wrong, 6) == round(right, 6) == 0.7
# --8<-- [end:dial]

# --8<-- [start:waiting]
for trust in 0, 0.5:
    liked = grade(0, trust, guesses, [0, 0, 1])
    not_liked = grade(0, trust, guesses, [0, 0, 0])
    print(trust, f"{liked:.2f} {not_liked:.2f}")
    assert liked == not_liked, "needs the mark"
# --8<-- [end:waiting]

# --8<-- [start:mood]
mark_of = dict(enumerate(cat))  # a rule, no moods
after_cat = [mark_of[story] for story in range(10)]
print("after cat:", *after_cat)
assert len(set(after_cat)) == 1, "jumpy, no moods"
# --8<-- [end:mood]

# --8<-- [start:judge]
from ppo_ref.advantages import gae, td_residuals
from ppo_ref.examples import three_tokens

device = "cpu"  # or "cuda"
story = three_tokens(device)._asdict()
delta = td_residuals(**story)[0]
mine = surprises(guesses, marks)
assert delta.allclose(delta.new_tensor(mine))
for trust in 0, 0.5, 1:
    A = gae(**story, gae_lambda=trust).advantages[0]
    print("lambda", trust, *[f"{a:.2f}" for a in A])
    for word in range(3):
        mine = grade(word, trust, guesses, marks)
        assert abs(A[word] - mine) < 1e-9
# --8<-- [end:judge]

# --8<-- [start:unlucky]
found = surprises(guesses, [0, 0, 0])
print(*found, " all", round(sum(found), 6))
assert round(sum(found), 6) == 0 - 0.3
# --8<-- [end:unlucky]
