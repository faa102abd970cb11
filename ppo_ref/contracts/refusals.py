"""Which argument does not fit its annotation, in the words the caller reads."""

import reprlib
from inspect import Signature, formatannotation, get_annotations
from typing import Annotated, Any, get_args, get_origin

import torch
from beartype import BeartypeConf, FrozenDict
from beartype.door import is_bearable
from beartype.vale import IsInstance
from jaxtyping import AbstractArray, Bool, Float, Int32
from torch import Tensor

Axes = dict[str, tuple[int, str, str]]

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


def explain(signature: Signature, arguments: dict[str, Any]) -> str | None:
    """The first fault of a refused call, and how to mend it; None where there is none.

    Example:
        >>> from inspect import signature
        >>> def double(x: Float[Tensor, "batch"]) -> Tensor: return 2 * x
        >>> explain(signature(double), {"x": torch.ones(2, 1)})
        'x must have 1 axis [batch], got 2 axes [2, 1]'
    """
    sizes: Axes = {}
    for name, value, annotation in fields(signature, arguments):
        shapes = _tensor_shapes(annotation)
        if not shapes:
            fault = _other_fault(name, value, annotation)
        elif value is None and type(None) in get_args(annotation):
            continue
        else:
            fault = _kind_fault(name, value, shapes)
            fault = fault or _shape_fault(name, value, shapes[0].dim_str, sizes)
        if fault is not None:
            return f"{name} must {fault}"
    return None


def fields(
    signature: Signature, arguments: dict[str, Any]
) -> list[tuple[str, Any, Any]]:
    """Name, value and annotation of all that was passed, down to single tensors."""
    return [
        field
        for name, value in arguments.items()
        for field in _spread(name, value, signature.parameters[name].annotation)
    ]


def _spread(name: str, value: Any, annotation: Any) -> list[tuple[str, Any, Any]]:
    named = isinstance(annotation, type) and hasattr(annotation, "_fields")
    if not (named and isinstance(value, annotation)):
        return [(name, value, annotation)]
    return [
        field
        for inner, hint in get_annotations(annotation).items()
        for field in _spread(f"{name}.{inner}", getattr(value, inner), hint)
    ]


def _tensor_shapes(annotation: Any) -> list[type[AbstractArray]]:
    members = (annotation, *get_args(annotation))
    return [
        member
        for member in members
        if isinstance(member, type) and issubclass(member, AbstractArray)
    ]


def _other_fault(name: str, value: Any, annotation: Any) -> str | None:
    if is_bearable(value, annotation, conf=CONF):
        return None
    named = get_origin(annotation) is Annotated
    expected = annotation.__metadata__[0] if named else formatannotation(annotation)
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


def _shape_fault(name: str, value: Tensor, dim_str: str, sizes: Axes) -> str | None:
    axes = dim_str.split()
    received, named = list(value.shape), ", ".join(axes)
    fixed = [axis for axis in axes if not axis.startswith("*")]
    if len(received) != len(fixed) and (
        len(fixed) == len(axes) or len(received) < len(fixed)
    ):
        least = "" if len(fixed) == len(axes) else "at least "
        counts = _axes(len(fixed)), _axes(len(received))
        return f"have {least}{counts[0]} [{named}], got {counts[1]} {received}"
    sizes_before = [
        sizes.setdefault(axis, (size, name, named))
        for axis, size in zip(fixed, received, strict=False)
    ]
    for axis, size, (expected, other, others) in zip(
        fixed, received, sizes_before, strict=False
    ):
        if size != expected and others != named:
            return f"have {axis} {expected} like {other}, got {size}"
        if size != expected:
            shape = [size for size, *_ in sizes_before]
            return f"have shape [{named}] = {shape} like {other}, got {received}"
    return None


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"
