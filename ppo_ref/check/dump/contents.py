"""One batch of tensors by name, of what a file held: lists and dicts taken apart."""

from typing import Any

import torch
from torch import Tensor

LEFT_PADDED = ("prompts", "prompt_ids", "prompt_mask")
# Dicts inside a dump whose content belongs to the batch, and what it is called there.
INSIDE = {"batch": "", "non_tensor_batch": "", "info": "info."}


def batch_of(content: Any, size: int) -> dict[str, Tensor]:
    """The tensors of a dump by name; a list of ids or words as a tensor of numbers.

    A list of dicts is one batch in pieces: they are padded and put below each other.
    What cannot be one batch is a ValueError; ``size`` is the most elements in all.
    """
    if isinstance(content, dict):
        entries = _opened(content)
    elif isinstance(content, list | tuple) and all(
        isinstance(x, dict) for x in content
    ):
        entries = _joined([_opened(piece) for piece in content], size)
    else:
        kind = type(content).__name__
        raise ValueError(f"must hold a dict of tensors, holds a {kind}")
    found = {}
    for name, x in entries.items():
        tensor = _as_tensor(x)
        if tensor is not None:
            found[name] = tensor
    return found


def _opened(content: dict[Any, Any]) -> dict[str, Any]:
    """The entries of a dump, and of the dicts in it that belong to the batch."""
    found: dict[str, Any] = {}
    for name, x in content.items():
        if isinstance(x, dict) and name in INSIDE:
            for inner, each in x.items():
                found[f"{INSIDE[name]}{inner}"] = each
        else:
            found[str(name)] = x
    return found


def _as_tensor(x: Any) -> Tensor | None:
    """A tensor, or a list of one per row as one; None for anything else."""
    if isinstance(x, Tensor):
        return x
    if not isinstance(x, list) or not x:
        return None
    if all(isinstance(each, str | int) for each in x):
        return _numbered(x)
    if all(isinstance(each, float | int) for each in x):
        return torch.tensor(x, dtype=torch.float64)
    if all(isinstance(each, Tensor) and each.numel() == 1 for each in x):
        return torch.stack([each.detach().reshape(()).double() for each in x])
    if all(isinstance(row, list) and row for row in x):
        numbers = [[each for each in row if isinstance(each, float | int)] for row in x]
        lengths = {len(row) for row in x} | {len(row) for row in numbers}
        if len(lengths) == 1:
            return torch.tensor(numbers)
    return None


def _numbered(x: list[Any]) -> Tensor:
    """Names or numbers as the numbers of their unequal members."""
    numbers: dict[str, int] = {}
    return torch.tensor([numbers.setdefault(str(each), len(numbers)) for each in x])


def _joined(pieces: list[dict[str, Any]], size: int) -> dict[str, Any]:
    """One batch of its pieces, each padded with 0 to the width of the widest."""
    found: dict[str, Any] = {}
    for name in pieces[0] if pieces else ():
        parts = [piece.get(name) for piece in pieces]
        if all(isinstance(x, list) for x in parts):
            found[name] = [each for x in parts if isinstance(x, list) for each in x]
        tensors = [x for x in parts if isinstance(x, Tensor) and not x.is_nested]
        if len(tensors) == len(parts) and {x.ndim for x in tensors} in ({1}, {2}):
            found[name] = _below_each_other(name, tensors, size)
    return found


def _below_each_other(name: str, parts: list[Tensor], size: int) -> Tensor:
    if any(x.layout != torch.strided or x.is_meta for x in parts):
        raise ValueError(f"{name} must be dense tensors")
    if parts[0].ndim == 2:
        width = max(x.shape[1] for x in parts)
        if width * sum(len(x) for x in parts) > size:
            raise ValueError(f"{name} must be of pieces about equally wide")
        parts = [_widened(name, x, width) for x in parts]
    return torch.cat(parts)


def _widened(name: str, x: Tensor, width: int) -> Tensor:
    blank = x.new_zeros(len(x), width - x.shape[1])
    if name in LEFT_PADDED:
        return torch.cat([blank, x], 1)
    return torch.cat([x, blank], 1)


def short(name: object) -> str:
    """The name of a dtype or a layout, without ``torch.``."""
    return str(name).removeprefix("torch.")


def kind_of(x: Tensor) -> str:
    """The form in which a tensor keeps its numbers: ``dense``, or another's name."""
    if x.is_meta:
        return "meta"
    if x.is_nested:
        return "nested"
    if x.is_quantized:
        return short(x.dtype)
    if x.layout == torch.strided:
        return "dense"
    return short(x.layout)


def require_dense(name: str, x: Tensor) -> None:
    """Refuse a tensor whose numbers are not all there, in rows of one length."""
    kind = kind_of(x)
    if kind == "nested":
        kind = f"nested: save {name}.to_padded_tensor(0)"
    if kind != "dense":
        raise ValueError(f"{name} must be a dense tensor, got {kind}")
