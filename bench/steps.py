"""A step of actor and critic, from hidden states to gradients: ours and others'.

A network is the hidden states, the actor's head, and weight and bias of the critic's.
The actor's head has no bias, as in most language models; verl's fused one cannot.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear

from ppo_ref.aggregation import token_sum
from ppo_ref.batch import TokenStatistics
from ppo_ref.chunked import loss_from_hidden
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_mean
from tests.differential import peers, wheels

ENTROPY_COEF, VALUE_CLIP_RANGE = 0.01, 0.2
LIGER = "Liger-Kernel 0.8.5"
Network = Sequence[Tensor]
Statistics = Callable[..., tuple[Tensor, Tensor]]


class Batch(NamedTuple):
    """What the losses take besides the network; ``mask`` says where a token is."""

    ids: Tensor
    old_log_probs: Tensor
    advantages: Tensor
    old_values: Tensor
    returns: Tensor
    mask: Tensor


def ours(statistics: Statistics, network: Network, batch: Batch) -> object:
    hidden, weight, *_ = network
    log_probs, entropy = statistics(hidden, weight, None, batch.ids)
    policy = policy_loss(
        log_probs=log_probs,
        old_log_probs=batch.old_log_probs,
        advantages=batch.advantages,
        response_mask=batch.mask,
    ).loss
    actor = policy - ENTROPY_COEF * masked_mean(entropy, batch.mask)
    return torch.autograd.grad(actor + critic(network, batch), network)


def ours_by_loss(chunk_rows: int, network: Network, batch: Batch) -> object:
    hidden, weight, *_ = network
    tokens = batch.mask.sum()

    def share(losses: Tensor, response_mask: Tensor) -> Tensor:
        return token_sum(losses, response_mask) / tokens

    def loss(said: TokenStatistics, rows: slice) -> Tensor:
        policy = policy_loss(
            log_probs=said.log_probs,
            old_log_probs=batch.old_log_probs[rows],
            advantages=batch.advantages[rows],
            response_mask=batch.mask[rows],
            aggregate=share,
        ).loss
        return policy - ENTROPY_COEF * share(said.entropy, batch.mask[rows])

    given = hidden, weight, None, batch.ids, batch.mask
    actor = loss_from_hidden(*given, loss, chunk_rows=chunk_rows).loss
    return torch.autograd.grad(actor + critic(network, batch), network)


def values(network: Network) -> Tensor:
    hidden, _, *head = network
    return linear(hidden, *head).squeeze(-1).float()


def critic(network: Network, batch: Batch) -> Tensor:
    return value_loss(
        values=values(network),
        old_values=batch.old_values,
        returns=batch.returns,
        response_mask=batch.mask,
        value_clip_range=VALUE_CLIP_RANGE,
    ).loss


def verl(
    statistics: Statistics, network: Network, batch: Batch, padding: bool = False
) -> object:
    """verl's functions, of every slot or, without padding, of one row of the tokens."""
    given = [network[0], values(network), *batch]
    if not padding:
        given = [x[batch.mask][None] for x in given]
    hidden, said, ids, old_log_probs, advantages, old_values, returns, mask = given
    log_probs, entropies = statistics(hidden, network[1], ids)
    policy, *_ = peers.policy_loss(
        peers.NOW,
        log_probs=log_probs,
        old_log_probs=old_log_probs,
        advantages=advantages,
        response_mask=mask,
    )
    entropy = peers.aggregate("token-mean", entropies.float(), mask)
    loss, _ = peers.value_loss(
        peers.NOW,
        values=said,
        old_values=old_values,
        returns=returns,
        response_mask=mask,
        value_clip_range=VALUE_CLIP_RANGE,
    )
    return torch.autograd.grad(policy - ENTROPY_COEF * entropy + loss, network)


def verl_by_logits(
    hidden: Tensor, weight: Tensor, ids: Tensor
) -> tuple[Tensor, Tensor]:
    functions, logits = peers.tensors(peers.NOW), linear(hidden, weight)
    log_probs = functions.logprobs_from_logits_v2(logits, ids)
    return log_probs, functions.entropy_from_logits(logits)


@cache
def verl_fused() -> Statistics:
    """Its fused function as torch has it; its Triton kernel needs a GPU."""
    file = "verl/utils/experimental/torch_functional.py"
    return wheels.whole(peers.NOW, file).FusedLinearForPPO()


@cache
def liger_loss() -> Callable[..., Any]:
    """Its loss in chunks of one response, with one advantage each and no entropy."""
    folder = "liger_kernel/chunked_loss"
    base = wheels.whole(LIGER, f"{folder}/fused_linear_ppo.py")
    file = wheels.whole(LIGER, f"{folder}/grpo_loss.py", **vars(base))
    # Compiled would be the loss of a few numbers a token, and not the products.
    return file.LigerFusedLinearGRPOLoss(beta=0.0, use_ref_model=False, compiled=False)


def liger(network: Network, batch: Batch) -> object:
    """Its policy loss, and our critic's, for it has none."""
    hidden, weight, *_ = network
    given = hidden, weight, batch.ids, batch.mask.float(), batch.advantages[:, 0]
    policy, _ = liger_loss()(*given, old_per_token_logps=batch.old_log_probs)
    return torch.autograd.grad(policy + critic(network, batch), network)


@torch.no_grad()
def products(network: Network, batch: Batch) -> object:
    """The logits of the tokens, and the gradients by the states and by the head.

    No step can do with less, and one that does not keep the logits needs one more.
    """
    hidden, weight = network[0][batch.mask], network[1]
    logits = hidden @ weight.T
    return logits @ weight, logits.T @ hidden
