"""Shapes of the public face, each named once, and the decorator that holds them.

What does not fit its annotation is named in the words that the caller reads.
"""

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin

import torch
from beartype import BeartypeConf, FrozenDict, beartype
from beartype.door import is_bearable
from beartype.vale import IsInstance
from jaxtyping import (
    AbstractArray,
    Bool,
    Float,
    Int32,
    Int64,
    TypeCheckError,
    jaxtyped,
)
from torch import Tensor

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

# An int passes for a float; a bool, which Python takes for an int, for neither.
CONF = BeartypeConf(
    hint_overrides=FrozenDict(
        {
            int: Annotated[object, IsInstance[int] & ~IsInstance[bool]],
            float: Annotated[object, IsInstance[int, float] & ~IsInstance[bool]],
        }
    )
)
_EXPECTED: dict[Any, tuple[str, str]] = {
    Float: ("a floating-point tensor", "float()"),
    Bool: ("a bool tensor (True = the token counts)", "bool()"),
    Int32: ("an int32 or int64 tensor (ids)", "long()"),
}

REMEMBERED = 1024  # calls of a function that passed: some shapes, not a leak

# Name, value and annotation of an argument, or of a part of it.
Field = tuple[str, Any, Any]
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
        given = [
            field
            for name, value in arguments.items()
            for field in _fields(name, value, signature.parameters[name].annotation)
        ]
        _require_one_device(function.__name__, given)
        # The judge does not look into a named tuple.
        refusal = _explain(given) if len(given) > len(arguments) else None
        if refusal is None:
            try:
                result = judged(*args, **kwargs)
            except TypeCheckError:
                refusal = _explain(given)
                if refusal is None:
                    raise
            else:
                if len(passed) >= REMEMBERED:
                    passed.clear()
                if call is not None:
                    passed.add(call)
                return result
        raise TypeError(f"{function.__name__}: {refusal}")

    return face


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


def _require_one_device(function: str, given: list[Field]) -> None:
    tensors = {name: x for name, x, _ in given if isinstance(x, Tensor)}
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


def _fields(name: str, value: Any, annotation: Any) -> list[Field]:
    """An argument, or the fields of one that is a named tuple, down to tensors."""
    named = isinstance(annotation, type) and hasattr(annotation, "_fields")
    if not (named and isinstance(value, annotation)):
        return [(name, value, annotation)]
    return [
        field
        for inner, hint in inspect.get_annotations(annotation).items()
        for field in _fields(f"{name}.{inner}", getattr(value, inner), hint)
    ]


def _explain(given: list[Field]) -> str | None:
    """The first fault of a refused call, and how to mend it; None if there is none."""
    sizes: dict[str, tuple[int, str, str]] = {}
    for name, value, annotation in given:
        members = annotation, *get_args(annotation)
        shapes = [
            x for x in members if isinstance(x, type) and issubclass(x, AbstractArray)
        ]
        if not shapes:
            fault = _other_fault(name, value, annotation)
        elif value is None and type(None) in members:
            continue
        else:
            fault = _kind_fault(name, value, shapes)
            fault = fault or _shape_fault(name, value, shapes[0].dim_str, sizes)
        if fault is not None:
            return f"{name} must {fault}"
    return None


def _other_fault(name: str, value: Any, annotation: Any) -> str | None:
    if is_bearable(value, annotation, conf=CONF):
        return None
    named = get_origin(annotation) is Annotated
    expected = (
        annotation.__metadata__[0] if named else inspect.formatannotation(annotation)
    )
    remedy = ""
    if getattr(value, "ndim", None) == 0:
        number = (get_args(annotation) or (annotation,))[0]
        if is_bearable(value.item(), annotation, conf=CONF):
            remedy = f"; write {number.__name__}({name})"
    return f"be {expected}, got {_shown(value)}{remedy}"


def _kind_fault(name: str, value: Any, shapes: list[type[AbstractArray]]) -> str | None:
    expected, method = _EXPECTED[shapes[0].dtype]
    if not isinstance(value, Tensor):
        if _has_axes(value):
            received = type(value).__name__
            return f"be {expected}, got {received}; write torch.as_tensor({name})"
        axes = ", ".join(shapes[0].dim_str.split())
        return f"be {expected} of shape [{axes}], got {_shown(value)}"
    if any(isinstance(value, shape.dtype[Tensor, "..."]) for shape in shapes):
        return None
    received = str(value.dtype).removeprefix("torch.")
    remedy = "" if value.is_complex() else f"; write {name}.{method}"
    return f"be {expected}, got {received}{remedy}"


def _has_axes(value: Any) -> bool:
    try:
        return torch.as_tensor(value).ndim > 0
    except (TypeError, ValueError, RuntimeError):
        return False


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {reprlib.repr(value)}"


def _shape_fault(
    name: str, value: Tensor, dim_str: str, sizes: dict[str, tuple[int, str, str]]
) -> str | None:
    axes = dim_str.split()
    received, named = list(value.shape), ", ".join(axes)
    fixed = [axis for axis in axes if not axis.startswith("*")]
    exact, few = len(fixed) == len(axes), len(received) < len(fixed)
    if few or (exact and len(received) != len(fixed)):
        least = "" if exact else "at least "
        counts = [
            f"{len(x)} axis" if len(x) == 1 else f"{len(x)} axes"
            for x in (fixed, received)
        ]
        return f"have {least}{counts[0]} [{named}], got {counts[1]} {received}"
    sizes_before = [
        sizes.setdefault(axis, (size, name, named))
        for axis, size in zip(fixed, received, strict=False)
    ]
    shape = [size for size, *_ in sizes_before]
    for axis, size, (expected, other, others) in zip(
        fixed, received, sizes_before, strict=False
    ):
        if size != expected and others != named:
            return f"have {axis} {expected} like {other}, got {size}"
        if size != expected:
            return f"have shape [{named}] = {shape} like {other}, got {received}"
    return None
