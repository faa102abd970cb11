"""How verl cuts the response out of a model's outputs, one adapter per place."""

from types import SimpleNamespace

import torch
from torch import Tensor

from tests.differential.peers import NOW, OLD
from tests.differential.wheels import cut, source

CRITIC = "verl/workers/critic/dp_critic.py"
PADDING = "verl/workers/utils/padding.py"


def critic_values(
    outputs: Tensor, attention_mask: Tensor, response_length: int
) -> Tensor:
    """The two statements of the old critic, run as they stand in its file."""
    cut_out = "values = values[:, -response_length - 1:-1]"
    masked = "values = values * attention_mask[:, -response_length - 1:-1]"
    lines = [line.strip() for line in source(OLD, CRITIC).split("\n")]
    assert lines.index(cut_out) < lines.index(masked)
    space = {
        "values": outputs,
        "attention_mask": attention_mask,
        "response_length": response_length,
    }
    exec(f"{cut_out}\n{masked}", space)
    return space["values"]


def padded_outputs(
    outputs: Tensor, attention_mask: Tensor, response_length: int
) -> Tensor:
    """What the trainer before v1 slices out of the unpadded outputs."""
    default = SimpleNamespace(get_non_tensor_data=lambda default, **_: default)
    function = cut(NOW, PADDING, "no_padding_2_padding", tu=default)
    ids = attention_mask.long()
    batch = {
        "prompts": ids[:, :-response_length],
        "responses": ids[:, -response_length:],
        "attention_mask": ids,
    }
    return function.no_padding_2_padding(outputs[attention_mask], batch)


def nested_outputs(
    outputs: Tensor, attention_mask: Tensor, response_length: int
) -> list[Tensor]:
    """What the v1 trainer slices out of the unpadded outputs, row by row."""
    rows = zip(outputs, attention_mask, strict=True)
    sequences = [row[mask] for row, mask in rows]
    responses = [mask[mask] for mask in attention_mask[:, -response_length:]]
    nest = torch.nested.as_nested_tensor
    function = cut(NOW, PADDING, "response_from_nested").response_from_nested
    return list(
        function(
            nest(sequences, layout=torch.jagged), nest(responses, layout=torch.jagged)
        ).unbind()
    )
