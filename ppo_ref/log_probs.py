"""Log-probs and entropy: how likely the actor finds the sampled tokens."""

import torch
from torch import Tensor

from ppo_ref.batch import TokenStatistics
from ppo_ref.kernels.logits import LogitBlocks, fits_few_blocks
from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    Logits,
    TokenIds,
    Tokens,
    VocabMask,
    require_above,
    require_at_least,
    require_shapes,
    require_token_ids,
    require_unit_interval,
)


def token_log_probs(
    logits: Logits, responses: TokenIds, temperature: float = 1.0
) -> Tokens:
    """Log-probability of each sampled token.

        log_probs_t = log softmax(logits_t / temperature)[responses_t]

    Args:
        logits: The outputs that belong to the response, as ``response_outputs`` cuts
            them.
        responses: Sampled token ids; padding must hold a valid id too.
        temperature: Of the sampling; above 0.

    Returns:
        Nats, at most 0; padding is computed like any slot; gradient flows.

    Raises:
        ValueError: if a token id is outside the vocabulary, or ``temperature`` is
            not above 0.

    Example:
        >>> token_log_probs(torch.zeros(1, 1, 4), torch.tensor([[2]]))
        tensor([[-1.3863]])
    """
    _require_logits("token_log_probs", logits, responses, temperature)
    return _chosen(_log_softmax(logits, temperature), responses)


def kept_tokens(
    logits: Logits, *, temperature: float = 1.0, top_p: float = 1.0, top_k: int = 0
) -> VocabMask:
    """The tokens that top-k, then top-p leave for the sampler to draw from.

    Of the tokens in order of probability, the first ``top_k``; of these, renormalised,
    each before which less than ``top_p`` stands, so the first one always.

    Args:
        logits: The outputs that belong to the response.
        temperature: Of the sampling; above 0; it is applied first.
        top_p: In [0, 1]; 1 cuts nothing.
        top_k: At least 0; 0 cuts nothing. Of equal logits the lower ids are kept.

    Returns:
        True where a token may be drawn; at least one in each slot. It is the sampler's
        own only if the logits are: a trainer's may round otherwise, and be without the
        token that was drawn.

    Raises:
        ValueError: if an option is out of its range.

    Source:
        transformers v5.23.0, generation/logits_process.py, TopKLogitsWarper and
        TopPLogitsWarper, but for ties.

    Example:
        >>> probs = torch.tensor([[[0.15, 0.5, 0.05, 0.3]]])
        >>> kept_tokens(probs.log(), top_p=0.9)
        tensor([[[ True,  True, False,  True]]])
    """
    require_shapes("kept_tokens", logits=(logits, "float batch time vocab"))
    require_above("kept_tokens", 0, temperature=temperature)
    require_unit_interval("kept_tokens", top_p=top_p)
    require_at_least("kept_tokens", 0, top_k=top_k)
    log_softmax = _log_softmax(logits, temperature)
    ranked, ids = log_softmax.sort(dim=-1, descending=True, stable=True)
    kept = torch.ones_like(ids, dtype=torch.bool)
    if top_k:
        kept[..., top_k:] = False
    if top_p < 1:
        probs = ranked.masked_fill(~kept, -torch.inf).softmax(-1)
        kept &= probs.cumsum(-1) - probs < top_p
        kept[..., 0] = True
    return torch.zeros_like(kept).scatter(-1, ids, kept)


def kept_log_probs(
    logits: Logits, responses: TokenIds, kept: VocabMask, temperature: float = 1.0
) -> Tokens:
    """Log-probability of each sampled token among those that could be drawn.

        log_probs_t = log softmax(logits_t / temperature over kept_t)[responses_t]

    Args:
        logits: The outputs that belong to the response.
        responses: Sampled token ids; padding must hold a valid id too.
        kept: What the sampler drew from, as ``kept_tokens`` of its own logits; one
            token in each slot at least.
        temperature: Of the sampling; above 0.

    Returns:
        Nats, at most 0; minus infinity where the sampled token is not kept; gradient
        flows to the kept logits.

    Raises:
        ValueError: if a token id is outside the vocabulary, ``temperature`` is not
            above 0, or a slot keeps nothing.

    Source:
        DeepSeek-V3.2, arXiv:2512.02556, section 3.1, "Keep Sampling Mask".

    Example:
        >>> logits = torch.tensor([[[0.15, 0.5, 0.05, 0.3]]]).log()
        >>> kept = kept_tokens(logits, top_p=0.9)
        >>> kept_log_probs(logits, torch.tensor([[3]]), kept).exp()
        tensor([[0.3158]])
    """
    _require_logits("kept_log_probs", logits, responses, temperature, kept)
    empty = ~kept.any(-1)
    if empty.any():
        raise ValueError(
            "kept_log_probs: kept must hold a token in every slot, "
            f"got none at {empty.nonzero()[0].tolist()}"
        )
    cut = at_least_float32(logits).masked_fill(~kept, -torch.inf)
    return _chosen(_log_softmax(cut, temperature), responses)


