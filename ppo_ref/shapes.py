"""Shapes of the public face, each named once, and the decorator that holds them."""

import functools
import inspect
import reprlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, get_args

from beartype import BeartypeConf, beartype
from beartype.door import is_bearable
from jaxtyping import AbstractArray, Bool, Float, Int, TypeCheckError, jaxtyped
from torch import Tensor

Tokens = Float[Tensor, "batch time"]
TokenMask = Bool[Tensor, "batch time"]
TokenIds = Int[Tensor, "batch time"]
Logits = Float[Tensor, "batch time vocab"]
RowValues = Float[Tensor, "batch"]
SequenceValues = Float[Tensor, "batch sequence"]
SequenceOutputs = Float[Tensor, "batch sequence *features"]
ResponseOutputs = Float[Tensor, "batch time *features"]
Scalar = Float[Tensor, ""]

_WANTED: dict[Any, tuple[str, str]] = {
    Float: ("a floating-point tensor", "float()"),
    Bool: ("a bool tensor (True = the token counts)", "bool()"),
    Int: ("an integer tensor (token ids)", "long()"),
}
_CONF = BeartypeConf(is_pep484_tower=True)

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse a call whose tensors differ from the signature, and say how to mend it.

    jaxtyping and beartype judge; a refusal is put into words that name the function,
    the argument, what must hold and what came. An int passes for a float.

    Args:
        function: A function whose annotations come from this module.

    Returns:
        The function behind its checks. Do not compile it: compile the undecorated
        kernel beneath.

    Raises:
        TypeError: on a call, if an argument is missing, unknown, or of the wrong
            type, dtype or shape.
        ValueError: on a call, if its tensors lie on more than one device.

    Example:
        >>> import torch
        >>> @checked
        ... def double(x: Tokens) -> Tokens:
        ...     return 2 * x
        >>> double(torch.ones(8, 16, 1))
        Traceback (most recent call last):
        TypeError: double: x must have 2 axes [batch, time], got 3 axes [8, 16, 1]
    """
    judged = jaxtyped(function, typechecker=beartype(conf=_CONF))
    signature = inspect.signature(function)

    @functools.wraps(function)
    def face(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            remedy = "; pass tensors of one shape by keyword" * ("many" in str(error))
            raise TypeError(f"{function.__name__}: {error}{remedy}") from None
        _require_one_device(function.__name__, arguments)
        try:
            return judged(*args, **kwargs)
        except TypeCheckError:
            refusal = _explain(signature, arguments)
            if refusal is None:
                raise
        raise TypeError(f"{function.__name__}: {refusal}")

    return face


def _require_one_device(function: str, arguments: dict[str, Any]) -> None:
    tensors = {name: x for name, x in arguments.items() if isinstance(x, Tensor)}
    if len({tensor.device for tensor in tensors.values()}) < 2:
        return
    (first, one), *others = tensors.items()
    name, other = next(item for item in others if item[1].device != one.device)
    raise ValueError(
        f"{function}: {name} is on {other.device} but {first} is on {one.device}; "
        "move both to one device"
    )


def _explain(signature: inspect.Signature, arguments: dict[str, Any]) -> str | None:
    sizes: dict[str, tuple[int, str]] = {}
    for name, value in arguments.items():
        annotation = signature.parameters[name].annotation
        shape = _tensor_annotation(annotation)
        if shape is None:
            fault = _scalar_fault(annotation, value)
        elif value is None and shape is not annotation:
            continue
        else:
            fault = _kind_fault(name, value, shape)
            fault = fault or _shape_fault(name, value, shape, sizes)
        if fault is not None:
            return f"{name} must {fault}"
    return None


def _tensor_annotation(annotation: Any) -> type[AbstractArray] | None:
    for member in (annotation, *get_args(annotation)):
        if isinstance(member, type) and issubclass(member, AbstractArray):
            return member
    return None


def _scalar_fault(annotation: Any, value: Any) -> str | None:
    if is_bearable(value, annotation, conf=_CONF):
        return None
    wanted = inspect.formatannotation(annotation)
    return f"be {wanted}, got {type(value).__name__} {reprlib.repr(value)}"


def _kind_fault(name: str, value: Any, expected: type[AbstractArray]) -> str | None:
    wanted, remedy = _WANTED[expected.dtype]
    if not isinstance(value, Tensor):
        came = type(value).__name__
        return f"be {wanted}, got {came}; write torch.as_tensor({name})"
    if isinstance(value, expected.dtype[Tensor, "..."]):
        return None
    came = str(value.dtype).removeprefix("torch.")
    return f"be {wanted}, got {came}; write {name}.{remedy}"


def _shape_fault(
    name: str,
    value: Tensor,
    expected: type[AbstractArray],
    sizes: dict[str, tuple[int, str]],
) -> str | None:
    axes = expected.dim_str.split()
    came, named = list(value.shape), ", ".join(axes)
    fixed = [axis for axis in axes if not axis.startswith("*")]
    if len(came) != len(fixed) and (len(fixed) == len(axes) or len(came) < len(fixed)):
        least = "" if len(fixed) == len(axes) else "at least "
        return (
            f"have {least}{_axes(len(fixed))} [{named}], got {_axes(len(came))} {came}"
        )
    known = [
        sizes.setdefault(axis, (size, name))
        for axis, size in zip(fixed, came, strict=False)
    ]
    for size, (wanted, other) in zip(came, known, strict=False):
        if size != wanted:
            shape = [size for size, _ in known]
            return f"have shape [{named}] = {shape} like {other}, got {came}"
    return None


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"
