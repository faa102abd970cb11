"""Rows and responses of what travels down the river."""

import torch

from ppo_ref.batch import Experience, Rollout
from tests.networks import actor, experience


def tensors(batch: Rollout | Experience) -> dict[str, torch.Tensor]:
    """Every tensor by its name, those of the rollout too."""
    found = batch._asdict()
    inside = tensors(found.pop("rollout")) if "rollout" in found else {}
    return {**found, **inside}


def test_rows_are_those_of_every_tensor():
    whole = experience(actor(), 2, 5, 1, 7)
    index = torch.tensor([3, 0])
    for batch in (whole, whole.rollout):
        picked, all_of = tensors(batch.rows(index)), tensors(batch)
        assert type(batch.rows(index)) is type(batch)
        assert picked.keys() == all_of.keys()
        for name, x in all_of.items():
            assert torch.equal(picked[name], torch.stack([x[3], x[0]])), name
    kept = torch.tensor([False, True, True, False])
    assert torch.equal(whole.rows(kept).values, whole.values[1:3])
