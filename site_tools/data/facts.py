"""Framework facts: the lines of a release that say it, held by a quotation from them.

A file of docs/facts is one concept: its title in both languages, and a list of entries,
each one place in one release; a config default has ``key`` and ``default`` instead of
``quote``. Where the quotation does not say what is set, ``setting`` does, which stands
on one of the lines too.

    zh: 哪一格输出成为 `values[:, t]`
    en: Which output becomes `values[:, t]`
    entries:
    - release: verl 0.9.1                     # or owner/name@sha, in no wheel
      path: verl/workers/utils/padding.py
      lines: 138                              # or 136-138
      quote: "values[seq_offset - resp_len - 1 : seq_offset - 1]"
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from zipfile import ZipFile

import yaml

from site_tools.data.rows import Form, OneLine, Row, Sentence, read_row
from site_tools.messages import Message, Problem, nearest, problem

FACTS_FOLDER = "docs/facts"
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
PINS = "pins/peers.txt"  # the releases whose wheels are read
PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
PURE = re.compile(r"^[^/]+\.data/purelib/")  # a wheel's folder, absent once installed
Release = Annotated[str, Form(r"\S+ \d\S*|\S+/\S+@[0-9a-f]{7,}", "form_release")]


@dataclass(frozen=True)
class Entry(Row):
    """One place in one release; ``default`` is the YAML text of the value."""

    release: Release
    path: Annotated[str, Form(r"[^/\s]\S*", "form_path")]
    lines: Annotated[str, Form(r"[1-9]\d*(-[1-9]\d*)?", "form_lines")]
    quote: Annotated[str, Form(r".{1,120}", "form_quote")] = ""
    setting: Annotated[str, Form(r"[\w.-]+", "form_key")] = ""
    key: Annotated[str, Form(r"[\w.]+", "form_key")] = ""
    default: OneLine = ""

    def __post_init__(self) -> None:
        if self.line and bool(self.quote) == bool(self.key and self.default):
            raise self.refuse("fact_kind")

    @property
    def place(self) -> str:
        return f"{self.release} · {self.path}:{self.lines}"

    @property
    def url(self) -> str:
        """The address of the lines in the public repository, at the tag, or nothing."""
        project, _, version = self.release.partition(" ")
        repository, _, commit = self.release.partition("@")
        if version:
            repository, commit = REPOSITORIES.get(project, ""), f"v{version}"
        span = "-".join(f"L{number}" for number in self.lines.split("-"))
        at = f"https://github.com/{repository}/blob/{commit}/{self.path}#{span}"
        return at if repository and self.release not in UNTAGGED else ""

    @property
    def checked(self) -> bool:
        """True where a wheel has it, so that a test reads it again."""
        return "@" not in self.release

    @property
    def span(self) -> tuple[int, int]:
        """The first line and the last."""
        first, _, last = self.lines.partition("-")
        return int(first), int(last or first)

    @property
    def landmark(self) -> str:
        """The text that must stand on one of the lines."""
        return self.quote or self.key.rpartition(".")[2] + ":"

    @property
    def code(self) -> str:
        """The text that is shown: a piece of code, or a setting and its default."""
        name = self.key or self.setting
        value = self.default or self.quote.rstrip(",")
        return f"{name}: {value}" if name else self.quote

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
    files = sorted((root / FACTS_FOLDER).glob("*.yml"))
    return [concept(root, file.name) for file in files]


def concept(root: Path, name: str) -> Concept:
    file = root / FACTS_FOLDER / name
    return _read_concept(file, file.stat().st_mtime_ns)


@cache  # a page shows many facts, and ninety files are read for each
def _read_concept(file: Path, changed: int) -> Concept:
    return read_row(file.read_text("utf-8"), f"{FACTS_FOLDER}/{file.name}", Concept)


def unread(concepts: Iterable[Concept]) -> dict[tuple[str, str], list[str]]:
    """The lines that no test reads again, by concept and file of the release."""
    places: dict[tuple[str, str], list[str]] = {}
    for concept in concepts:
        for entry in concept.entries:
            if not entry.checked:
                key = concept.id, f"{entry.release} · {entry.path}"
                places.setdefault(key, []).append(entry.lines)
    return places


def pinned(root: Path) -> list[str]:
    """The releases whose wheels are read, as ``verl 0.9.1``."""
    file = root / PINS
    if not file.is_file():
        return []
    spelled = {project.lower(): project for project in REPOSITORIES}
    releases = []
    for name, version in PIN.findall(file.read_text("utf-8")):
        releases.append(f"{spelled.get(name, name)} {version}")
    return releases


def nearest_pinned(release: str, root: Path) -> str:
    """The pinned release that is most like one, of the same project if there is one."""
    known = pinned(root)
    project = release.partition(" ")[0] + " "
    own = [each for each in known if each.startswith(project)]
    return nearest(release, own or known, release)


def find_wheel(release: str, wheels: Path) -> Path | None:
    """The wheel of a release, as ``verl 0.9.1``, if it is here."""
    project, _, version = release.partition(" ")
    name = project.lower().replace("-", "_")  # as in the names of wheels
    return next(wheels.glob(f"{name}-{version}-*.whl"), None)


@cache  # hundreds of entries are read from ten wheels
def open_wheel(wheel: Path) -> tuple[ZipFile, dict[str, str]]:
    """A wheel, and its names by the paths that its files have once installed."""
    archive = ZipFile(wheel)
    return archive, {PURE.sub("", name): name for name in archive.namelist()}


def text_in_wheel(wheel: Path, path: str) -> str | None:
    """A file of a release; None where it has none there."""
    archive, names = open_wheel(wheel)
    if path not in names:
        return None
    return archive.read(names[path]).decode("utf-8", errors="replace")


def reread(entry: Entry, wheels: Path) -> list[Problem] | None:
    """The faults of a place, read again; None where its wheel is not here."""
    wheel = find_wheel(entry.release, wheels)
    if wheel is None:
        return None
    text = text_in_wheel(wheel, entry.path)
    if text is None:
        return [entry.problem("fact_no_file")]
    return place_faults(entry, text)


def lines_with(landmark: str, text: str) -> list[int]:
    """The numbers of the lines on which something stands."""
    lines = enumerate(text.split("\n"), 1)
    return [number for number, line in lines if landmark in line]


def place_faults(entry: Entry, text: str) -> list[Problem]:
    """The faults of a place, held against the text of its file."""
    first, last = entry.span
    problems = []
    for landmark in filter(None, (entry.landmark, entry.setting)):
        places = lines_with(landmark, text)
        if not places:
            problems.append(entry.problem("fact_gone", landmark=landmark))
        elif not any(first <= number <= last for number in places):
            choices = " or ".join(f"lines: {number}" for number in places)
            values = {"landmark": landmark, "choices": choices}
            problems.append(entry.problem("fact_moved", **values))
    if entry.key:
        problems += _default_faults(entry, text)
    return problems


@cache
def _config(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


def _default_faults(entry: Entry, text: str) -> list[Problem]:
    """The faults of a key and its default, held against its config file."""
    config = _config(text)
    for part in entry.key.split("."):
        if not isinstance(config, dict) or part not in config:
            return [entry.problem("fact_no_key", key=entry.key)]
        config = config[part]
    there = json.dumps(config)
    if there == json.dumps(yaml.safe_load(entry.default)):
        return []
    return [entry.problem("fact_default", key=entry.key, there=there)]


def check_facts(root: Path, name: str) -> tuple[list[Problem], list[Message]]:
    """The faults of a file of ``docs/facts``, and remarks on wheels that are absent.

    A release that is not pinned is a fault: no wheel of it would ever be read.
    """
    known = pinned(root)
    problems, absent = list[Problem](), dict[str, Message]()
    for entry in concept(root, name).entries:
        if not entry.checked:
            continue
        if entry.release not in known:
            near = nearest_pinned(entry.release, root)
            values = {"release": entry.release, "pins": PINS, "near": near}
            problems.append(entry.problem("fact_unpinned", **values))
            continue
        wrong = reread(entry, root / WHEELS)
        if wrong is None:
            values = {"release": entry.release}
            absent[entry.release] = Message("facts_unread", values)
        problems += wrong or ()
    return problems, [*absent.values()]