def token_entropy(logits: Logits, temperature: float = 1.0) -> Tokens:
    """Entropy of each token's distribution.

        entropy_t = -sum_a p_t(a) * log p_t(a)

    Args:
        logits: The outputs that belong to the response.
        temperature: Of the sampling; above 0.

    Returns:
        Nats, from 0 (certain) to the log of the vocabulary (uniform); padding is
        computed like any slot; gradient flows.

    Raises:
        ValueError: if ``temperature`` is not above 0.

    Example:
        >>> token_entropy(torch.zeros(1, 1, 4))
        tensor([[1.3863]])
    """
    require_shapes("token_entropy", logits=(logits, "float batch time vocab"))
    require_above("token_entropy", 0, temperature=temperature)
    return _entropy(_log_softmax(logits, temperature))


def log_probs_and_entropy(
    logits: Logits, responses: TokenIds, temperature: float = 1.0
) -> TokenStatistics:
    """Both statistics from one log-softmax, in at most half the time of two calls.

    More than 2**20 logits (2**22 on a GPU) are worked on in blocks of rows, and no
    other tensor of their size is made but their gradient.

    Args:
        logits: The outputs that belong to the response.
        responses: Sampled token ids; padding must hold a valid id too.
        temperature: Of the sampling; above 0.

    Returns:
        What ``token_log_probs`` and ``token_entropy`` return; from blocks, gradient
        flows once: a gradient of the gradient is refused.

    Raises:
        ValueError: if a token id is outside the vocabulary, or ``temperature`` is
            not above 0.

    Example:
        >>> log_probs_and_entropy(torch.zeros(1, 1, 4), torch.tensor([[2]]))
        TokenStatistics(log_probs=tensor([[-1.3863]]), entropy=tensor([[1.3863]]))
    """
    _require_logits("log_probs_and_entropy", logits, responses, temperature)
    if not fits_few_blocks(logits):
        ids = responses.flatten().long()
        statistics = LogitBlocks.apply(logits.flatten(0, 1), ids, temperature)  # type: ignore[no-untyped-call]
        return TokenStatistics(*(x.view(responses.shape) for x in statistics))
    log_softmax = _log_softmax(logits, temperature)
    return TokenStatistics(_chosen(log_softmax, responses), _entropy(log_softmax))


def _require_logits(
    function: str,
    logits: Tensor,
    responses: Tensor,
    temperature: float,
    kept: Tensor | None = None,
) -> None:
    require_shapes(
        function,
        logits=(logits, "float batch time vocab"),
        responses=(responses, "ids batch time"),
        kept=(kept, "bool batch time vocab"),
    )
    require_above(function, 0, temperature=temperature)
    require_token_ids(function, logits.shape[2], responses)


def _log_softmax(logits: Tensor, temperature: float) -> Tensor:
    return (at_least_float32(logits) / temperature).log_softmax(-1)


def _chosen(log_softmax: Tensor, responses: Tensor) -> Tensor:
    return log_softmax.gather(-1, responses[..., None]).squeeze(-1)


def _entropy(log_softmax: Tensor) -> Tensor:
    # A forbidden token has log-prob -inf, and 0 * -inf would be nan. A clamp far below
    # would do as well: what has a probability of 1e-13 adds nothing that can be told.
    finite = log_softmax.masked_fill(log_softmax == -torch.inf, 0)
    return -(log_softmax.exp() * finite).sum(-1)
