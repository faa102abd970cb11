"""The TD error of one token, and what all of them add up to."""

# --8<-- [start:deltas]
import torch
from ppo_ref.examples import world

w = world()
answers = {"right": 0, "wrong": 9, "lucky": 11}
rows = [*answers.values()]
V, score = w.values[rows], w.scores[rows]
length = w.response_mask[rows].sum(1).tolist()
delta = torch.zeros_like(V)
for i, (name, n) in enumerate(zip(answers, length)):
    before = V[i, :n]
    after = torch.zeros_like(before)
    after[:-1] = V[i, 1:n]  # 0 after the end
    r = torch.zeros_like(before)
    r[-1] = score[i]  # the score comes last
    delta[i, :n] = r + after - before
    cells = (f"{x:z5.2f}" for x in delta[i, :n])
    print(name, *cells)
# --8<-- [end:deltas]

# --8<-- [start:judge]
from ppo_ref.advantages import td_residuals

rewards = torch.zeros_like(V)
rewards[0, 5], rewards[1, 3], rewards[2, 5] = score
judge = td_residuals(
    token_level_rewards=rewards,
    values=V,
    response_mask=w.response_mask[rows],
)
assert judge.allclose(delta)
# --8<-- [end:judge]

# --8<-- [start:sums]
for i, (name, n) in enumerate(zip(answers, length)):
    rest = [delta[i, t:n].sum() for t in range(n)]
    rest = torch.stack(rest)
    assert rest.allclose(score[i] - V[i, :n])
    print(name, *(f"{x:z5.2f}" for x in rest))
# --8<-- [end:sums]

# --8<-- [start:exact]
exact = w.prefix_values(w.edge_log_probs)
V_of = dict(zip(w.prefixes, exact.tolist()))
start, yes = V_of[""], V_of["Yes"]
ends = V_of["No idea"], V_of["No problem"]
p = w.old_log_probs[[9, 12], 1].exp().tolist()

def first_no(V_no):
    """The TD errors if the first token is No."""
    d_0 = V_no - start
    d_1 = ends[0] - V_no, ends[1] - V_no
    mean = p[0] * d_1[0] + p[1] * d_1[1]
    print(f"delta_0 {d_0:6.3f}")
    print(f"delta_1 {d_1[0]:6.3f} or {d_1[1]:.3f}")
    print(f"mean    {mean:z6.3f}")
    return d_0, d_1, mean

V_no = V_of["No"]
d_0, d_1, mean = first_no(V_no)
assert abs(mean) < 1e-9
# --8<-- [end:exact]

# --8<-- [start:wrong]
bad_V_no = 0.40
bad_d_0, bad_d_1, bad_mean = first_no(bad_V_no)
total = bad_d_0 + bad_mean
print(f"together {total:.3f}")
assert abs(total - d_0) < 1e-9
# --8<-- [end:wrong]

# --8<-- [start:problem]
V_problem = w.values[12, :5]  # No problem, 2
after = torch.tensor([*V_problem[1:], 0])
r = torch.tensor([0, 0, 0, 0, 1.0])
problem = r + after - V_problem
print(*(f"{x:z5.2f}" for x in problem))
# --8<-- [end:problem]

# --8<-- [start:lucky]
gains = score[2] - V[2]
print("delta", *(f"{x:z5.2f}" for x in delta[2]))
print("G - V", *(f"{x:z5.2f}" for x in gains))
# --8<-- [end:lucky]

# --8<-- [start:shifted]
from ppo_ref.examples import shared_batch

row = shared_batch().values[1]  # with padding
shifted = row[1:5] - row[:4]  # one slot too far
print(*(f"{x:5.2f}" for x in shifted))
# --8<-- [end:shifted]
