"""A file of ``torch.save`` from anybody: what it holds, with no code run.

Its sizes are looked at first. A small file can ask for terabytes: packed, as a view
that repeats one number, or as tuples of tuples that Python would walk through for ever.
"""

import pickle
import pickletools
import warnings
from collections.abc import Iterator
from typing import Any, BinaryIO
from zipfile import ZipFile

import torch
from torch import Tensor

MOST_NESTED = 100  # containers within containers; deeper ones crash Python's hash
MOST_REPEATED = 10  # times its length, counted with what a pickle repeats
LONGEST = 80  # characters of another library's reason
# Steps of a pickle: what names something again, remembers it, puts others into it, can
# be filled, and everything else that stands alone.
NAMES_AGAIN = {"BINGET", "LONG_BINGET", "GET"}
REMEMBERS = {"BINPUT", "LONG_BINPUT", "PUT", "MEMOIZE"}
FILLS = {"APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS"}
EMPTY = {"EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET"}
ALONE = {step.name for step in pickletools.opcodes if not step.stack_before}
ALONE -= {"MARK", "PROTO", "FRAME", *NAMES_AGAIN, *REMEMBERS, *EMPTY}
LEAF = (0, 1)
# What stands in any file of tensors.
PLAIN = ("_rebuild_tensor_v2", "Storage", "OrderedDict", "_codecs.encode")


def load_tensors(file: BinaryIO) -> Any:
    """The content of the file, on the CPU; a tensor has at most its bytes as elements.

    Whatever its content raises becomes a ValueError of one line, and an
    ``UnpicklingError`` where it holds more than tensors and plain containers.
    """
    try:
        size = file.seek(0, 2)
        with ZipFile(file) as archive:
            _require_bounded(archive, size)
        file.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a file's own protocol, and the like
            content = torch.load(file, map_location="cpu", weights_only=True)
        _require_small(content, size)
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # torch has many names for what it cannot read
        line = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(line[:LONGEST]) from None
    return content


def classes_of(file: BinaryIO) -> list[str]:
    """The names that the pickle of such a file asks Python for; nothing is executed."""
    asked: dict[str, None] = {}
    with ZipFile(file) as archive:
        for name in archive.namelist():
            if name.endswith("data.pkl"):
                words: list[str] = []
                for step, argument, _ in pickletools.genops(archive.read(name)):
                    if step.name == "GLOBAL":
                        asked[str(argument).replace(" ", ".")] = None
                    elif step.name == "STACK_GLOBAL":
                        asked[".".join(words[-2:])] = None
                    elif isinstance(argument, str):
                        words.append(argument)
    return [name for name in asked if not name.endswith(PLAIN)]


def _require_bounded(archive: ZipFile, size: int) -> None:
    """Refuse what is packed, and a pickle that is deeper or longer than it looks."""
    unpacked = sum(info.file_size for info in archive.infolist())
    if unpacked > size:
        raise ValueError(f"it unpacks to {unpacked} bytes, more than its own {size}")
    for name in archive.namelist():
        if name.endswith("data.pkl"):
            code = archive.read(name)
            work = 0
            for nested, length in _containers(code):
                work += length
                if nested > MOST_NESTED or work > MOST_REPEATED * len(code):
                    raise ValueError("its pickle is nested or repeated without end")


def _containers(code: bytes) -> Iterator[tuple[int, int]]:
    """The depth and the length of what each step of a pickle puts into another.

    The steps are those of ``pickletools``; what is remembered, and then named again,
    counts each time, as it does when a key is hashed.
    """
    # Depth and length of each, None for a mark.
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    for step, argument, _ in pickletools.genops(code):
        name = step.name
        if name in ALONE:
            stack.append(LEAF)
        elif name in EMPTY:
            stack.append([*LEAF])
        elif name in NAMES_AGAIN:
            stack.append(memo[argument])
        elif name in REMEMBERS:
            memo[len(memo) if argument is None else argument] = stack[-1]
        elif name == "MARK":
            stack.append(None)
        elif step.stack_before:
            put = _taken_off(stack, step)
            into = [*LEAF]
            if name in FILLS:
                into = stack.pop()
            length = 0
            for depth, size in put:
                into[0] = max(into[0], 1 + depth)
                length += size
            into[1] += length
            stack += [into] * len(step.stack_after)
            yield into[0], length


def _taken_off(stack: list[Any], step: Any) -> list[Any]:
    """Take off the stack everything that a step of a pickle puts into another."""
    taken = []
    count = len(step.stack_before)
    if pickletools.markobject in step.stack_before:
        count = step.stack_before.index(pickletools.markobject)
        top = stack.pop()
        while top is not None:
            taken.append(top)
            top = stack.pop()
    if step.name in FILLS:
        count -= 1  # what is filled
    for _ in range(count):
        taken.append(stack.pop())
    return taken


def _require_small(content: Any, size: int) -> None:
    """Refuse a tensor that has more elements than its file has bytes."""
    rest, seen = [("it", content)], set()
    while rest:
        name, x = rest.pop()
        if isinstance(x, Tensor) and x.layout == torch.strided and not x.is_nested:
            if max(x.numel(), *x.shape, 0) > size:
                raise ValueError(
                    f"{name[:LONGEST]} must have at most an element per byte of the "
                    f"file, {size}, got shape {list(x.shape)}"
                )
        elif isinstance(x, dict | list | tuple | set) and id(x) not in seen:
            seen.add(id(x))
            pairs = x.items() if isinstance(x, dict) else ((name, each) for each in x)
            rest += [(str(each), value) for each, value in pairs]
