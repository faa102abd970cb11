"""What became of the mutants of each module: kept and committed, by module."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from site_tools.data.records import load as load_data
from site_tools.files import store

FILE = "docs/verified/mutation.json"
TABLE = "tests/mutation/modules.yml"


class Survivor(NamedTuple):
    """A mutant that no test noticed.

    Args:
        line: Of the module, from 1.
        change: That line before and after, as in ``a < b -> a <= b``.
        reason: Why no test could notice it, or that nobody has said so yet.
    """

    line: int
    change: str
    reason: str


@dataclass(frozen=True)
class Score:
    """What became of the mutants of one module.

    Args:
        commit: Of the sources, when they were tried.
        date: Of that day.
        tool: What made the mutants, and its release.
        rests_on: Hashes of the module and of its tests.
        killed: How many its tests noticed, those without end included.
        unusable: How many cannot even be imported; they are not counted.
        survivors: Those that nobody noticed.
    """

    commit: str
    date: str
    tool: str
    rests_on: Mapping[str, str]
    killed: int
    unusable: int
    survivors: tuple[Survivor, ...]

    @property
    def tried(self) -> int:
        """How many can be imported."""
        return self.killed + len(self.survivors)

    @property
    def share(self) -> float:
        """Of those tried, how many were killed; all, where there is nothing to try."""
        return self.killed / self.tried if self.tried else 1.0


def own_tests(root: Path) -> dict[str, list[str]]:
    """The files that judge the mutants of each module, from the table of a project.

    Raises:
        ValueError: naming the table, if it cannot be read.
    """
    found: dict[str, list[str]] = load_data((root / TABLE).read_text("utf-8"), TABLE)
    return found


def source(root: Path, module: str) -> Path:
    """The file of a module, which may lie in a folder, as in ``pretrained.actor``."""
    return root / "ppo_ref" / f"{module.replace('.', '/')}.py"


def rests_on(root: Path, module: str, tests: Iterable[str]) -> dict[str, str]:
    """Hashes of a module and of its own tests.

    What both import is left out: else one change would ask for all to be run again.
    """
    return {
        "module": _hash([source(root, module)]),
        "tests": _hash([root / test for test in tests]),
    }


def stale(root: Path, scores: Mapping[str, Score]) -> list[str]:
    """The modules that must be tried again, in the order of the table."""
    return [
        module
        for module, tests in own_tests(root).items()
        if module not in scores
        or scores[module].rests_on != rests_on(root, module, tests)
    ]


def load(root: Path) -> dict[str, Score]:
    """The scores of a project by module; none where there is no record.

    Raises:
        ValueError: naming the file, if it is no record.
    """
    try:
        raw = json.loads((root / FILE).read_text("utf-8"))
        return {module: _score(**fields) for module, fields in raw.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{FILE}: no record of mutation: {error}") from None


def save(root: Path, scores: Mapping[str, Score]) -> None:
    """Put the scores into the project, whole or not at all."""
    known = {module: asdict(score) for module, score in scores.items()}
    for module, score in scores.items():
        known[module]["survivors"] = [s._asdict() for s in score.survivors]
    text = json.dumps(known, indent=1, ensure_ascii=False) + "\n"
    store(root / FILE, text.encode())


def _score(*, survivors: Iterable[Mapping[str, str]], **fields: object) -> Score:
    found = tuple(Survivor(**survivor) for survivor in survivors)  # type: ignore[arg-type]
    return Score(**fields, survivors=found)  # type: ignore[arg-type]


def _hash(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes() if file.exists() else b"missing")
    return digest.hexdigest()[:16]
