"""One answer, six tokens: each row by hand, and rows that nothing can give."""

# --8<-- [start:rows]
beta, kl, scores = 0.1, 0.1, (0, 0, 0, 0, 0, 1)
r = [score - beta * kl for score in scores]
V = [0.85, 0.88, 0.90, 0.93, 0.96, 0.99]

def rows(gamma, lam):
    delta, A, R = [0.0] * 6, [0.0] * 6, [0.0] * 6
    V_next = A_next = 0.0  # after the last token
    for t in reversed(range(6)):
        delta[t] = r[t] + gamma * V_next - V[t]
        A[t] = delta[t] + gamma * lam * A_next
        R[t] = A[t] + V[t]
        V_next, A_next = V[t], A[t]
    return delta, A, R

delta, A, R = rows(gamma=1, lam=1)
words = "Yes", ",", "it is", "2", "!", "EOS"
print("token reward value   TD advantage target")
for t in range(6):
    line = f"{words[t]:5} {r[t]:6.2f} {V[t]:5.2f}"
    line += f" {delta[t]:z4.2f} {A[t]:z9.2f}"
    print(f"{line} {R[t]:6.2f}")
    observed = sum(r[t:])  # all that came from t on
    assert abs(R[t] - observed) < 1e-12
# --8<-- [end:rows]

# --8<-- [start:numbers]
import torch
from ppo_ref.advantages import gae
from ppo_ref.trace import trace

device = "cpu"  # or "cuda"
tensor = torch.tensor([r, V], dtype=torch.float64)
tensor = tensor.to(device)
given = {
    "token_level_rewards": tensor[:1],
    "values": tensor[1:],
    "response_mask": tensor[1:] > 0,
}
less = 0.95
print(trace(**given, gae_lambda=less))
for lam in 1.0, 0.95, 0.0:
    judge = gae(**given, gae_lambda=lam)
    by_hand = tensor.new_tensor(rows(1, lam)[1:])
    assert by_hand.allclose(torch.cat(judge))
# --8<-- [end:numbers]

# --8<-- [start:printed]
printed = 0.037, 0.033, 0.030, 0.021, 0.010, 0.0
half = 0.0005
# A_5 is 0, so A_4 = delta_4 = r_4 + gamma V_5 - V_4
low = (printed[4] - half - r[4] + V[4]) / V[5]
high = (printed[4] + half - r[4] + V[4]) / V[5]
print(f"gamma from {low:.4f} to {high:.4f}")

# gamma lambda = (A_1 - delta_1) / A_2
delta_1 = r[1] + high * V[2] - V[1]  # at most
least = printed[1] - half - delta_1
least = least / (printed[2] + half)
print(f"gamma lambda at least {least:.3f}")
assert least <= 1, "gamma lambda is above 1"
# --8<-- [end:printed]

# --8<-- [start:observed]
came = [sum(r[t:]) for t in range(6)]
print("came in    ", *(f"{x:.3f}" for x in came))
for lam in 1.0, 0.95, 0.0:
    R_lam = rows(1, lam)[2]
    cells = (f"{x:.3f}" for x in R_lam)
    print(f"lambda {lam:.2f}", *cells)
same = abs(R_lam[0] - came[0]) < 1e-9
assert same, "returns are not what came in"
# --8<-- [end:observed]

# --8<-- [start:mean]
from ppo_ref.examples import two_token_tree

device = "cpu"  # or "cuda"
tree = two_token_tree(device)  # a row an answer
V_0, V_1 = tree.values.T.tolist()
G_0 = tree.token_level_rewards.sum(1).tolist()
print("token 0", tree.responses[:, 0].tolist())
print("V(s_0) ", V_0)
print("V(s_1) ", V_1)
print("earned ", G_0)
assert sum(G_0) / 4 == V_0[0]  # all equally likely
ideal = max(G_0)
assert V_0[0] == ideal, "V(s_0) is the mean"
# --8<-- [end:mean]

# --8<-- [start:signs]
from ppo_ref.masking import masked_whiten

raw = gae(**given).advantages
white = masked_whiten(raw, given["response_mask"])
print("raw  ", *(f"{x:5.2f}" for x in raw[0]))
print("white", *(f"{x:5.2f}" for x in white[0]))
assert (white * raw >= 0).all(), "signs flip"
# --8<-- [end:signs]

# --8<-- [start:white_target]
from ppo_ref.masking import masked_whiten

plain = gae(**given).advantages
white = masked_whiten(plain, given["response_mask"])
for name, x in ("A", plain), ("white", white):
    target = x + given["values"]
    cells = (f"{v:5.2f}" for v in target[0])
    print(f"{name:5} + V", *cells)
assert (target <= 1).all(), "nothing earns above 1"
# --8<-- [end:white_target]

# --8<-- [start:recover]
from ppo_ref.examples import shared_batch
from ppo_ref.rewards import token_level_scores

device = "cpu"  # or "cuda"
batch = shared_batch(device)
logged = {
    "token_level_rewards": token_level_scores(
        batch.scores, batch.response_mask
    ),
    "values": batch.values,
    "response_mask": batch.response_mask,
}
A_log = gae(**logged, gae_lambda=0.95).advantages
d_log = gae(**logged, gae_lambda=0).advantages
found = (A_log - d_log)[0, :5] / A_log[0, 1:]
print(*(f"{x:.4f}" for x in found))
assert found.allclose(found.new_tensor(0.95))
# --8<-- [end:recover]
