"""The floors, a refusal, a tiny training, an estimate of one's own."""

# --8<-- [start:floors]
import re
from pathlib import Path

import ppo_ref

ROW = re.compile(r"^    (\d)   (.+)$", re.M)
IMPORT = re.compile(r"^from ppo_ref\.(\w+)", re.M)

rows = ROW.findall(ppo_ref.__doc__)
floor = {
    name: int(number)
    for number, names in rows
    for name in names.split()
}
package = Path(ppo_ref.__file__).parent
for name in floor:
    for file in (
        *package.glob(f"{name}.py"),
        *package.glob(f"{name}/*.py"),
    ):
        text = file.read_text()
        for other in IMPORT.findall(text):
            lower = floor[other] < floor[name]
            assert lower or other == name
print("train stands on floor", floor["train"])
print("gae stands on floor", floor["advantages"])
# --8<-- [end:floors]

# --8<-- [start:refused]
from textwrap import fill

import torch
from ppo_ref.masking import masked_mean

device = "cpu"  # or "cuda"
x = torch.ones(2, 3).to(device)
attention_mask = torch.ones(2, 3).long().to(device)
try:
    masked_mean(x, attention_mask)
except TypeError as error:
    print(fill(str(error), 52))
# --8<-- [end:refused]

# --8<-- [start:run]
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.trainer import Trainer

device = "cpu"  # or "cuda"
config = PPOConfig(
    width=16,
    layers=1,
    heads=2,
    warm_start_steps=5,
    iterations=2,
    critic_epochs=2,
    batch_size=16,
    mini_batch_size=8,
    micro_batch_size=8,
)
trainer = Trainer(config, device)
print("imitation:", len(list(trainer.imitate())))
for iteration in trainer.train():
    found = iteration.statistics
    print(
        f"iteration {iteration.number}:",
        f"actor_steps {found['actor_steps']},",
        f"critic_steps {found['critic_steps']}",
    )
batch = iteration.experience
print("values", list(batch.values.shape))
print("scores", list(batch.scores.shape))
# --8<-- [end:run]

# --8<-- [start:change]
from ppo_ref.advantages import gae
from ppo_ref.masking import masked_mean

def less_the_mean(**inputs):
    """What was earned, less the batch mean."""
    mask = inputs["response_mask"]
    inputs["gae_lambda"] = 1.0
    estimate = gae(**inputs)
    mean = masked_mean(estimate.returns, mask)
    A = (estimate.returns - mean) * mask
    return estimate._replace(advantages=A)

trainer = Trainer(config, device, less_the_mean)
for iteration in trainer.train():
    A = iteration.experience.advantages
    assert abs(A.mean().item()) < 1e-6
print("trained with", trainer.estimate.__name__)
# --8<-- [end:change]
