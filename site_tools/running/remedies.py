"""What to do about a block that reached a limit, or for what is out of its reach."""

from site_tools.confinement import guard, limits
from site_tools.running.model import UNSEEDED, Failure

GIB, MIB = limits.MEMORY >> 30, limits.FOLDER >> 20
BY_TYPE = {
    "TimeLimit": "make it smaller, or store a long run in ppo_ref",
    "MemoryLimit": f"use smaller tensors; a block has {GIB} GiB",
    "FileLimit": f"write less; a file has {limits.FILE >> 20} MiB, a page {MIB}",
    "OutputLimit": "print and draw less; readers see every line",
    "NoResult": "leave the open files of the process alone, print instead",
    UNSEEDED: "begin the block with a seed, as in torch.manual_seed(0)",
    "ProcessEnded": "let the block end by itself, with neither exit nor abort",
}
BY_WORDS = {
    guard.NETWORK: "write what it would fetch into the block",
    guard.PROCESSES: "do it in Python, in the block itself",
    guard.SIGNALS: "leave other processes alone",
    guard.WRITING.format(""): "write into the current folder",
    guard.READING.format(""): "write what it would read into the block",
    "Permission denied": "use the block's own folder, and no file of this machine",
    "not permitted": "leave it out: a block reaches nothing but its own folder",
    "prints over": "print less; readers see every line",
}


def remedy(failure: Failure) -> str | None:
    """What to do about a failure, if a limit is behind it.

    Example:
        >>> remedy(Failure("URLError", "<the network is cut off from a block>", ()))
        'write what it would fetch into the block'
        >>> remedy(Failure("KeyError", "'x'", ()))
    """
    if failure.type in BY_TYPE:
        return BY_TYPE[failure.type]
    said = failure.message
    return next((told for words, told in BY_WORDS.items() if words in said), None)
