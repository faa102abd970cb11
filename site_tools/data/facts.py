"""Framework facts: the line of a release that says it, held by a hash of that line.

A file of docs/facts is one concept: its title in both languages, and a list of entries,
each one place in one release; a config default has ``key`` and ``default`` instead of
``quote``.

    zh: 哪一格输出成为 `values[:, t]`
    en: Which output becomes `values[:, t]`
    entries:
    - release: verl 0.9.1                     # or owner/name@sha, in no wheel
      path: verl/workers/utils/padding.py
      lines: 138                              # or 136-138
      hash: 9cf6e368c090                      # line_hash of those lines
      quote: "values[seq_offset - resp_len - 1 : seq_offset - 1]"
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from zipfile import ZipFile

import yaml

from site_tools.data.rows import Form, Row, Sentence, Text, read_row
from site_tools.ledger import digest
from site_tools.messages import Message, Problem, problem

FOLDER = "docs/facts"
WHEELS = Path(".cache", "wheels")
REPOSITORIES = {
    "verl": "verl-project/verl",
    "OpenRLHF": "OpenRLHF/OpenRLHF",
    "TRL": "huggingface/trl",
    "TorchRL": "pytorch/rl",
    "Stable-Baselines3": "DLR-RM/stable-baselines3",
}
# Published, and without a tag in the repository, so that nothing can be linked to.
UNTAGGED = ("TRL 0.0.1", "TRL 0.9.2", "OpenRLHF 0.3.6.post1")
PURE = re.compile(r"^[^/]+\.data/purelib/")  # a wheel's folder, absent once installed
Release = Annotated[str, Form(r"\S+ \d\S*|\S+/\S+@[0-9a-f]{7,}", "form_release")]


@dataclass(frozen=True)
class Entry(Row):
    """One place in one release; ``default`` is the YAML text of the value."""

    release: Release
    path: Annotated[str, Form(r"[^/\s]\S*", "form_path")]
    lines: Annotated[str, Form(r"[1-9]\d*(-[1-9]\d*)?", "form_lines")]
    hash: Annotated[str, Form(r"[0-9a-f]{12}", "form_hash")]
    quote: Annotated[str, Form(r".{1,120}", "form_quote")] = ""
    key: Annotated[str, Form(r"[\w.]+", "form_key")] = ""
    default: Text = ""

    def __post_init__(self) -> None:
        if self.line and bool(self.quote) == bool(self.key and self.default):
            raise self.refuse("fact_kind")

    @property
    def place(self) -> str:
        return f"{self.release} · {self.path}:{self.lines}"

    @property
    def url(self) -> str:
        """Those lines in the public repository, at the release's tag; else nothing."""
        project, _, version = self.release.partition(" ")
        repository, _, commit = self.release.partition("@")
        if version:
            repository, commit = REPOSITORIES.get(project, ""), f"v{version}"
        span = "-".join(f"L{number}" for number in self.lines.split("-"))
        at = f"https://github.com/{repository}/blob/{commit}/{self.path}#{span}"
        return at if repository and self.release not in UNTAGGED else ""

    @property
    def checked(self) -> bool:
        """Whether a wheel has it, so that a test reads it again."""
        return "@" not in self.release

    @property
    def code(self) -> str:
        """What stands there: a piece of code, or a key and its default."""
        return f"{self.key}: {self.default}" if self.key else self.quote

    def problem(self, key: str, /, **values: Any) -> Problem:
        return problem(self.file, self.line, key, place_of=self.place, **values)


@dataclass(frozen=True)
class Concept(Sentence):
    """A facts file: a title per language, and its entries in order."""

    entries: tuple[Entry, ...]

    @property
    def name(self) -> str:
        return Path(self.file).name

    @property
    def id(self) -> str:
        return Path(self.file).stem

    @property
    def releases(self) -> list[str]:
        return list(dict.fromkeys(entry.release for entry in self.entries))

    def of(self, release: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.release == release]


