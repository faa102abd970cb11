"""Where and with what the figures were made."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]


def machine(device: str) -> dict[str, str | int]:
    """The processor, its cores, the threads torch uses, and the GPU if it ran there."""
    gpu = torch.cuda.get_device_name() if device == "cuda" else ""
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "PyTorch's threads": torch.get_num_threads(),
        "GPU": gpu,
    }


def processor(info: Path = Path("/proc/cpuinfo")) -> str:
    """The model's name, or at least the kind of machine."""
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return named[0] if named else platform.processor() or platform.machine()


def settle() -> None:
    """Bring the C library's allocator into the state it has in a training process.

    Once glibc has seen a large block freed, it keeps freed memory; until then each new
    tensor of some 100 KB costs page faults, and more than what is computed in it.
    """
    torch.empty(31 << 20, dtype=torch.uint8)


def versions(peers: dict[str, str]) -> dict[str, str]:
    """Of Python, of what computes, and of the peers that took part."""
    computes = {name: metadata.version(name) for name in ("torch", "numpy")}
    return {"python": platform.python_version(), **computes, **peers}


def commit(root: Path = ROOT) -> tuple[str, bool]:
    """The commit of the sources, and whether they differ from it.

    An archive has no commit: then it is "" and they do.
    """
    try:
        return _git(root, "rev-parse", "HEAD"), bool(_git(root, "status", "--short"))
    except (OSError, subprocess.CalledProcessError):
        return "", True


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return run.stdout.strip()
