"""An answer that was cut off: GAE with V at its end taken as 0, and with V put in."""

# --8<-- [start:comment]
import torch
V = torch.tensor([0.82, 0.40, 0.20, 0.10])
rewards = torch.zeros(4)  # cut: no score yet
for V_end in 0.0, 0.25:
    A = rewards.sum() + V_end - V  # lambda is 1
    print(V_end, *(f"{a:.2f}" for a in A))
# --8<-- [end:comment]

# --8<-- [start:put_in]
import torch
from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
values = shared_batch(device).values[1:, :4]
nothing = torch.zeros_like(values)  # no rewards

def cut(V_end, lam, rewards=nothing):
    return gae(
        token_level_rewards=rewards,
        values=values,
        response_mask=nothing == 0,  # no padding
        gae_lambda=lam,
        bootstrap_values=values.new_tensor([V_end]),
    )

heads = (f"   A_{t}" for t in range(4))
print("lambda  end", *heads)
for lam in 1.0, 0.8, 0.6:
    for V_end in 0.0, 0.25:
        A = cut(V_end, lam).advantages[0]
        cells = (f"{a:6.3f}" for a in A)
        print(f"{lam:6.2f} {V_end:.2f}", *cells)
    off = A - cut(0.0, lam).advantages[0]
    steps = torch.arange(3, -1, -1).to(device)
    gain = 0.25 * lam ** steps.double()
    assert off.allclose(gain)
targets = cut(0.25, 1.0).returns
assert targets.allclose(nothing + 0.25)
# --8<-- [end:put_in]

# --8<-- [start:as_reward]
rewards = nothing.clone()
rewards[0, -1] += 0.25  # gamma * V, with gamma = 1
put_in = cut(0.25, 0.8)
added = cut(0.0, 0.8, rewards)
for got in put_in, added:
    A = got.advantages[0]
    print(*(f"{a:6.3f}" for a in A))
assert added.advantages.allclose(put_in.advantages)
assert added.returns.allclose(put_in.returns)
# --8<-- [end:as_reward]

# --8<-- [start:limit]
sure = values.new_ones(1, 4)  # will score 1

def learned(limit, V_end):
    r = torch.zeros_like(sure)
    r[:, -1] = 1.0  # with the EOS
    return gae(
        token_level_rewards=r[:, :limit],
        values=sure[:, :limit],
        response_mask=r[:, :limit] >= 0,
        bootstrap_values=sure.new_tensor([V_end]),
    ).returns[0].tolist()

print("finished  ", learned(4, 0.0))
print("cut, V = 1", learned(2, 1.0))
print("cut, V = 0", learned(2, 0.0))
same = learned(2, 0.0) == learned(4, 0.0)[:2]
assert same, "same states, other targets"
# --8<-- [end:limit]
