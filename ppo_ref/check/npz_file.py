"""A file of ``numpy.savez`` from anybody: its arrays as tensors, without NumPy.

NumPy itself would make room for whatever size a header claims, and a header can name
objects, which are code. Here a header is read as plain words, and the numbers are what
the file holds.
"""

import ast
import struct
from typing import Any, BinaryIO
from zipfile import ZipFile

import torch

MAGIC = b"\x93NUMPY"
MOST_HEADER = 10_000  # bytes; NumPy's own limit
DTYPES = {
    "b1": torch.bool,
    "u1": torch.uint8,
    "i1": torch.int8,
    "i2": torch.int16,
    "i4": torch.int32,
    "i8": torch.int64,
    "f2": torch.float16,
    "f4": torch.float32,
    "f8": torch.float64,
}
# What reading a header raises where it is none.
NO_HEADER = (
    *(IndexError, KeyError, TypeError, SyntaxError),
    *(MemoryError, RecursionError, struct.error),
)
OBJECTS = "is an array of objects, which are code: save it as {name}.tolist(), or as \
{name}.astype(str)"


def is_npz(file: BinaryIO) -> bool:
    """Say if this zip file holds arrays of NumPy."""
    with ZipFile(file) as archive:
        names = archive.namelist()
    return bool(names) and all(name.endswith(".npy") for name in names)


def load_arrays(file: BinaryIO) -> dict[str, Any]:
    """Each array by its name: numbers as a tensor, a row of words as a list.

    What is no such array is a ValueError of one line.
    """
    size = file.seek(0, 2)
    found = {}
    with ZipFile(file) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > size:
            raise ValueError(
                f"it unpacks to {unpacked} bytes, more than its own {size}: use "
                "numpy.savez, which does not pack"
            )
        for member in archive.namelist():
            name = member.removesuffix(".npy")[:80]
            try:
                found[name] = _array(name, archive.read(member))
            except NO_HEADER:
                raise ValueError(f"{name} has no header of NumPy") from None
    return found


def _array(name: str, code: bytes) -> Any:
    """One array: its header, then its numbers in the order of C or of Fortran."""
    header, numbers = _split(code)
    try:
        said = ast.literal_eval(header.decode("latin-1").strip())
    except ValueError:
        raise TypeError from None
    kind, shape = str(said["descr"]), said["shape"]
    count = 1
    for length in shape:
        count *= length
    if kind.endswith("O"):
        raise ValueError(f"{name} {OBJECTS.format(name=name)}")
    if kind[:2] in ("<U", "|S") and len(shape) == 1:
        return _words(numbers, count)
    if kind[:1] not in "<|" or kind[1:] not in DTYPES:
        raise ValueError(f"{name} must hold numbers, got dtype {kind[:20]}")
    dtype = DTYPES[kind[1:]]
    if min(shape, default=1) < 1 or count * dtype.itemsize != len(numbers):
        raise ValueError(f"{name} is empty, or holds other bytes than its shape says")
    flat = torch.frombuffer(bytearray(numbers), dtype=dtype)
    if said["fortran_order"]:
        back = flat.reshape(shape[::-1])
        return back.permute(*reversed(range(len(shape)))).contiguous()
    return flat.reshape(shape)


def _split(code: bytes) -> tuple[bytes, bytes]:
    """The header of an array, and what lies behind it."""
    if not code.startswith(MAGIC):
        raise TypeError
    start, form = (10, "<H") if code[6] == 1 else (12, "<I")
    (length,) = struct.unpack(form, code[8:start])
    if length > MOST_HEADER:
        raise TypeError
    return code[start : start + length], code[start + length :]


def _words(numbers: bytes, count: int) -> list[str]:
    """A row of words of one width, each as it lies there."""
    width = len(numbers) // max(count, 1)
    return [numbers[n * width : (n + 1) * width].hex() for n in range(count)]
