"""The estimates that the command knows, by name."""

from ppo_ref import broken
from ppo_ref.estimate import Estimate, whitened_gae
from ppo_ref.group_advantages import dr_grpo, grpo, rloo
from ppo_ref.reinforce import reinforce_plus_plus, reinforce_plus_plus_baseline

_SOUND = (
    *(whitened_gae, reinforce_plus_plus),
    *(grpo, dr_grpo, rloo, reinforce_plus_plus_baseline),
)
_WRONG = broken.flipped_sign, broken.shifted_values, broken.whitened_over_padding
ESTIMATES: dict[str, Estimate] = {x.__name__: x for x in (*_SOUND, *_WRONG)}
