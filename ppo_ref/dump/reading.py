"""A dump as a dict of tensors; nothing in the file is executed."""

import pickle
from pathlib import Path

import torch
from torch import Tensor

WRITE = 'torch.save(dict(batch.batch.items()), "dump.pt")'
REMEDY = f"write it in your trainer, behind compute_advantage, by {WRITE}"


def read(path: Path | str) -> dict[str, Tensor]:
    """The tensors of a dump, on the CPU.

    Args:
        path: Of a file that ``torch.save`` wrote, holding a plain dict of tensors.

    Returns:
        The tensors by name; whatever else the dict holds is left out.

    Raises:
        ValueError: in one sentence, if there is no such file, or it is something else:
            a pickled DataProto would have to be executed, and is not.

    Example:
        >>> read("nowhere.pt")
        Traceback (most recent call last):
        ValueError: nowhere.pt: no such file
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}")
    with path.open("rb") as file:
        start = file.read(4096)
    if start[:2] != b"PK":  # what torch.save writes is a zip file
        pickled = "a pickle, which is code" if start[:1] == b"\x80" else "no dump"
        raise ValueError(f"{path}: {_named(start) or pickled}; {REMEDY}")
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        what = _named(start) or "it holds objects beside tensors, which are code"
        raise ValueError(f"{path}: {what}; {REMEDY}") from None
    except (RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        said = str(error).splitlines()[0][:80]
        raise ValueError(f"{path}: cut short or no dump ({said}); {REMEDY}") from None
    if not isinstance(held, dict):
        came = type(held).__name__
        raise ValueError(
            f"{path}: must hold a dict of tensors, holds a {came}; {REMEDY}"
        )
    return {str(name): x for name, x in held.items() if isinstance(x, Tensor)}


def _named(start: bytes) -> str:
    for name in ("DataProto", "tensordict"):
        if name.encode() in start:
            what = name.replace("tensordict", "TensorDict")
            return f"a pickled {what}, which only its own code can open"
    return ""
