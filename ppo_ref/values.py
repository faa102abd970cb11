"""What the critic expects before each token of the response."""

import torch

from ppo_ref.alignment import response_outputs
from ppo_ref.checks import require_finite
from ppo_ref.precision import at_least_float32
from ppo_ref.shapes import SequenceValues, TokenMask, Tokens, checked


@checked
def response_values(
    sequence_values: SequenceValues, response_mask: TokenMask
) -> Tokens:
    """The critic's outputs that belong to the response's tokens.

        values_t = sequence_values[prompt_length - 1 + t] = V(s_t)

    Args:
        sequence_values: One critic output per position of prompt + response, in
            reward units.
        response_mask: True where the token of the response counts; its width is the
            number of response slots at the end of the sequence.

    Returns:
        Expected return before emitting token t, in reward units, 0 outside the mask;
        gradient flows.

    Raises:
        ValueError: if the response is empty or leaves no room for a prompt, or a
            value is not finite on a token that counts.

    Example:
        >>> mask = torch.tensor([[True, True, False]])
        >>> response_values(torch.tensor([[9., 1., 2., 3., 9.]]), mask)
        tensor([[1., 2., 0.]])
    """
    values = response_outputs(sequence_values, response_mask.shape[1])
    require_finite("response_values", response_mask, values=values)
    return torch.where(response_mask, at_least_float32(values), 0)
