# --8<-- [start:last]
import torch

reward = torch.tensor(1.0)
value = torch.tensor(0.5)
advantage = reward - value
assert advantage == 0.5
print(advantage.item())
# --8<-- [end:last]