def concepts(root: Path) -> list[Concept]:
    return [concept(root, file.name) for file in sorted((root / FOLDER).glob("*.yml"))]


def concept(root: Path, name: str) -> Concept:
    file = root / FOLDER / name
    return _read(file, file.stat().st_mtime_ns)


@cache  # a page shows many facts, and ninety files are read for each
def _read(file: Path, changed: int) -> Concept:
    return read_row(file.read_text("utf-8"), f"{FOLDER}/{file.name}", Concept)


def unread(concepts: Iterable[Concept]) -> dict[tuple[str, str], list[str]]:
    """The lines that no test reads again, by concept and file of the release."""
    places: dict[tuple[str, str], list[str]] = {}
    for concept in concepts:
        for entry in concept.entries:
            if not entry.checked:
                key = concept.id, f"{entry.release} · {entry.path}"
                places.setdefault(key, []).append(entry.lines)
    return places


def line_hash(lines: Iterable[str]) -> str:
    r"""First 12 hex digits of the sha256 of the lines joined by ``\n``."""
    return digest("\n".join(lines), 12)


def reread(entry: Entry, wheels: Path) -> list[Problem] | None:
    """What is wrong with a place, read again; None where its wheel is not here."""
    project, _, version = entry.release.partition(" ")
    name = project.lower().replace("-", "_")  # as in the names of wheels
    wheel = next(wheels.glob(f"{name}-{version}-*.whl"), None)
    if wheel is None:
        return None
    archive, names = _archive(wheel)
    if entry.path not in names:
        return [entry.problem("fact_no_file")]
    text = archive.read(names[entry.path]).decode("utf-8", errors="replace")
    return [*faults(entry, text)]


@cache  # hundreds of entries are read from ten wheels
def _archive(wheel: Path) -> tuple[ZipFile, dict[str, str]]:
    archive = ZipFile(wheel)
    return archive, {PURE.sub("", name): name for name in archive.namelist()}


@cache
def _config(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


def faults(entry: Entry, text: str) -> Iterator[Problem]:
    """What is wrong with a place, held against the text of its file."""
    lines = text.split("\n")
    first, _, last = entry.lines.partition("-")
    size = max(1, int(last or first) - int(first) + 1)
    landmark = entry.quote or entry.key.rpartition(".")[2] + ":"

    def at(n: int) -> tuple[str, str]:
        span = f"{n}-{n + size - 1}" if size > 1 else str(n)
        return span, line_hash(lines[n - 1 :][:size])

    if at(int(first)) == (entry.lines, entry.hash):
        if not any(landmark in line for line in lines[int(first) - 1 :][:size]):
            yield entry.problem("fact_quote", landmark=landmark)
    else:
        known = {n: at(n) for n in range(1, len(lines) + 1)}
        places = [n for n in known if known[n][1] == entry.hash]
        places = places or [n for n in known if landmark in lines[n - 1]]
        choices = " or ".join("lines: {} hash: {}".format(*known[n]) for n in places)
        key = "fact_moved" if choices else "fact_gone"
        yield entry.problem(key, landmark=landmark, choices=choices)
    if entry.key:
        config = _config(text)
        for part in entry.key.split("."):
            if not isinstance(config, dict) or part not in config:
                yield entry.problem("fact_no_key", key=entry.key)
                return
            config = config[part]
        there = json.dumps(config)
        if there != json.dumps(yaml.safe_load(entry.default)):
            yield entry.problem("fact_default", key=entry.key, there=there)


def check_facts(root: Path, name: str) -> tuple[list[Problem], list[Message]]:
    """What is wrong in a file of ``docs/facts``, and what is said of absent wheels."""
    checked = [entry for entry in concept(root, name).entries if entry.checked]
    read = [(entry.release, reread(entry, root / WHEELS)) for entry in checked]
    absent = dict.fromkeys(release for release, wrong in read if wrong is None)
    problems = [each for _, wrong in read for each in wrong or ()]
    return problems, [Message("facts_unread", {"release": r}) for r in absent]
