"""The gradient of a mini-batch, added up over micro-batches, and the step along it."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ppo_ref.aggregation import Aggregate, token_sum
from ppo_ref.batch import Experience
from ppo_ref.processes import ALONE, Processes
from ppo_ref.sharding import gathered

# The loss of some responses, and what the network said of their tokens.
Loss = Callable[[Experience, Aggregate], tuple[Tensor, Tensor]]


def mini_batches(
    experience: Experience,
    epochs: int,
    mini_batch_size: int,
    generator: torch.Generator,
) -> Iterator[Experience]:
    """Every response once per epoch, in an order drawn anew.

    Args:
        experience: Is not changed.
        epochs: How often each response comes.
        mini_batch_size: Responses in each part.
        generator: Draws the orders, on the CPU.

    Returns:
        The parts, ``epochs`` times the number of responses by ``mini_batch_size``.

    Raises:
        ValueError: when the first is asked for, if the parts cannot be of one size: in
            a smaller one every token would weigh more.

    Example:
        >>> from ppo_ref.tiny import tiny_trainer
        >>> experience = next(tiny_trainer().train()).experience
        >>> parts = mini_batches(experience, 3, 2, torch.Generator())
        >>> [len(part.scores) for part in parts]
        [2, 2, 2, 2, 2, 2]
    """
    count = len(experience.scores)
    if count % mini_batch_size:
        raise ValueError(
            f"mini_batches: experience must hold a multiple of {mini_batch_size} "
            f"responses, got {count}"
        )
    for _ in range(epochs):
        order = torch.randperm(count, generator=generator)
        for rows in torch.split(order, mini_batch_size):
            yield experience.rows(rows)


def accumulate_gradients(
    mini: Experience,
    micro_batch_size: int,
    loss: Loss,
    processes: Processes = ALONE,
) -> Tensor:
    """Add up gradients over micro-batches and processes, as if there had been none.

    Every loss is divided by the tokens of the whole mini-batch: a mean over each
    micro-batch would weigh tokens by the company they happen to be in.

    Args:
        mini: The mini-batch, the same on every process.
        micro_batch_size: Responses per backward pass; the last part may be smaller.
        loss: Of some responses, by the aggregation that it is handed.
        processes: Share the responses evenly, and average their gradients.

    Returns:
        What ``loss`` said of every token, in the order of ``mini``, without gradient.
        The gradients are added to those that the weights have.

    Raises:
        ValueError: if a loss that counts is not finite.

    Source:
        verl v0.9.1, verl/workers/utils/losses.py, ppo_loss, ``batch_num_tokens``.

    Example:
        >>> from ppo_ref.outputs import critic_values
        >>> from ppo_ref.tiny import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> experience, critic = next(trainer.train()).experience, trainer.models.critic
        >>> def loss(part: Experience, aggregate: Aggregate) -> tuple[Tensor, Tensor]:
        ...     values = critic_values(critic, part.rollout)
        ...     return aggregate(values, part.rollout.response_mask), values
        >>> gradients = []
        >>> for micro_batch_size in (1, 3, 4):
        ...     critic.zero_grad()
        ...     _ = accumulate_gradients(experience, micro_batch_size, loss)
        ...     gradients.append(critic.head.bias.grad.item())
        >>> [f"{gradient:.4f}" for gradient in gradients]  # the mean of 1 over tokens
        ['1.0000', '1.0000', '1.0000']
    """
    tokens = mini.rollout.response_mask.sum()

    def share(losses: Tensor, response_mask: Tensor) -> Tensor:
        # The mean over the processes is to be the sum of what they found.
        return token_sum(losses, response_mask) * processes.size / tokens

    said = []
    for rows in torch.split(processes.rows(len(mini.scores)), micro_batch_size):
        part, outputs = loss(mini.rows(rows), share)
        torch.autograd.backward(part)
        said.append(outputs.detach())
    return processes.gather(torch.cat(said))


def clipped_step(
    network: nn.Module, optimizer: Optimizer, max_grad_norm: float
) -> float:
    """One step of the optimizer along a gradient that is not too long.

    Args:
        network: Has gradients.
        optimizer: Of its weights.
        max_grad_norm: Longer gradients are scaled down to it.

    Returns:
        The norm before it was scaled, over all weights together.

    Raises:
        ValueError: if the gradient is not finite; then no weight has changed.

    Example:
        >>> from torch.optim import SGD
        >>> network = nn.Linear(2, 1, bias=False)
        >>> before = network.weight.detach().clone()
        >>> network.weight.grad = torch.tensor([[3., 4.]])
        >>> clipped_step(network, SGD(network.parameters(), lr=1), max_grad_norm=1)
        5.0
        >>> before - network.weight.detach()
        tensor([[0.6000, 0.8000]])
    """
    found = nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm)
    norm: float = gathered(found).item()
    if not math.isfinite(norm):
        raise ValueError(
            f"clipped_step: the gradient of {type(network).__name__} must be finite, "
            f"got a norm of {norm}; no weight was changed"
        )
    optimizer.step()
    return norm
