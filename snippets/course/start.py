"""What a score is for, on a small model that learns to add: a run as it was stored."""

# --8<-- [start:before]
from ppo_ref.train.stored_runs import stored_run

run = stored_run("healthy")
answers = [
    r for r in run.records
    if r["record"] == "response"
]

def show(records):
    for r in records:
        text = "".join(r["response"][:-1])
        print(f"{r['score']:.0f}  {text}")

show(answers[:4])
# --8<-- [end:before]

# --8<-- [start:after]
show(answers[-4:])
score = run.column("score")
print(f"first batch {score[0]:.2f}")
print(f"last batch  {score[-1]:.2f}")
# --8<-- [end:after]

# --8<-- [start:digit]
import math

def chances(iteration):
    """Of a 2 and of a 3 in 1+1=..."""
    (seen,) = [
        r for r in run.records
        if r["record"] == "watched"
        and r["iteration"] == iteration
    ]
    of_two, of_three = seen["log_probs"]
    rows = of_two, of_three
    return [math.exp(row[4]) for row in rows]

begun, ended = chances(0), chances(100)
for i in 0, 20, 40, 100:
    two, three = chances(i)
    print(f"{i:3}  2 {two:.2f}  3 {three:.2f}")
# --8<-- [end:digit]

# --8<-- [start:numbers]
for r in answers[0], answers[1]:
    tokens = [*r["response"][:-1], "end"]
    numbers = r["advantages"]
    print(*(f"{x:>5}" for x in tokens))
    print(*(f"{x:5.1f}" for x in numbers))
same = answers[0]["advantages"][0]
# --8<-- [end:numbers]

# --8<-- [start:zeros]
zeros = [r for r in answers if r["score"] == 0]
below = 0
for r in zeros:
    below += all(A < 0 for A in r["advantages"])
print(below, "of", len(zeros))
# --8<-- [end:zeros]
