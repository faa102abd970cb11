"""What a dump holds, under the names of verl 0.3 to 0.9.1."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.asserts.rounding import TOLERANCE
from ppo_ref.contracts.checks import require_finite, require_tokens

# Ours, then theirs in the order in which they are looked for.
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
_FINEST = 1e-6  # whitening adds 1e-8 to a deviation or a variance
NEEDED = ("values", "advantages", "returns", "scores", "rewards")


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
    """The fields of a dump, checked.

    Args:
        tensors: By the names of verl.

    Returns:
        The fields; ``attention_mask`` is that of the response.

    Raises:
        ValueError: in one sentence, if one is missing, has another shape, is not what
            it should be, or is not finite where it counts.

    Example:
        >>> fields({"values": torch.zeros(1, 2)})
        Traceback (most recent call last):
        ValueError: a dump must hold advantages, got values
    """
    for name in NEEDED:
        if not any(theirs in tensors for theirs in NAMES[name]):
            wanted = " or ".join(NAMES[name])
            got = ", ".join(sorted(tensors)) or "nothing"
            raise ValueError(f"a dump must hold {wanted}, got {got}")
    shape = tensors["values"].shape
    if len(shape) != 2:
        raise ValueError(f"values must have 2 axes [batch, time], got {list(shape)}")
    found = {name: _first(tensors, name) for name in NAMES}
    given, attention = _masks(tensors, shape)
    mask = given.bool()
    require_tokens("check", mask)
    require_finite("check", mask, **found)
    prompts = tensors.get("prompts")
    if prompts is None and "input_ids" in tensors:
        prompts = tensors["input_ids"][:, : -shape[1]]
    dtypes = [tensors[name].dtype for name in ("values", "advantages", "returns")]
    wide = {name: None if x is None else x.double() for name, x in found.items()}
    return Fields(
        response_mask=mask,
        mask_dtype=str(given.dtype).removeprefix("torch."),
        attention_mask=attention,
        responses=tensors.get("responses"),
        prompts=prompts,
        tolerance=max(_FINEST, *(TOLERANCE[dtype] for dtype in dtypes)),
        **wide,  # type: ignore[arg-type]
    )


def _first(tensors: dict[str, Tensor], name: str) -> Tensor | None:
    """The first of the names under which a tensor may go."""
    theirs = next((n for n in NAMES[name] if n in tensors), None)
    if theirs is None:
        return None
    x, like = tensors[theirs], tensors["values"]
    if x.shape != like.shape:
        raise ValueError(
            f"{theirs} must have shape [batch, time] = {list(like.shape)} like values, "
            f"got {list(x.shape)}"
        )
    if x.dtype not in TOLERANCE:
        came = str(x.dtype).removeprefix("torch.")
        raise ValueError(f"{theirs} must be a floating-point tensor, got {came}")
    return x


def _masks(
    tensors: dict[str, Tensor], shape: torch.Size
) -> tuple[Tensor, Tensor | None]:
    attention = tensors.get("attention_mask")
    if attention is not None:
        attention = attention[:, -shape[1] :]
    given = tensors.get("response_mask", attention)
    if given is None:
        got = ", ".join(sorted(tensors))
        raise ValueError(f"a dump must hold response_mask or attention_mask, got {got}")
    for mask in (given, attention):
        if mask is not None and mask.shape != shape:
            raise ValueError(
                f"the mask must have shape [batch, time] = {list(shape)} like values, "
                f"got {list(mask.shape)}"
            )
    odd = (given != 0) & (given != 1)
    if odd.any():
        place = odd.nonzero()[0].tolist()
        came = given[tuple(place)].item()
        raise ValueError(f"the mask must hold 0 and 1 only, got {came} at {place}")
    return given, None if attention is None else attention.bool()
