"""A dump: a file of tensors, read without running code, as fields in float64."""

import pickle
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple
from zipfile import BadZipFile

import torch
from torch import Tensor

from ppo_ref.check.asserts.faults import TOLERANCE, counted, shown
from ppo_ref.check.dump import trainers
from ppo_ref.check.dump.contents import batch_of, require_dense, short
from ppo_ref.check.dump.trainers import VERL, Trainer
from ppo_ref.check.npz_file import is_npz, load_arrays
from ppo_ref.check.tensor_file import classes_of, load_tensors
from ppo_ref.require import require_tokens

REMEDY = "the lines that dump a batch of verl, TRL or OpenRLHF: ppo_ref check --help"
# Our names, then those of verl 0.3 to 0.9.1 in the order in which they are looked for.
NAMES = {
    "values": ("values",),
    "advantages": ("advantages",),
    "returns": ("returns",),
    "scores": ("token_level_scores", "rm_scores"),
    "rewards": ("token_level_rewards",),
    "old_log_probs": ("old_log_probs",),
    "ref_log_probs": ("ref_log_prob", "ref_log_probs"),
    "rollout_log_probs": ("rollout_log_probs",),
}
_MASKS = ("response_mask", "attention_mask")
_IDS = ("responses", "prompts", "input_ids")
_FINEST = 1e-6  # whitening adds 1e-8 to a deviation or a variance
# Of what a pickle asks for, what it is called and what to save in its place.
_KINDS = (
    ("DataProto", "a pickled DataProto, which only its own code can open"),
    ("tensordict", "a pickled TensorDict, which only its own code can open"),
    ("nested", "it holds nested tensors: save x.to_padded_tensor(0) of each"),
    ("numpy", "it holds NumPy arrays: save x.tolist() of each, as of uid"),
)


