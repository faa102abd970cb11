"""Which blocks have been verified, and with what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from site_tools.running.hashes import package_hash

Hashes = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Setting:
    """With what blocks ran: where one of these differs, nothing is verified.

    Args:
        package: Hash of ``ppo_ref``.
        torch: Its version.
        python: Its version.
    """

    package: str
    torch: str
    python: str


@dataclass(frozen=True)
class Manifest:
    """The blocks that passed and those that failed, by page.

    Args:
        setting: With what they ran.
        device: On what, as in ``CPU`` or the name of a GPU.
        date: When the last of them ran.
        passed: Hashes of blocks by the path of their page.
        failed: The same of blocks that need not be tried again.
        commit: Of the sources, in a record that is committed.
    """

    setting: Setting
    device: str
    date: str
    passed: Hashes = field(default_factory=dict)
    failed: Hashes = field(default_factory=dict)
    commit: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a run says of one page: hashes of all its blocks, and how they ended."""

    blocks: frozenset[str]
    passed: frozenset[str]
    failed: frozenset[str]


def setting(root: Path) -> Setting:
    """The setting of this process, for the package of the project at ``root``."""
    return Setting(package_hash(root / "ppo_ref"), version("torch"), python_version())


def merge(
    old: Manifest | None,
    setting: Setting,
    device: str,
    outcomes: Mapping[str, Outcome],
) -> Manifest:
    """What holds after a run; pages that it left out stay, if their setting is equal.

    Example:
        >>> setting, failed = Setting("p", "2", "3"), frozenset("a")
        >>> first = Outcome(frozenset("ab"), frozenset("ab"), frozenset())
        >>> merged = merge(None, setting, "CPU", {"x.md": first})
        >>> second = Outcome(frozenset("ab"), frozenset(), frozenset("a"))
        >>> merge(merged, setting, "CPU", {"x.md": second}).passed
        {'x.md': frozenset({'b'})}
    """
    keep = old if old and (old.setting, old.device) == (setting, device) else None
    passed, failed = (dict(keep.passed), dict(keep.failed)) if keep else ({}, {})
    none: frozenset[str] = frozenset()
    for page, run in outcomes.items():
        passed[page] = run.passed | (passed.get(page, none) & run.blocks - run.failed)
        failed[page] = run.failed | (failed.get(page, none) & run.blocks - run.passed)
    today = date.today().isoformat()
    return Manifest(setting, device, today, _filled(passed), _filled(failed))


def _filled(pages: Hashes) -> Hashes:
    return {page: hashes for page, hashes in pages.items() if hashes}
