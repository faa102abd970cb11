"""What the actor answers: sampled token by token, each with its log-probability."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.alignment import response_mask
from ppo_ref.batch import Rollout
from ppo_ref.models import Actor, Cache
from ppo_ref.precision import at_least_float32
from ppo_ref.ranges import require_at_least
from ppo_ref.tokenizer import EOS_TOKEN_ID, PAD_TOKEN_ID, Prompts


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

    Args:
        actor: Its mode (train or eval) is left as it is; it has no dropout.
        prompts: Padded on the left.
        response_length: The most tokens a response may have, its end included.
        temperature: Divides the logits; 0 takes the most probable token.
        generator: On the actor's device.

    Returns:
        ``response_length`` slots per response. ``truncated`` is True where the limit
        came before an end. Log-probs are those that were sampled from, temperature
        included, in nats, 0 outside the mask, and 0 throughout at temperature 0.
        Nothing has gradient.

    Raises:
        ValueError: if ``response_length`` is below 1, ``temperature`` negative, or
            prompt and response exceed the actor's context.

    Example:
        >>> from ppo_ref.models import Transformer, initialised
        >>> network = Actor(Transformer(4, context=8, width=8, layers=1, heads=2), 4)
        >>> actor = initialised(network, torch.Generator().manual_seed(0))
        >>> prompts = Prompts(torch.tensor([[2, 3]]), torch.tensor([[True, True]]))
        >>> seeded = torch.Generator().manual_seed(0)
        >>> rollout = sample_responses(
        ...     actor, prompts, response_length=5, generator=seeded
        ... )
        >>> rollout.response_mask.shape, rollout.responses.shape
        (torch.Size([1, 5]), torch.Size([1, 5]))
    """
    require_at_least("sample_responses", 1, response_length=response_length)
    require_at_least("sample_responses", 0, temperature=temperature)
    _require_context(actor, prompts, response_length)
    batch, device = len(prompts.token_ids), prompts.token_ids.device
    attention_mask, new = prompts.attention_mask, prompts.token_ids
    running = torch.ones(batch, dtype=torch.bool, device=device)
    cache: Cache = []
    tokens, log_probs = [], []
    for _ in range(response_length):
        if not running.any():
            break
        logits = at_least_float32(actor(new, attention_mask, cache)[:, -1])
        chosen, log_prob = _sample(logits, temperature, generator)
        tokens.append(torch.where(running, chosen, PAD_TOKEN_ID))
        log_probs.append(torch.where(running, log_prob, 0))
        attention_mask = torch.cat([attention_mask, running[:, None]], 1)
        running = running & (chosen != EOS_TOKEN_ID)
        new = tokens[-1][:, None]
    unused = (0, response_length - len(tokens))
    responses = pad(torch.stack(tokens, 1), unused, value=PAD_TOKEN_ID)
    mask = response_mask(responses, EOS_TOKEN_ID)
    return Rollout(
        sequences=torch.cat([prompts.token_ids, responses], 1),
        attention_mask=torch.cat([prompts.attention_mask, mask], 1),
        response_mask=mask,
        rollout_log_probs=pad(torch.stack(log_probs, 1), unused),
        truncated=running,
    )


def _sample(
    logits: Tensor, temperature: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    if temperature == 0:
        return logits.argmax(-1), torch.zeros_like(logits[:, 0])
    log_softmax = (logits / temperature).log_softmax(-1)
    chosen = torch.multinomial(log_softmax.exp(), 1, generator=generator)
    return chosen[:, 0], log_softmax.gather(1, chosen)[:, 0]


def _require_context(actor: Actor, prompts: Prompts, response_length: int) -> None:
    prompt, context = prompts.token_ids.shape[1], actor.transformer.context
    if prompt + response_length > context:
        raise ValueError(
            f"sample_responses: prompt and response must fit the actor's context of "
            f"{context} tokens, got {prompt} + {response_length}"
        )
