"""A dump: a file of tensors, read without running code, as fields in float64."""

import pickle
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.asserts.faults import TOLERANCE
from ppo_ref.contracts.checks import require_finite, require_tokens

WRITE = 'torch.save(dict(batch.batch.items()), "dump.pt")'
REMEDY = f"write it in your trainer, behind compute_advantage, by {WRITE}"
# Our names, then those of verl 0.3 to 0.9.1 in the order in which they are looked for.
NAMES = {
    "values": ("values",),
    "advantages": ("advantages",),
    "returns": ("returns",),
    "scores": ("token_level_scores", "rm_scores", "token_level_rewards"),
    "rewards": ("token_level_rewards", "token_level_scores", "rm_scores"),
    "old_log_probs": ("old_log_probs",),
    "ref_log_probs": ("ref_log_prob", "ref_log_probs"),
    "rollout_log_probs": ("rollout_log_probs",),
}
REQUIRED = ("values", "advantages", "returns", "scores", "rewards")
_FINEST = 1e-6  # whitening adds 1e-8 to a deviation or a variance


def read(path: Path | str) -> dict[str, Tensor]:
    """The tensors that ``torch.save`` wrote as a dict, on the CPU, by name.

    Any other file is refused in one sentence: a pickled DataProto would have to be
    executed, and is not.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}")
    with path.open("rb") as file:
        start = file.read(4096)
    if start[:2] != b"PK":  # what torch.save writes is a zip file
        kind = "a pickle, which is code" if start[:1] == b"\x80" else "no dump"
        raise ValueError(f"{path}: {_class_name(start) or kind}; {REMEDY}")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        kind = _class_name(start) or "it holds objects beside tensors, which are code"
        raise ValueError(f"{path}: {kind}; {REMEDY}") from None
    except (RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        line = str(error).splitlines()[0][:80]
        raise ValueError(f"{path}: cut short or no dump ({line}); {REMEDY}") from None
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise ValueError(
            f"{path}: must hold a dict of tensors, holds a {kind}; {REMEDY}"
        )
    return {str(name): x for name, x in content.items() if isinstance(x, Tensor)}


class Fields(NamedTuple):
    """A dump in float64, its masks as bools; what may be missing is None."""

    response_mask: Tensor
    mask_dtype: str
    attention_mask: Tensor | None
    responses: Tensor | None
    prompts: Tensor | None
    values: Tensor
    advantages: Tensor
    returns: Tensor
    scores: Tensor
    rewards: Tensor
    old_log_probs: Tensor | None
    ref_log_probs: Tensor | None
    rollout_log_probs: Tensor | None
    tolerance: float


def fields(tensors: dict[str, Tensor]) -> Fields:
    """The fields of a dump, checked; ``attention_mask`` is that of the response."""
    for name in REQUIRED:
        if not any(theirs in tensors for theirs in NAMES[name]):
            names = ", ".join(sorted(tensors)) or "nothing"
            raise ValueError(
                f"a dump must hold {' or '.join(NAMES[name])}, got {names}"
            )
    shape = tensors["values"].shape
    if len(shape) != 2:
        raise ValueError(f"values must have 2 axes [batch, time], got {list(shape)}")
    numbers = {name: _numbers(tensors, name) for name in NAMES}
    response_mask, attention_mask = _masks(tensors, shape)
    mask = response_mask.bool()
    require_tokens("check", mask)
    require_finite("check", mask, **numbers)
    prompts = tensors.get("prompts")
    if prompts is None and "input_ids" in tensors:
        prompts = tensors["input_ids"][:, : -shape[1]]
    dtypes = [tensors[name].dtype for name in ("values", "advantages", "returns")]
    wide = {name: None if x is None else x.double() for name, x in numbers.items()}
    return Fields(
        response_mask=mask,
        mask_dtype=str(response_mask.dtype).removeprefix("torch."),
        attention_mask=attention_mask,
        responses=tensors.get("responses"),
        prompts=prompts,
        tolerance=max(_FINEST, *(TOLERANCE[dtype] for dtype in dtypes)),
        **wide,  # type: ignore[arg-type]
    )


def _class_name(start: bytes) -> str:
    for name, shown in (("DataProto", "DataProto"), ("tensordict", "TensorDict")):
        if name.encode() in start:
            return f"a pickled {shown}, which only its own code can open"
    return ""


def _numbers(tensors: dict[str, Tensor], name: str) -> Tensor | None:
    """The tensor under the first of its names that the dump has."""
    theirs = next((theirs for theirs in NAMES[name] if theirs in tensors), None)
    if theirs is None:
        return None
    x, like = tensors[theirs], tensors["values"]
    if x.shape != like.shape:
        raise ValueError(
            f"{theirs} must have shape [batch, time] = {list(like.shape)} like values, "
            f"got {list(x.shape)}"
        )
    if x.dtype not in TOLERANCE:
        dtype = str(x.dtype).removeprefix("torch.")
        raise ValueError(f"{theirs} must be a floating-point tensor, got {dtype}")
    return x


def _masks(
    tensors: dict[str, Tensor], shape: torch.Size
) -> tuple[Tensor, Tensor | None]:
    """The response mask as it is dumped, and the attention mask of the response."""
    attention = tensors.get("attention_mask")
    if attention is not None:
        attention = attention[:, -shape[1] :]
    response = tensors.get("response_mask", attention)
    if response is None:
        names = ", ".join(sorted(tensors))
        raise ValueError(
            f"a dump must hold response_mask or attention_mask, got {names}"
        )
    for mask in (response, attention):
        if mask is not None and mask.shape != shape:
            raise ValueError(
                f"the mask must have shape [batch, time] = {list(shape)} like values, "
                f"got {list(mask.shape)}"
            )
    odd = (response != 0) & (response != 1)
    if odd.any():
        place = odd.nonzero()[0].tolist()
        raise ValueError(
            "the mask must hold 0 and 1 only, got "
            f"{response[tuple(place)].item()} at {place}"
        )
    return response, None if attention is None else attention.bool()
