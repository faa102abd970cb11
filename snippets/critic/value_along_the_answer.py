"""Does an exact V rise or fall along the answer? All answers of a tree, listed."""

# --8<-- [start:mean]
import torch

device = "cpu"  # or "cuda"
bit = torch.arange(2, device=device)
answers = torch.cartesian_prod(*[bit] * 7)  # 128
score = (answers.sum(1) > 3).double()
r = torch.zeros_like(answers).double()
r[:, 6] = score  # the only reward

def mean(x, t):  # over the answers that share s_t
    x = x.view(2**t, -1).mean(1)  # one a state
    return x.repeat_interleave(2 ** (7 - t))

def exact(r, gamma=1.0):  # V(s_0) ... V(s_6)
    G, V = 0, []
    for t in reversed(range(7)):
        G = r[:, t] + gamma * G
        V.insert(0, mean(G, t))
    return torch.stack(V, 1)

V = exact(r)
path = torch.cat([V, score[:, None]], 1)
for name, x in {
    "1011010": path[0b1011010],
    "1011000": path[0b1011000],
    "mean   ": path.mean(0),
}.items():
    print(name, *(f"{v:.2f}" for v in x))
assert (path.mean(0) == 0.5).all()
# --8<-- [end:mean]

# --8<-- [start:split]
from ppo_ref.advantages import td_residuals

delta = td_residuals(
    token_level_rewards=r,
    values=V,
    response_mask=answers >= 0,
)
for t in range(7):  # at every state s_t
    assert not mean(delta[:, t], t).any()

good = score == 1
for name, rows in ("right", good), ("wrong", ~good):
    v = path[rows].mean(0)
    print(name, *(f"{x:.2f}" for x in v))
    assert (v.diff() > 0).all() == (name == "right")
# --8<-- [end:split]

# --8<-- [start:drift]
ref = r.new_tensor([0.8, 0.2])[answers]
kl = (0.5 / ref).log()  # k1; the actor's 0.5
cases = {
    "end": (r, 1.0),
    "end, gamma 0.9": (r, 0.9),
    "end, minus KL": (r - 0.1 * kl, 1.0),
    "end, plus 0.1": (r + 0.1, 1.0),
}
for name, (rewards, gamma) in cases.items():
    v = exact(rewards, gamma).mean(0)
    print(f"{name:14}", *(f"{x:.2f}" for x in v))
    earned = rewards.mean(0)[:-1]
    assert (gamma * v[1:]).allclose(v[:-1] - earned)
# --8<-- [end:drift]

# --8<-- [start:rises]
climbs = (path.diff() >= 0).all(1)
print(f"never fall: {climbs.sum()} of 128")
gain = path.diff().mean(0)
print("mean gain ", *(f"{x:.2f}" for x in gain))
assert (gain > 0).any(), "no step raises mean V"
# --8<-- [end:rises]

# --8<-- [start:always]
sweets = r + 0.1  # every reward positive
G = sweets.flip(1).cumsum(1).flip(1)  # to come
assert (G.diff() < 0).all()
v = exact(sweets)
assert (v.mean(0).diff() < 0).all()
print("gamma 1  ", *(f"{x:.2f}" for x in v[127]))

w, known = 0.0, []  # rewards known in advance
for reward in 1, 0.01, 0.01:  # backwards
    w = reward + 0.9 * w
    known.insert(0, w)
print("gamma 0.9", *(f"{x:.2f}" for x in known))
assert (v.diff() < 0).all(), "V rose all the same"
# --8<-- [end:always]

# --8<-- [start:slots]
wrong = (1 - answers).cumsum(1)
lost = torch.zeros_like(r).bool()
lost[:, 1:] = wrong[:, :-1] > 3  # EOS is written
for name, x in {
    "by slot": V.where(~lost, torch.nan),
    "filled": V.where(~lost, score[:, None]),
}.items():
    v = x.nanmean(0)
    print(f"{name:7}", *(f"{x:.2f}" for x in v))
assert (v == 0.5).all()
# --8<-- [end:slots]

# --8<-- [start:learned]
from ppo_ref.train.stored_runs import stored_run

for one in stored_run("healthy").records:
    if one["iteration"] == 40 and "response" in one:
        text = "".join(one["response"][:-1])
        cells = (f"{v:.2f}" for v in one["values"])
        scored = int(one["score"])
        print(f"{text:6}", scored, *cells)
        assert min(one["values"]) > 0.7
# --8<-- [end:learned]
