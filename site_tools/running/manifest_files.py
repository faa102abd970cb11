"""The manifests as files: one for each kind of device, never half-written."""

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from site_tools.ledger import store
from site_tools.running.manifest import Hashes, Manifest, Outcome, Setting, merge

LOCAL = ".cache/verified"
RECORD = "docs/verified/cuda.json"
TEXTS = ("package", "torch", "python", "device", "date", "commit")


def local(kind: str) -> str:
    """Where a run on a kind of device, ``cpu`` or ``cuda``, leaves its manifest."""
    return f"{LOCAL}/{kind}.json"


def dump(manifest: Manifest) -> str:
    """A manifest as text, in an order that does not change, a line for each page.

    Example:
        >>> setting = Setting("p", "2.13.0", "3.11.7")
        >>> made = Manifest(setting, "CPU", "2026-11-21", {"x.md": frozenset("ba")})
        >>> read(dump(made)) == made
        True
    """
    known: dict[str, Any] = asdict(manifest)
    flat = {**known.pop("setting"), **known}
    for name in ("passed", "failed"):
        flat[name] = {page: " ".join(sorted(h)) for page, h in flat[name].items()}
    filled = {name: value for name, value in flat.items() if value}
    return json.dumps(filled, indent=1, sort_keys=True) + "\n"


def read(text: str) -> Manifest:
    """A manifest from its text.

    Raises:
        ValueError: saying what is not as ``dump`` writes it.
    """
    raw = json.loads(text)
    if not isinstance(raw, dict):
        raise ValueError(f"must be an object, got {type(raw).__name__}")
    texts = [_text(name, raw.get(name, "")) for name in TEXTS]
    package, torch, python, device, date, commit = texts
    if missing := [
        name for name, text in zip(TEXTS[:5], texts, strict=False) if not text
    ]:
        raise ValueError(f"must have {', '.join(missing)}")
    passed, failed = (_hashes(name, raw.get(name, {})) for name in ("passed", "failed"))
    setting = Setting(package, torch, python)
    return Manifest(setting, device, date, passed, failed, commit)


def load(root: Path, name: str) -> Manifest | None:
    """The manifest in a file of the project; None where there is none.

    Raises:
        ValueError: naming the file, if it is no manifest.
    """
    try:
        return read((root / name).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{name}: no manifest of a verification: {error}") from None


def save(root: Path, name: str, manifest: Manifest) -> None:
    """Put a manifest into a file of the project, whole or not at all."""
    path, text = root / name, dump(manifest)
    if path.is_file() and path.read_bytes() == text.encode():
        return
    store(path, text.encode())


def update(
    root: Path, kind: str, setting: Setting, device: str, run: Mapping[str, Outcome]
) -> None:
    """Add what a run found to the manifest of its kind of device."""
    with _alone(root):
        merged = merge(_cached(root, kind), setting, device, run)
        save(root, local(kind), _of_existing_pages(root, merged))


def forget_failures(root: Path, kind: str) -> None:
    """Let what failed on a kind of device count as not yet tried."""
    with _alone(root):
        if known := _cached(root, kind):
            save(root, local(kind), replace(known, failed={}))


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    with (_cache(root) / "verified.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _cached(root: Path, kind: str) -> Manifest | None:
    """A cache that cannot be read went bad: it starts anew."""
    try:
        return load(root, local(kind))
    except ValueError:
        return None


def _cache(root: Path) -> Path:
    folder = root / ".cache"
    folder.mkdir(exist_ok=True)
    return folder


def _of_existing_pages(root: Path, manifest: Manifest) -> Manifest:
    passed, failed = (
        {page: h for page, h in hashes.items() if (root / page).is_file()}
        for hashes in (manifest.passed, manifest.failed)
    )
    return replace(manifest, passed=passed, failed=failed)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, got {value!r}")
    return value


def _hashes(name: str, pages: Any) -> Hashes:
    if not isinstance(pages, dict):
        raise ValueError(f"{name} must be an object, got {pages!r}")
    return {
        page: frozenset(_text(f"{name} of {page}", hashes).split())
        for page, hashes in pages.items()
    }
