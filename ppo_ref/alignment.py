"""Which output of a model, and which slot of a response, belongs to which token."""

import torch
from torch.nn.functional import pad

from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    ResponseOutputs,
    SequenceOutputs,
    SequenceValues,
    TokenIds,
    TokenMask,
    Tokens,
    require_finite,
    require_shapes,
)


def response_mask(responses: TokenIds, eos_token_id: int) -> TokenMask:
    """True up to and including the first end-of-sequence token.

    Args:
        responses: Sampled token ids, padded on the right.
        eos_token_id: The id that ends a response.

    Returns:
        True where the token counts. A row without the id counts whole: it was cut
        off at the length limit.

    Raises:
        ValueError: if the responses have no slot at all.

    Source:
        verl v0.9.1, verl/utils/torch_functional.py, get_response_mask.

    Example:
        >>> response_mask(torch.tensor([[7, 2, 2, 0], [5, 6, 7, 8]]), eos_token_id=2)
        tensor([[ True,  True, False, False],
                [ True,  True,  True,  True]])
    """
    require_shapes("response_mask", responses=(responses, "ids batch time"))
    if responses.shape[1] == 0:
        raise ValueError(
            "response_mask: responses must have at least 1 slot per row, got 0"
        )
    ends = (responses == eos_token_id).long()
    return ends.cumsum(1) - ends == 0


def response_outputs(outputs: SequenceOutputs, response_length: int) -> ResponseOutputs:
    """The model outputs from which the response's tokens are predicted.

    A causal model's output at one position is computed after reading that position's
    token, so it belongs to the next one: the slice is shifted by one to the left.

    Args:
        outputs: One output per position of prompt + response: values, logits or
            hidden states.
        response_length: Number of response slots at the end of the sequence, padding
            included.

    Returns:
        Slot t holds what was computed just before token t was read: V(s_t) of a
        critic, the distribution of token t of an actor. A view; gradient flows.

    Raises:
        ValueError: if the response is empty, or leaves no room for a prompt.

    Source:
        verl v0.9.1, verl/utils/torch_functional.py, log_probs_from_logits_response.

    Example:
        >>> response_outputs(torch.tensor([[0., 1., 2., 3., 4.]]), response_length=3)
        tensor([[1., 2., 3.]])
    """
    shape = "float batch sequence *features"
    require_shapes("response_outputs", outputs=(outputs, shape))
    sequence = outputs.shape[1]
    if not 1 <= response_length < sequence:
        raise ValueError(
            "response_outputs: response_length must be at least 1 and less than the "
            f"sequence length {sequence}, got {response_length}"
        )
    return outputs[:, -response_length - 1 : -1]


def last_token(response_mask: TokenMask) -> TokenMask:
    """The last token that counts in each row.

    Args:
        response_mask: True where the token counts; gaps allowed.

    Returns:
        True in at most one slot per row; a row without a token has none.

    Example:
        >>> last_token(torch.tensor([[True, True, False], [False, False, False]]))
        tensor([[False,  True, False],
                [False, False, False]])
    """
    require_shapes("last_token", response_mask=(response_mask, "bool batch time"))
    rank = response_mask.cumsum(1)
    return response_mask & (rank == rank[:, -1:])


def slot_after_end(response_mask: TokenMask) -> TokenMask:
    """The slot right after the last token that counts, where the row has one.

    A critic's output there is V after the end. verl up to 0.3 let it into the
    advantages by a mask that was one slot too long.

    Args:
        response_mask: True where the token counts; gaps allowed.

    Returns:
        True in at most one slot per row; none if the row is full or without a token.

    Example:
        >>> slot_after_end(torch.tensor([[True, False, False], [True, True, True]]))
        tensor([[False,  True, False],
                [False, False, False]])
    """
    return pad(last_token(response_mask), (1, 0))[:, :-1]


def turn_numbers(response_mask: TokenMask) -> TokenIds:
    """Which of the model's turns a token belongs to.

    A turn is a run of tokens that count: what stands between two of them, the result
    of a tool for one, was written by somebody else.

    Args:
        response_mask: True where the model sampled the token, and before any token is
            rejected: each gap begins another turn.

    Returns:
        0, 1, ... where the token counts, -1 where it does not.

    Example:
        >>> turn_numbers(torch.tensor([[True, True, False, True]]))
        tensor([[ 0,  0, -1,  1]])
    """
    require_shapes("turn_numbers", response_mask=(response_mask, "bool batch time"))
    starts = response_mask & ~pad(response_mask, (1, 0))[:, :-1]
    return torch.where(response_mask, starts.cumsum(1) - 1, -1)


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
    require_shapes(
        "response_values",
        sequence_values=(sequence_values, "float batch sequence"),
        response_mask=(response_mask, "bool batch time"),
    )
    values = response_outputs(sequence_values, response_mask.shape[1])
    require_finite("response_values", response_mask, values=values)
    return torch.where(response_mask, at_least_float32(values), 0)
