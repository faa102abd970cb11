"""Shapes of the public face, each named once, and the decorator that holds them."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from beartype import beartype
from jaxtyping import Bool, Float, Int32, Int64, TypeCheckError, jaxtyped
from torch import Tensor

from ppo_ref.contracts.refusals import CONF, explain, fields

Tokens = Float[Tensor, "batch time"]
TokenMask = Bool[Tensor, "batch time"]
TokenIds = Int32[Tensor, "batch time"] | Int64[Tensor, "batch time"]
Logits = Float[Tensor, "batch time vocab"]
VocabMask = Bool[Tensor, "batch time vocab"]
Hidden = Float[Tensor, "batch time width"]
HeadWeight = Float[Tensor, "vocab width"]
HeadBias = Float[Tensor, "vocab"]
RowValues = Float[Tensor, "batch"]
TurnValues = Float[Tensor, "batch turns"]
SequenceIds = Int32[Tensor, "batch sequence"] | Int64[Tensor, "batch sequence"]
SequenceMask = Bool[Tensor, "batch sequence"]
RowFlags = Bool[Tensor, "batch"]
RowIds = Int32[Tensor, "batch"] | Int64[Tensor, "batch"]
SequenceValues = Float[Tensor, "batch sequence"]
SequenceOutputs = Float[Tensor, "batch sequence *features"]
ResponseOutputs = Float[Tensor, "batch time *features"]
Scalar = Float[Tensor, ""]

REMEMBERED = 1024  # calls of a function that passed: some shapes, not a leak

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse a call whose tensors differ from the signature, and say how to mend it.

    jaxtyping and beartype judge; a refusal is put into words that name the function,
    the argument, what must hold and what was passed. An int passes for a float,
    a bool for no number. A named tuple is judged field by field. A call like one that
    passed, in types, shapes and devices, passes without another judgement. Do not
    compile the function behind its checks: compile the undecorated kernel beneath.

    Example:
        >>> import torch
        >>> @checked
        ... def double(x: Tokens) -> Tokens:
        ...     return 2 * x
        >>> double(torch.ones(8, 16, 1))
        Traceback (most recent call last):
        TypeError: double: x must have 2 axes [batch, time], got 3 axes [8, 16, 1]
    """
    judged = jaxtyped(function, typechecker=beartype(conf=CONF))
    signature = inspect.signature(function)
    passed: set[Any] = set()

    @functools.wraps(function)
    def face(*args: P.args, **kwargs: P.kwargs) -> R:
        call = _likeness((args, tuple(kwargs.items())))
        if call in passed:
            return function(*args, **kwargs)
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            misfit = _explain_binding(signature, kwargs, error)
            raise TypeError(f"{function.__name__}: {misfit}") from None
        values = fields(signature, arguments)
        _require_one_device(function.__name__, values)
        # The judge does not look into a named tuple.
        nested = len(values) > len(arguments)
        refusal = explain(signature, arguments) if nested else None
        if refusal is None:
            try:
                result = judged(*args, **kwargs)
            except TypeCheckError:
                refusal = explain(signature, arguments)
                if refusal is None:
                    raise
            else:
                _remember(call, passed)
                return result
        raise TypeError(f"{function.__name__}: {refusal}")

    return face


def _remember(call: Any, passed: set[Any]) -> None:
    if len(passed) >= REMEMBERED:
        passed.clear()
    if call is not None:
        passed.add(call)


def _likeness(value: Any) -> Any:
    """Equal for what is judged alike; None for what cannot be told from without."""
    if isinstance(value, Tensor):
        return type(value), value.dtype, value.shape, value.device
    if isinstance(value, float):
        return float
    if value is None or isinstance(value, int | str):
        return type(value), value
    if not isinstance(value, tuple):
        return None
    inner = tuple(_likeness(part) for part in value)
    return None if None in inner else (type(value), inner)


def _require_one_device(function: str, values: list[tuple[str, Any, Any]]) -> None:
    tensors = {name: x for name, x, _ in values if isinstance(x, Tensor)}
    if len({tensor.device for tensor in tensors.values()}) < 2:
        return
    (first, one), *others = tensors.items()
    name, other = next(item for item in others if item[1].device != one.device)
    raise ValueError(
        f"{function}: {name} is on {other.device} but {first} is on {one.device}; "
        "move both to one device"
    )


def _explain_binding(
    signature: inspect.Signature, keywords: Iterable[str], error: TypeError
) -> str:
    takes = ", ".join(signature.parameters)
    # Unknown names come first: a misspelt name is why another is missing.
    unknown = [name for name in keywords if name not in signature.parameters]
    if unknown:
        plural = "s" * (len(unknown) > 1)
        return f"got unexpected argument{plural} {', '.join(unknown)}; it takes {takes}"
    if "too many" not in str(error):
        return str(error)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        return f"{error}; pass tensors of one shape by keyword"
    return f"{error}; it takes {takes}"
