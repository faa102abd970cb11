# --8<-- [start:gae]
import torch
from ppo_ref.inside_verl import (
    compute_gae_advantage_return,
)

rewards = torch.tensor([[0.0, 0.0, 1.0, 0.0]])
values = torch.tensor([[0.5, 0.6, 0.8, 0.3]])
mask = torch.tensor([[1, 1, 1, 0]])
advantages, returns = compute_gae_advantage_return(
    rewards, values, mask, 1.0, 0.95
)
print(advantages.round(decimals=3))
print(returns.round(decimals=3))
assert advantages[0, 3] == returns[0, 3] == 0
# --8<-- [end:gae]

# --8<-- [start:nan]
from textwrap import fill

values[0, 1] = torch.nan
try:
    compute_gae_advantage_return(
        rewards, values, mask, 1.0, 0.95
    )
except ValueError as refusal:
    print(fill(str(refusal), 52))
else:
    raise AssertionError("nan went through")
# --8<-- [end:nan]

# --8<-- [start:compare]
import torch
from ppo_ref import inside_verl
from verl.trainer.ppo import core_algos

batch = torch.load("dump.pt")
mask = batch["response_mask"]
for whose in (core_algos, inside_verl):
    found, _ = whose.compute_gae_advantage_return(
        batch["token_level_rewards"],
        batch["values"],
        mask,
        1.0,  # algorithm.gamma
        1.0,  # algorithm.lam
    )
    print(found[mask.bool()][:5])
# --8<-- [end:compare]
