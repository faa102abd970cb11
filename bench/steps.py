"""A step of actor and critic, from hidden states to gradients: ours and verl's."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import linear

from ppo_ref.aggregation import token_sum
from ppo_ref.batch import TokenStatistics
from ppo_ref.chunked import loss_from_hidden
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_mean
from tests.differential import peers

ENTROPY_COEF, VALUE_CLIP_RANGE = 0.01, 0.2
CHUNK_ROWS = 2
Statistics = Callable[..., tuple[Tensor, Tensor]]


def ours(
    statistics: Statistics,
    network: Sequence[Tensor],
    ids: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    old_values: Tensor,
    returns: Tensor,
    mask: Tensor,
) -> object:
    hidden, *head, value_weight, value_bias = network
    log_probs, entropy = statistics(hidden, *head, ids)
    policy = policy_loss(
        log_probs=log_probs,
        old_log_probs=old_log_probs,
        advantages=advantages,
        response_mask=mask,
    ).loss
    critic = value_loss(
        values=linear(hidden, value_weight, value_bias).squeeze(-1),
        old_values=old_values,
        returns=returns,
        response_mask=mask,
        value_clip_range=VALUE_CLIP_RANGE,
    ).loss
    loss = policy - ENTROPY_COEF * masked_mean(entropy, mask) + critic
    return torch.autograd.grad(loss, network)


def ours_by_loss(
    network: Sequence[Tensor],
    ids: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    old_values: Tensor,
    returns: Tensor,
    mask: Tensor,
) -> object:
    hidden, *head, value_weight, value_bias = network
    tokens = mask.sum()

    def share(losses: Tensor, response_mask: Tensor) -> Tensor:
        return token_sum(losses, response_mask) / tokens

    def loss(said: TokenStatistics, rows: slice) -> Tensor:
        policy = policy_loss(
            log_probs=said.log_probs,
            old_log_probs=old_log_probs[rows],
            advantages=advantages[rows],
            response_mask=mask[rows],
            aggregate=share,
        ).loss
        return policy - ENTROPY_COEF * share(said.entropy, mask[rows])

    critic = value_loss(
        values=linear(hidden, value_weight, value_bias).squeeze(-1),
        old_values=old_values,
        returns=returns,
        response_mask=mask,
        value_clip_range=VALUE_CLIP_RANGE,
    ).loss
    actor = loss_from_hidden(hidden, *head, ids, mask, loss, chunk_rows=CHUNK_ROWS).loss
    return torch.autograd.grad(actor + critic, network)


def verl(
    network: Sequence[Tensor],
    ids: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    old_values: Tensor,
    returns: Tensor,
    mask: Tensor,
    padding: bool = True,
) -> object:
    """Its functions, of every slot or, without padding, of one row of the tokens."""
    hidden, *head, value_weight, value_bias = network
    functions = peers.tensors(peers.NOW)
    values = linear(hidden, value_weight, value_bias).squeeze(-1)
    given = [hidden, ids, old_log_probs, advantages, old_values, returns, values, mask]
    if not padding:
        given = [x[mask][None] for x in given]
    hidden, ids, old_log_probs, advantages, old_values, returns, values, mask = given
    logits = linear(hidden, *head)
    policy, *_ = peers.policy_loss(
        peers.NOW,
        log_probs=functions.logprobs_from_logits_v2(logits, ids),
        old_log_probs=old_log_probs,
        advantages=advantages,
        response_mask=mask,
    )
    entropy = peers.aggregate("token-mean", functions.entropy_from_logits(logits), mask)
    critic, _ = peers.value_loss(
        peers.NOW,
        values=values,
        old_values=old_values,
        returns=returns,
        response_mask=mask,
        value_clip_range=VALUE_CLIP_RANGE,
    )
    return torch.autograd.grad(policy - ENTROPY_COEF * entropy + critic, network)
