"""Must the slot after EOS be masked? Two masks, one recursion, and what differs."""

# --8<-- [start:comment]
import torch
V = torch.tensor([0.6, 0.8, 0.9, 0.3])  # EOS is 2
score = 1.0
for mask in [1, 1, 1, 0], [1, 1, 1, 1]:
    after = (V * torch.tensor(mask))[3]
    delta = score + after - V[2]
    print(mask, f"TD error {delta:.1f}")
# --8<-- [end:comment]

# --8<-- [start:two_masks]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
T, L, batch = 6, 4, shared_batch(device)
attention_mask = torch.tensor([1] * 7 + [0] * 2)
attention_mask = attention_mask.to(device)
right = attention_mask[-T:].bool()
late = attention_mask[-T - 1 : -1].bool()

def advantages(mask, lam, gamma=1.0):
    A, V_next, out = 0.0, 0.0, []
    for V in (batch.values[1] * mask).flip(0):
        delta = gamma * V_next - V  # rewards are 0
        A, V_next = delta + gamma * lam * A, V
        out.insert(0, A)
    return torch.stack(out)[:L]

def bias(lam):
    off = advantages(late, lam)
    return off - advantages(right, lam)

print("bias", *(f"{b:.4f}" for b in bias(0.95)))
left = torch.arange(L - 1, -1, -1).to(device)
decay = 0.95 ** left.double()
# gamma * (1 - lam) * (gamma * lam)**(L-1-t) * V_L
assert bias(0.95).allclose(0.05 * decay * 0.25)
assert not bias(1.0).any()

judge = gae(
    token_level_rewards=0 * batch.values[1:],
    values=batch.values[1:],
    response_mask=right[None],
    gae_lambda=0.95,
).advantages[0, :L]
assert advantages(right, 0.95).allclose(judge)
# --8<-- [end:two_masks]

# --8<-- [start:numbers]
heads = (f"    A_{t}" for t in range(L))
print("lambda slot", *heads)
for lam in 1.0, 0.95, 0.5:
    for slot, keep in ("out", right), ("in", late):
        A = advantages(keep, lam)
        cells = (f"{a:7.4f}" for a in A)
        print(f"{lam:6.2f} {slot:4}", *cells)
# --8<-- [end:numbers]

# --8<-- [start:zeroed]
values = batch.values[1] * late
print("values", values.tolist())
assert not values[L:].any(), "V after EOS is left"
# --8<-- [end:zeroed]

# --8<-- [start:whitening]
from ppo_ref.masking import masked_whiten

mask = batch.response_mask
returns = batch.scores[:, None] * mask

def flips(*padding):  # whose sign it flips
    values = batch.values.clone()
    values[~mask] = values.new_tensor(padding)
    A = returns - values
    whole = (A - A.mean()) / (A.std() + 1e-8)
    signs = whole * masked_whiten(A, mask) < 0
    return signs[mask].int().tolist()

print("0.25, 0.80:", flips(0.25, 0.80))
print("5.00, 6.00:", flips(5.0, 6.0))
assert not any(flips(0.25, 0.8)), "signs flip"
# --8<-- [end:whitening]

# --8<-- [start:kl]
kld = (batch.old_log_probs - batch.ref_log_probs)[1]
print(f"as it is {kld[right].mean():.4f}")
print(f"shifted  {kld[late].mean():.4f}")
assert kld[right].sum() == kld[late].sum()
# --8<-- [end:kl]
