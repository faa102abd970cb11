"""The update itself: its gradient, and how often it steps."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import torch
from torch import Tensor
from torch.nn import Module, Parameter
from torch.optim import Optimizer

from ppo_ref.check.asserts.faults import (
    counted,
    fail,
    same_randomness,
    tolerance_for,
)
from ppo_ref.require import require_at_least

Backward = Annotated[
    Callable[[int], Any],
    "a function from the size of a micro-batch to nothing, which runs backward",
]


def assert_same_gradient(
    model: Module,
    backward: Backward,
    micro_batch_sizes: tuple[int, int],
    *,
    tolerance: float | None = None,
) -> None:
    """However a mini-batch is split into micro-batches, its gradient is the same.

    Args:
        model: Whose parameters are trained. Its gradients, buffers and mode are left as
            they were, and so is the random state.
        backward: Your function, which splits one mini-batch into micro-batches of the
            size it is given and runs forward and backward on each, without a step.
        micro_batch_sizes: Two sizes, as in (8, 2); take responses of unequal length.
        tolerance: Of the whole gradient, relative; left out, that of the parameters'
            dtype: 1e-4 in float32, 0.1 in bfloat16.

    Raises:
        AssertionError: if the two gradients differ by more.
        ValueError: if a size is below 1, the sizes are equal, no gradient comes, or a
            parameter has been changed.

    Example:
        >>> x, model = torch.tensor([[1.], [1.], [4.]]), torch.nn.Linear(1, 1)
        >>> def backward(size):
        ...     for part in x.split(size):
        ...         model(part).mean().backward()
        >>> assert_same_gradient(model, backward, (3, 1))
        Traceback (most recent call last):
        AssertionError: the gradient at micro-batches of 1
        is 3.00 times that of 3: it is not divided by the
        number of micro-batches
    """
    name = "assert_same_gradient"
    for size in micro_batch_sizes:
        require_at_least(name, 1, micro_batch_sizes=size)
    one, other = micro_batch_sizes
    if one == other:
        raise ValueError(f"{name}: micro_batch_sizes must be unequal, got {one} twice")
    parameters = {}
    for own_name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameters[own_name] = parameter
    if tolerance is None:
        tolerance = tolerance_for(*parameters.values())
    first, second = _gradients(name, model, parameters, backward, micro_batch_sizes)
    norm = float(first.norm())
    apart = float((second - first).norm())
    if apart <= tolerance * norm:
        return
    scale = float(first @ second) / norm**2
    what = f"the gradient at micro-batches of {other}"
    if (second - scale * first).norm() <= tolerance * norm:
        what += f" is {scale:.2f} times that of {one}"
        fail(what, "it is not divided by the number of micro-batches")
    sizes = [p.numel() for p in parameters.values()]
    parts = torch.split_with_sizes(second - first, sizes)
    norms = {n: float(x.norm()) for n, x in zip(parameters, parts, strict=True)}
    worst = max(norms, key=lambda name: norms[name])
    what += f" differs by {apart / norm:.0%} from that of {one}, most in {worst}"
    fail(
        what,
        "each micro-batch divides by its own tokens; divide all by the tokens of the "
        "mini-batch",
    )


@contextmanager
def assert_optimizer_steps(
    optimizer: Optimizer, *, batch_size: int, mini_batch_size: int, epochs: int = 1
) -> Iterator[None]:
    """Around an update: one step per mini-batch, none per micro-batch or epoch.

        steps = epochs * batch_size / mini_batch_size

    Args:
        optimizer: That your update steps.
        batch_size: Responses (or prompts) of a batch, over all workers.
        mini_batch_size: Of a mini-batch, in the same unit.
        epochs: How often the batch is gone through.

    Returns:
        A context; your update is its body.

    Raises:
        AssertionError: on leaving, if the optimizer stepped more or less often.
        ValueError: if a number is below 1.

    Example:
        >>> weight = torch.nn.Parameter(torch.ones(1))
        >>> optimizer = torch.optim.SGD([weight], lr=0.1)
        >>> sizes = {"batch_size": 8, "mini_batch_size": 4}
        >>> with assert_optimizer_steps(optimizer, **sizes, epochs=2):
        ...     for _ in range(2): optimizer.step()
        Traceback (most recent call last):
        AssertionError: the optimizer stepped 2 times
        instead of 4 (2 epochs x 2 mini-batches): it steps
        once per epoch; step behind each mini-batch
    """
    name = "assert_optimizer_steps"
    sizes = {"batch_size": batch_size, "mini_batch_size": mini_batch_size}
    require_at_least(name, 1, **sizes, epochs=epochs)
    count = 0

    def stepped(*_: object) -> None:
        nonlocal count
        count += 1

    handle = optimizer.register_step_post_hook(stepped)
    try:
        yield
    finally:
        handle.remove()
    mini_batches = math.ceil(batch_size / mini_batch_size)
    if count != epochs * mini_batches:
        parts = counted(mini_batches, "mini-batch", "mini-batches")
        fail(
            f"the optimizer stepped {counted(count, 'time')} instead of "
            f"{epochs * mini_batches} ({counted(epochs, 'epoch')} x {parts})",
            _cause(count, epochs, mini_batches),
        )


def _cause(count: int, epochs: int, mini_batches: int) -> str:
    if count == 0:
        return "another optimizer steps, or the warm-up of the critic holds it back"
    if count == epochs:
        return "it steps once per epoch; step behind each mini-batch"
    if count == mini_batches:
        return "the number of epochs is ignored; repeat the loop over mini-batches"
    if count % (epochs * mini_batches) == 0:
        return (
            "it steps once per micro-batch; step once its mini-batch has been through "
            "backward"
        )
    return "a mini-batch is skipped or cut, or the sizes are per worker"


def _gradients(
    function: str,
    model: Module,
    parameters: dict[str, Parameter],
    backward: Backward,
    sizes: tuple[int, int],
) -> list[Tensor]:
    """One gradient per size, as a long row; everything else put back as it was."""
    grads = {name: parameter.grad for name, parameter in parameters.items()}
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    versions = {name: parameter._version for name, parameter in parameters.items()}
    gradients = []
    try:
        for size in sizes:
            for parameter in parameters.values():
                parameter.grad = None
            with same_randomness(), torch.enable_grad():
                backward(size)
            of = [
                torch.zeros_like(p) if p.grad is None else p.grad
                for p in parameters.values()
            ]
            # A model may lie on several devices.
            gradients.append(torch.cat([x.detach().flatten().cpu() for x in of]))
    finally:
        for name, parameter in parameters.items():
            parameter.grad = grads[name]
        with torch.no_grad():
            for name, buffer in model.named_buffers():
                buffer.copy_(buffers[name])
    for name, parameter in parameters.items():
        if parameter._version != versions[name]:
            raise ValueError(
                f"{function}: backward must leave the parameters alone, {name} has "
                "been changed; leave out the optimizer's step"
            )
    if not all(gradient.any() for gradient in gradients):
        raise ValueError(
            f"{function}: backward must leave a gradient in the model's parameters, "
            "found none"
        )
    return [gradient.double() for gradient in gradients]
