"""The actor's answers: sampled token by token, each with its log-probability."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.alignment import response_mask
from ppo_ref.batch import Rollout
from ppo_ref.precision import at_least_float32
from ppo_ref.require import TokenIds, Tokens, require_at_least
from ppo_ref.train.networks import Actor, Cache
from ppo_ref.train.tokenizer import Prompts


@torch.no_grad()
def sample_responses(
    actor: Actor,
    prompts: Prompts,
    *,
    response_length: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Rollout:
    """Sample a response to every prompt, one token of all rows at a time.

    Each step reads the new tokens alone: keys and values of those before are cached.
    It ends early once every response has.

    Args:
        actor: Its mode (train or eval) is left as it is; it has no dropout.
        prompts: Padded on the left.
        response_length: The most tokens a response may have, its end included.
        temperature: Divides the logits; 0 takes the most probable token.
        generator: On the actor's device; PyTorch's own when left out.

    Returns:
        ``response_length`` slots per response. ``truncated`` is True where the limit
        came before an end. Log-probs are those that were sampled from, temperature
        included, in nats, 0 outside the mask, and 0 throughout at temperature 0.
        Nothing has gradient.

    Raises:
        ValueError: if ``response_length`` is below 1, ``temperature`` negative, a
            prompt padded on the right or without a token, prompt and response exceed
            the actor's context, or the actor's logits are no distribution.

    Example:
        >>> from ppo_ref.train.trainer import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> rollout = sample_responses(
        ...     trainer.models.actor,
        ...     trainer.tokenizer.prompts(["请问1+1=？", "2+2="]),
        ...     response_length=3,
        ...     generator=torch.Generator().manual_seed(0),
        ... )
        >>> rollout.responses.shape, rollout.rollout_log_probs.shape
        (torch.Size([2, 3]), torch.Size([2, 3]))
        >>> bool((rollout.rollout_log_probs <= 0).all())
        True
    """
    require_at_least("sample_responses", 1, response_length=response_length)
    require_at_least("sample_responses", 0, temperature=temperature)
    _require_prompts(actor, prompts, response_length)
    attention_mask = prompts.attention_mask
    new = prompts.token_ids
    running = attention_mask[:, -1]
    cache: Cache = []
    tokens: list[Tensor] = []
    log_probs: list[Tensor] = []
    while len(tokens) < response_length and running.any():
        outputs = actor(new, attention_mask, cache, last=1)
        logits = at_least_float32(outputs[:, -1])
        _require_distributions(logits, len(tokens))
        chosen, log_prob = _sample(logits, temperature, generator)
        tokens.append(torch.where(running, chosen, prompts.pad_token_id))
        log_probs.append(torch.where(running, log_prob, 0))
        attention_mask = torch.cat([attention_mask, running[:, None]], 1)
        running = running & (chosen != prompts.eos_token_id)
        new = tokens[-1][:, None]
    unused = response_length - len(tokens)
    return as_rollout(
        prompts,
        pad(torch.stack(tokens, 1), (0, unused), value=prompts.pad_token_id),
        pad(torch.stack(log_probs, 1), (0, unused)),
    )


def as_rollout(
    prompts: Prompts, responses: TokenIds, rollout_log_probs: Tokens
) -> Rollout:
    """Responses from anywhere, in the form in which an actor samples them.

    Padding after an end is not read, but must hold valid ids.
    """
    mask = response_mask(responses, prompts.eos_token_id)
    return Rollout(
        sequences=torch.cat([prompts.token_ids, responses], 1),
        attention_mask=torch.cat([prompts.attention_mask, mask], 1),
        response_mask=mask,
        rollout_log_probs=rollout_log_probs,
        truncated=(responses != prompts.eos_token_id).all(1),
    )


def _sample(
    logits: Tensor, temperature: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    if temperature == 0:
        return logits.argmax(-1), torch.zeros_like(logits[:, 0])
    log_softmax = (logits / temperature).log_softmax(-1)
    chosen = torch.multinomial(log_softmax.exp(), 1, generator=generator)
    log_probs = log_softmax.gather(1, chosen)
    return chosen[:, 0], log_probs[:, 0]


def _require_prompts(actor: Actor, prompts: Prompts, response_length: int) -> None:
    prompt = prompts.token_ids.shape[1]
    context = actor.transformer.context
    if prompt + response_length > context:
        raise ValueError(
            f"sample_responses: prompt and response must fit the actor's context of "
            f"{context} tokens, got {prompt} + {response_length}"
        )
    if not prompts.token_ids.numel():
        raise ValueError(
            "sample_responses: prompts must be at least one, of at least one token, "
            f"got {list(prompts.token_ids.shape)}"
        )
    ends = prompts.attention_mask[:, -1]
    if not ends.all():
        raise ValueError(
            "sample_responses: prompts must be padded on the left and end in a token, "
            f"got padding in the last slot of row {int((~ends).nonzero()[0])}"
        )


def _require_distributions(logits: Tensor, token: int) -> None:
    """Refuse nan, on which a GPU would crash; -inf, a forbidden token, may stand."""
    totals = logits.logsumexp(-1)
    finite = totals.isfinite()
    if not finite.all():
        row = int((~finite).nonzero()[0])
        raise ValueError(
            "sample_responses: actor must give logits whose log-sum-exp is finite, "
            f"got {totals[row].item()} for token {token} of row {row}"
        )
