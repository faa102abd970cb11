"""Log-probs and entropy from hidden states: [batch, time, vocab] never exists.

The head turns a chunk of tokens into logits, the chunk is reduced to two numbers per
token, and its memory serves the next one. The backward pass makes each chunk's logits
again, a third of the products more.
"""

import torch
from torch import Tensor

from ppo_ref.checks import require_token_ids
from ppo_ref.head_chunks import HeadChunks
from ppo_ref.log_probs import TokenStatistics
from ppo_ref.ranges import require_above, require_at_least
from ppo_ref.shapes import HeadBias, HeadWeight, Hidden, TokenIds, checked

# With the block in work and the gradient of 1024 hidden states of width 256, less than
# 128 rows: an eighth of their logits.
CHUNK_TOKENS = 64


@checked
def log_probs_and_entropy_from_hidden(
    hidden: Hidden,
    head_weight: HeadWeight,
    head_bias: HeadBias | None,
    responses: TokenIds,
    temperature: float = 1.0,
    chunk_tokens: int = CHUNK_TOKENS,
) -> TokenStatistics:
    """What ``log_probs_and_entropy`` says of the head's logits, a chunk at a time.

    Args:
        hidden: What the head would read: the body's outputs before each token of the
            response, as ``response_outputs`` cuts them.
        head_weight: Of the head, one row per token id.
        head_bias: Of the head; -inf forbids a token; None is no bias.
        responses: Sampled token ids; padding must hold a valid id too.
        temperature: Of the sampling; above 0.
        chunk_tokens: How many tokens' logits exist at a time, at least 1. If all fit
            into one chunk, they are kept for the backward pass: the fastest way, and
            one [batch, time, vocab].

    Returns:
        Nats per token; padding is computed like any slot; gradient flows, once, into
        the hidden states and the head. The head's products have the precision of
        ``hidden``, autocast or not; all else is at least float32.

    Raises:
        ValueError: if a token id is outside the vocabulary, ``temperature`` is not
            above 0, or ``chunk_tokens`` not at least 1.

    Example:
        >>> hidden, head = torch.ones(1, 2, 3), torch.nn.Linear(3, 4)
        >>> _ = torch.nn.init.zeros_(head.weight), torch.nn.init.zeros_(head.bias)
        >>> log_probs_and_entropy_from_hidden(
        ...     hidden, head.weight, head.bias, torch.tensor([[2, 0]])
        ... ).entropy.detach()
        tensor([[1.3863, 1.3863]])
    """
    name = "log_probs_and_entropy_from_hidden"
    require_above(name, 0, temperature=temperature)
    require_at_least(name, 1, chunk_tokens=chunk_tokens)
    require_token_ids(name, head_weight.shape[0], responses)
    return log_probs_and_entropy_from_hidden_kernel(
        hidden, head_weight, head_bias, responses, temperature, chunk_tokens
    )


def log_probs_and_entropy_from_hidden_kernel(
    hidden: Tensor,
    head_weight: Tensor,
    head_bias: Tensor | None,
    responses: Tensor,
    temperature: float,
    chunk_tokens: int,
) -> TokenStatistics:
    """The undecorated kernel, for torch.compile.

    Args:
        hidden: What the head would read, [batch, time, width].
        head_weight: [vocab, width].
        head_bias: [vocab], or None.
        responses: Sampled token ids, unchecked.
        temperature: Of the sampling; above 0, unchecked.
        chunk_tokens: How many tokens' logits exist at a time; at least 1, unchecked.

    Returns:
        The log-probs and the entropies, in nats; gradient flows, once.

    Example:
        >>> hidden, weight = torch.ones(1, 2, 3), torch.zeros(4, 3)
        >>> log_probs_and_entropy_from_hidden_kernel(
        ...     hidden, weight, None, torch.tensor([[2, 0]]), 1.0, 1
        ... ).log_probs
        tensor([[-1.3863, -1.3863]])
    """
    given = [x for x in (hidden, head_weight, head_bias) if x is not None]
    learns = torch.is_grad_enabled() and any(x.requires_grad for x in given)
    log_probs, entropy = HeadChunks.apply(  # type: ignore[no-untyped-call]
        hidden.flatten(0, 1),
        head_weight.to(hidden.dtype),
        head_bias,
        responses.flatten().long(),
        1 / temperature,
        chunk_tokens,
        learns,
    )
    shape = responses.shape
    return TokenStatistics(log_probs.view(shape), entropy.view(shape))
