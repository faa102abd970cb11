"""Rows and responses of what travels down the river."""

import torch

from ppo_ref.batch import Experience, Rollout
from tests.networks import actor, experience


def tensors(batch: Rollout | Experience) -> dict[str, torch.Tensor]:
    """Every tensor by its name, those of the rollout too."""
    found = batch._asdict()
    inside = tensors(found.pop("rollout")) if "rollout" in found else {}
    return {**found, **inside}


def test_responses_are_what_follows_the_prompt():
    sequences = torch.tensor([[0, 7, 8, 4, 5, 1], [6, 7, 8, 9, 1, 0]])
    mask = torch.tensor([[True] * 3, [True, True, False]])
    none = torch.zeros(2, 3)
    rollout = Rollout(sequences, sequences > 0, mask, none, mask[:, 2])
    assert rollout.responses.tolist() == [[4, 5, 1], [9, 1, 0]]


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
