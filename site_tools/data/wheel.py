"""``ppo_ref`` as a wheel, made from its sources as they are now."""

import os
import re
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

PACKAGE = "ppo_ref"
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
VERSION = re.compile(r'(?m)^version = "([^"]+)"$')
BUILD = "from setuptools.build_meta import build_wheel; build_wheel('out')"
EPOCH = "315532800"  # the first date that a zip file knows


def wheel(root: Path, cache: Path) -> Path:
    """The wheel of the package, from the cache if its sources have not changed.

    Its version carries a hash of them, since pip leaves an equal version in place:
    who installs it a second time from the same address gets what is there now.

    Args:
        root: The project's folder.
        cache: A folder that keeps wheels between builds.

    Raises:
        ValueError: in one sentence, if it cannot be built.
    """
    try:
        sources = _sources(root)
        slot = cache / _hash(sources)
        if not any(slot.glob("*.whl")):
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                _build(Path(folder), sources, slot.name)
                _place(Path(folder, "out"), slot)
        return next(slot.glob("*.whl"))
    except OSError as error:
        raise ValueError(f"ppo_ref's wheel cannot be built: {error}") from None


def _sources(root: Path) -> dict[str, bytes]:
    """What goes into the wheel, by path; nothing else may change it."""
    package = [p for p in sorted((root / PACKAGE).rglob("*")) if p.is_file()]
    code = [path for path in package if path.suffix in (".py", ".typed")]
    if not code:
        raise ValueError(f"ppo_ref: its sources must lie in {PACKAGE}/, found none")
    files = [*code, *(root / name for name in BESIDE)]
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


def _hash(sources: dict[str, bytes]) -> str:
    parts = (part for name in sources for part in (name.encode(), sources[name]))
    return sha256(b"\0".join(parts)).hexdigest()[:8]


def _build(folder: Path, sources: dict[str, bytes], local: str) -> None:
    for name, content in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)  # the wheel keeps it, and the umask
    project = (folder / "pyproject.toml").read_text("utf-8")
    # A local version of digits alone would lose its zeros.
    project, count = VERSION.subn(rf'version = "\1+src{local}"', project)
    if count != 1:
        raise ValueError('pyproject.toml: one line must read version = "...", as 0.1.0')
    (folder / "pyproject.toml").write_text(project, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=folder,
        env=os.environ | {"SOURCE_DATE_EPOCH": EPOCH, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        errors="replace",
        umask=0o022,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise ValueError(f"ppo_ref's wheel cannot be built, setuptools says: {said}")


def _place(made: Path, slot: Path) -> None:
    """Put it in its place at once; the other language may have been faster."""
    try:
        made.rename(slot)
    except OSError:
        if not any(slot.glob("*.whl")):
            raise
