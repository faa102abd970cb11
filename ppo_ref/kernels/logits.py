"""Log-softmax, its statistics and its gradient in the memory of the logits themselves.

With x the logits, p their softmax and H the entropy of p:

    d log p(chosen) / d x_a = [a = chosen] - p_a
    d H / d x_a = -p_a * (log p_a + H)

Both are made of the log-softmax, so the logits need not be kept beside it. A block of
rows that stays in the cache is finished before the next is begun.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32

# exp() of it is 0 in every precision, and times 0 it is 0; -inf times 0 would be nan.
FORBIDDEN = -1000.0
BLOCK = {"cpu": 2**18}  # elements: 1 MiB of float32
LARGE_BLOCK = 2**20
FEW = 4  # blocks: no gain, and their sums round otherwise than those of the whole


def log_softmax_(
    logits: Tensor, responses: Tensor, bias: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Turn logits [tokens, vocab] into their log-softmax, in place.

    A bias [vocab] is added first; its -inf forbids a token. A log-softmax below -1000,
    whose probability is 0, is stored as -1000. Returns the log-prob of each response,
    [tokens], and the entropy of each row, in nats.
    """
    log_probs, entropy = [], []
    for rows, ids in blocks(logits, responses[:, None]):
        if bias is not None:
            rows.add_(bias)
        rows.sub_(rows.amax(1, keepdim=True))
        weights = rows.exp()
        total = weights.sum(1, keepdim=True)
        rows.sub_(total.log())
        log_probs.append(rows.gather(1, ids).squeeze(1))
        rows.clamp_(min=FORBIDDEN)
        entropy.append(-weights.mul_(rows).sum(1) / total.squeeze(1))
    return torch.cat(log_probs), torch.cat(entropy)


def logit_gradients_(
    log_softmax: Tensor,
    responses: Tensor,
    entropy: Tensor,
    log_prob_gradients: Tensor,
    entropy_gradients: Tensor,
) -> Tensor:
    """Turn a log-softmax into the gradient of the logits, in place, and return it.

    From what ``log_softmax_`` leaves and returns, and the gradients of a loss by the
    log-prob of each response and by the entropy of each row, each [tokens].
    """
    row_terms = log_prob_gradients + entropy_gradients * entropy
    tokens = responses, row_terms, log_prob_gradients, entropy_gradients
    columns = [x[:, None] for x in tokens]
    for rows, ids, shared, chosen, sloped in blocks(log_softmax, *columns):
        probabilities = rows.exp()
        rows.mul_(-sloped).sub_(shared).mul_(probabilities)
        rows.scatter_add_(1, ids, chosen)
    return log_softmax


def fits_few_blocks(logits: Tensor) -> bool:
    """Say if blocks would gain nothing; under torch.compile, which fuses, always."""
    return torch.compiler.is_compiling() or logits.numel() <= FEW * _elements(logits)


def blocks(rows: Tensor, *columns: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Cut tensors of one length alike, into blocks that stay in the cache."""
    if torch.compiler.is_compiling():
        return iter([(rows, *columns)])
    size = max(1, _elements(rows) // rows.shape[1])
    return zip(*(torch.split(x, size) for x in (rows, *columns)), strict=True)


def require_first_order(function: str) -> None:
    """Refuse a backward pass that is to be differentiated itself."""
    if torch.is_grad_enabled() and not torch.compiler.is_compiling():
        raise RuntimeError(
            f"{function}: has no gradient of its gradient; create_graph must be False"
        )


def _elements(rows: Tensor) -> int:
    return BLOCK.get(rows.device.type, LARGE_BLOCK)


class LogitBlocks(torch.autograd.Function):
    """From [tokens, vocab] to the log-prob and the entropy of each token, in nats.

    A gradient of the gradient is refused.
    """

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, responses: Tensor, temperature: float
    ) -> tuple[Tensor, Tensor]:
        """Keep two numbers per token, and the logits that the caller holds anyway."""
        statistics = [
            log_softmax_(_scaled(block, temperature), ids)
            for block, ids in blocks(logits, responses)
        ]
        log_probs, entropy = (
            torch.cat(parts) for parts in zip(*statistics, strict=True)
        )
        ctx.save_for_backward(logits, responses, entropy)
        ctx.temperature = temperature
        return log_probs, entropy

    @staticmethod
    def backward(
        ctx: Any, log_prob_gradients: Tensor, entropy_gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        """Make each block's log-softmax again and turn it into the gradient."""
        require_first_order("log_probs_and_entropy")
        logits, responses, entropy = ctx.saved_tensors
        gradients = torch.empty_like(logits)
        outer = (
            log_prob_gradients / ctx.temperature,
            entropy_gradients / ctx.temperature,
        )
        rows = logits, gradients, responses, entropy, *outer
        for block, grad_block, ids, *slopes in blocks(*rows):
            log_softmax = _scaled(block, ctx.temperature)
            log_softmax_(log_softmax, ids)
            grad_block.copy_(logit_gradients_(log_softmax, ids, *slopes))
        return gradients, None, None


def _scaled(logits: Tensor, temperature: float) -> Tensor:
    return at_least_float32(logits) / temperature
