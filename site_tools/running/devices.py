"""On what a block runs: the one name ``device`` decides it."""

import re

CPU = "cpu"
# At module level, also in an interactive session.
DEVICE = re.compile(r'^(?P<start>(?:>>> )?device = )"cpu"(?=[ ]*(?:#.*)?$)', re.M)


def on_device(code: str, device: str) -> str:
    """The code of a block, for a device; its lines stay where they are.

    Example:
        >>> on_device('device = "cpu"  # or "cuda"', "cuda:1")
        'device = "cuda:1"  # or "cuda"'
    """
    return DEVICE.sub(rf'\g<start>"{device}"', code)


def follows(code: str) -> bool:
    """Whether a GPU is used if one is chosen; other code runs on the CPU anyway.

    Example:
        >>> follows('device = "cpu"'), follows("x = 1")
        (True, False)
    """
    return bool(DEVICE.search(code))


def kind(device: str) -> str:
    """The kind of a device, without its number.

    Example:
        >>> kind("cuda:1")
        'cuda'
    """
    return device.partition(":")[0]
