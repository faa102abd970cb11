"""How well the pages notice: the score of a run, kept and committed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from site_tools.files import store
from site_tools.running.hashes import code_hash, package_hash

FILE = "docs/verified/mutants.json"
JUDGES = ("site_tools/checks", "site_tools/mutants", "tests/mutants")


class Score(NamedTuple):
    """Of one kind of mutants how many there are, were tried, and were noticed."""

    all: int
    tried: int
    noticed: int


@dataclass(frozen=True)
class Record:
    """What a run found.

    Args:
        commit: Of the sources.
        date: Of the run.
        rests_on: Hashes of what the score rests on, by name.
        scores: By kind of mutant.
        survivors: Those that nobody noticed, by kind, each with the reason.
    """

    commit: str
    date: str
    rests_on: Mapping[str, str]
    scores: Mapping[str, Score]
    survivors: Mapping[str, Mapping[str, str]]

    def changed(self, root: Path) -> list[str]:
        """What has changed since: some of the names in ``rests_on``."""
        now = rests_on(root)
        return [name for name in now if self.rests_on.get(name) != now[name]]


def rests_on(root: Path) -> dict[str, str]:
    """Hashes of the package, the pages, and the checks that judge them."""
    modules = [
        module
        for name in JUDGES
        for module in sorted((root / name).rglob("*.py"))
        if not module.name.startswith("test_")
    ]
    return {
        "package": package_hash(root / "ppo_ref"),
        "pages": _texts(root, ["docs/zh", "docs/en", "snippets"]),
        "checks": code_hash(root, modules),
    }


def _texts(root: Path, folders: list[str]) -> str:
    files = [f for name in folders for f in sorted((root / name).rglob("*.*"))]
    known = [f for f in files if f.suffix in (".md", ".py", ".svg")]
    named = {f.relative_to(root).as_posix(): f.read_text("utf-8") for f in known}
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:16]


def load(root: Path) -> Record | None:
    """The record of a project; None where there is none.

    Raises:
        ValueError: naming the file, if it is none.
    """
    try:
        raw = json.loads((root / FILE).read_text("utf-8"))
        scores = {kind: Score(**score) for kind, score in raw.pop("scores").items()}
        return Record(**raw, scores=scores)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{FILE}: no record of mutants: {error}") from None


def save(root: Path, record: Record) -> None:
    """Put a record into the project, whole or not at all."""
    known = asdict(record)
    known["scores"] = {k: score._asdict() for k, score in record.scores.items()}
    text = json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    store(root / FILE, text.encode())