def read(path: Path | str) -> dict[str, Tensor]:
    """The tensors of a file by ``torch.save`` or ``numpy.savez``, on the CPU, by name.

    A list of ids, as ``uid`` is one, becomes a tensor of numbers; a list of batches
    becomes one batch. Any other file is refused in one sentence: a pickled DataProto
    would have to be executed, and is not.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}")
    with path.open("rb") as file:
        start = file.read(4096)
        try:
            if start[:2] != b"PK":  # what torch.save writes is a zip file
                kind = "no dump"
                if start[:1] == b"\x80":
                    kind = _kind(start.decode("latin-1"), "a pickle, which is code")
                raise ValueError(kind)
            if is_npz(file):
                content: Any = load_arrays(file)
            else:
                content = load_tensors(file)
            return batch_of(content, path.stat().st_size)
        except pickle.UnpicklingError:
            classes = " ".join(classes_of(file))
            objects = f"it holds objects beside tensors, which are code: {classes}"
            kind = shorten(_kind(classes, objects), 200, placeholder=" ...")
        except BadZipFile as error:
            kind = f"cut short or no dump ({error})"
        except ValueError as error:
            kind = str(error)
    raise ValueError(f"{path}: {kind}; {REMEDY}")


def _kind(names: str, other: str) -> str:
    """The kind of a pickle that asks for these classes."""
    for name, kind in _KINDS:
        if name in names:
            return kind
    return other


class Fields(NamedTuple):
    """A dump in float64, its masks as bools; what is missing is None.

    ``attended`` is True where the response has a token at all, whoever wrote it.
    ``unfit`` says of a tensor with nan or infinity where it is; that one is None.
    """

    response_mask: Tensor
    attended: Tensor | None
    responses: Tensor | None
    prompts: Tensor | None
    uid: Tensor | None
    tolerances: dict[str, float]
    unfit: dict[str, str]
    trainer: Trainer = VERL
    scores_by_row: bool = False
    unscored: Tensor | None = None
    row_kl: Tensor | None = None
    row_returns: Tensor | None = None
    ratio: Tensor | None = None
    values: Tensor | None = None
    advantages: Tensor | None = None
    returns: Tensor | None = None
    scores: Tensor | None = None
    rewards: Tensor | None = None
    old_log_probs: Tensor | None = None
    ref_log_probs: Tensor | None = None
    rollout_log_probs: Tensor | None = None

    @property
    def tokens(self) -> int:
        return int(self.response_mask.sum())

    @property
    def seen(self) -> str:
        """Whose names were read, and how much there is."""
        mask = self.response_mask
        rows = counted(len(mask), "row")
        slots, tokens = counted(mask.shape[1], "slot"), counted(self.tokens, "token")
        return f"names of {self.trainer.name}; {rows} of {slots}, {tokens} count"

    def tolerance(self, *names: str) -> float:
        """The rounding of the coarsest dtype among these fields."""
        return max(self.tolerances.get(name, _FINEST) for name in names)

    @property
    def given(self) -> Tensor | None:
        """The rewards of the advantages; the scores where there are no others."""
        if self.rewards is None and "rewards" not in self.unfit:
            return self.scores
        return self.rewards

    def lacks(self, *names: str) -> str:
        """Why a check is left out: the first of these that is missing; or nothing."""
        for name in names:
            if getattr(self, name) is None:
                name = "rewards" if name == "given" else name
                theirs = NAMES.get(name, (name,))[0]
                if name in self.unfit:
                    return f"{theirs} is not finite"
                how = self.trainer.how.get(theirs)
                return f"no {theirs} in the dump" + (f": {how}" if how else "")
        return ""


def fields(tensors: dict[str, Tensor]) -> Fields:
    """The fields of a dump, their shapes and types checked."""
    batch = trainers.renamed(tensors)
    try:
        return _fields(batch)
    except ValueError as error:
        raise ValueError(trainers.said(batch.trainer, str(error))) from None


def _fields(batch: trainers.Batch) -> Fields:
    tensors = batch.tensors
    there = shorten(", ".join(sorted(tensors)) or "nothing", 200, placeholder=" ...")
    names = _names_in(tensors)
    if not names:
        raise ValueError(
            f"a dump must hold advantages, returns or the like, got {there}; {REMEDY}"
        )
    shape, like = _require_shapes(tensors, names)
    attended = _attended(tensors, shape, like)
    mask = tensors.get("response_mask", attended)
    if mask is None:
        raise ValueError(
            f"a dump must hold response_mask or attention_mask, got {there}"
        )
    _require_shape("response_mask", mask, shape, like)
    mask = mask.bool()
    require_tokens("check", mask)
    fit: dict[str, Tensor] = {}
    unfit: dict[str, str] = {}
    tolerances = {}
    for ours, theirs in names.items():
        x = tensors[theirs]
        tolerances[ours] = max(_FINEST, TOLERANCE[x.dtype])
        wrong = mask & ~x.isfinite()
        if wrong.any():
            unfit[ours] = shown(theirs, x, wrong, "")
            if theirs in batch.by_row:
                row = int(wrong.any(1).nonzero()[0])
                number = x[row][wrong[row]][0]
                unfit[ours] = f"{theirs}[{row}] is {float(number)}"
        else:
            fit[ours] = x.double()
    prompts = tensors.get("prompts")
    if prompts is None and "input_ids" in tensors:
        prompts = tensors["input_ids"][:, : -shape[1]]
    return Fields(
        response_mask=mask,
        attended=attended if "response_mask" in tensors else None,
        responses=_of_response(tensors.get("responses"), tensors, shape),
        prompts=prompts,
        uid=tensors.get("uid"),
        tolerances=tolerances,
        unfit=unfit,
        trainer=batch.trainer,
        scores_by_row="token_level_scores" in batch.by_row,
        unscored=batch.unscored,
        row_kl=batch.row_kl,
        row_returns=tensors.get("info.return"),
        ratio=tensors.get("importance_sampling_ratio"),
        **fit,
    )


def _names_in(tensors: dict[str, Tensor]) -> dict[str, str]:
    """The names in a dump by our own, of each the first that verl had for it."""
    found = {}
    for ours, names in NAMES.items():
        there = [theirs for theirs in names if theirs in tensors]
        if there:
            found[ours] = there[0]
    return found


def _require_shapes(
    tensors: dict[str, Tensor], names: dict[str, str]
) -> tuple[torch.Size, str]:
    """Refuse tensors that are no batch together; the shape, and whose it is."""
    for theirs in sorted(tensors.keys() & {*names.values(), *_MASKS, *_IDS, "uid"}):
        _require_plain(theirs, tensors[theirs])
    like = next(iter(names.values()))
    shape = tensors[like].shape
    if len(shape) != 2:
        raise ValueError(f"{like} must have 2 axes [batch, time], got {list(shape)}")
    for theirs in names.values():
        _require_shape(theirs, tensors[theirs], shape, like)
        if tensors[theirs].dtype not in TOLERANCE:
            dtype = short(tensors[theirs].dtype)
            raise ValueError(f"{theirs} must be a floating-point tensor, got {dtype}")
    for theirs in sorted(tensors.keys() & {*_MASKS, *_IDS}):
        x = tensors[theirs]
        if x.ndim != 2 or len(x) != shape[0]:
            raise ValueError(
                f"{theirs} must have {shape[0]} rows and 2 axes, got {list(x.shape)}"
            )
    uid = tensors.get("uid")
    if uid is not None and uid.shape != shape[:1]:
        raise ValueError(f"uid must name {shape[0]} rows, got {list(uid.shape)}")
    return shape, like


def _require_plain(name: str, x: Tensor) -> None:
    """Numbers that are all there; 0 and 1 in a mask, whole ones as ids."""
    dtype = short(x.dtype)
    require_dense(name, x)
    if name in _IDS and (x.is_floating_point() or x.is_complex()):
        raise ValueError(f"{name} must hold ids, got {dtype}")
    if name in _MASKS:
        got: Any = dtype
        if not x.is_complex():
            odd = (x != 0) & (x != 1)
            if not odd.any():
                return
            at = tuple(int(place) for place in odd.nonzero()[0])
            got = f"{x[at].item()} at {list(at)}"
        raise ValueError(f"{name} must hold 0 and 1, got {got}")


def _require_shape(name: str, x: Tensor, shape: torch.Size, like: str) -> None:
    if x.shape != shape:
        raise ValueError(
            f"{name} must have shape [batch, time] = {list(shape)} like {like}, "
            f"got {list(x.shape)}"
        )


def _attended(
    tensors: dict[str, Tensor], shape: torch.Size, like: str
) -> Tensor | None:
    """True where a response has a token: by attention mask, or ids padded with -1."""
    attention = tensors.get("attention_mask")
    if attention is not None:
        attention = attention[:, -shape[1] :].bool()
        _require_shape("attention_mask", attention, shape, like)
    responses = tensors.get("responses")
    if attention is None and responses is not None and (responses < 0).any():
        attention = responses >= 0
    return None if attention is None else _of_response(attention, tensors, shape)


def _of_response(
    x: Tensor | None, tensors: dict[str, Tensor], shape: torch.Size
) -> Tensor | None:
    """Of prompt and response, where that is what a row holds, nothing of the prompt."""
    prompts = tensors.get("prompts")
    before = 0 if prompts is None else prompts.shape[1]
    responses = tensors.get("responses")
    width = shape[1] if responses is None else responses.shape[1]
    if x is None or before + width != shape[1]:
        return x if x is None or x.shape == shape else None
    blank = torch.full((shape[0], before), 0 if x.dtype == torch.bool else -1)
    return torch.cat([blank.to(x.dtype), x[:, -width:]], 1)
