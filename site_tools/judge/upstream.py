"""Names of verl, TRL and OpenRLHF in prose, looked up in the wheels of releases.

A page is held to the releases that its ``refs`` name, or else to the newest verl. What
its own code, its quotations or ``ppo_ref`` call so is no name of theirs, and a name of
other software leads to where it stands, as a link. Where a wheel is not here, nothing
is said of it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from pathlib import Path

from bs4 import Tag

from site_tools.data.facts import PINS, nearest_pinned, pinned
from site_tools.data.wheel_names import WORD, WheelNames, keys_by_line, names_of
from site_tools.messages import Problem, Problems, nearest
from site_tools.page.page import Page
from site_tools.page.tree import Flow, Piece
from site_tools.source.blocks import Kind

# A name of two words at least, or of a call; behind it what it is given.
PLAIN_NAME = re.compile(
    r"(?P<name>_?[A-Za-z]\w*(?:_\w+|[a-z][A-Z]\w*|[A-Z][a-z]\w*)|[a-z]\w+(?=\())"
    r"(?:\(.*|=.*|: .*|\[.*)?"
)
DOTTED = re.compile(
    r"(?P<added>\+*)(?:--)?(?P<key>[A-Za-z_]\w*(?:\.\w+)+)(?:\(\)|=.*|: .*| .*)?"
)
METRIC_FORM = re.compile(r"(?P<first>[a-z]\w*)(?:/\w+)+")
PATH = re.compile(
    r"(?<![\w/.-])(?P<path>\w[\w/-]*\.(?:py|yaml))(?![\w/-])"
    r"(?::(?P<first>\d+)(?:[-–](?P<last>\d+))?)?"
)
# Lines as words say them: line 9 behind a path or before it, 第 9 行.
LINES_BEHIND = re.compile(
    r",? (?:at )?lines? (?P<first>\d+)(?: ?(?:[-–]|to|and) ?(?P<last>\d+))?"
    r"|[ ，]*的?第 ?(?P<from>\d+) ?(?:行?[-–到至] ?第? ?(?P<to>\d+) ?)?行"
)
LINES_BEFORE = re.compile(
    r"\b[Ll]ines? (?P<first>\d+)(?: ?(?:[-–]|to|and) ?(?P<last>\d+))? (?:of|in) \Z"
)
RELEASED_PACKAGES = (
    "verl",
    "trl",
    "openrlhf",
    "torchrl",
    "stable_baselines3",
    "liger_kernel",
)
PROJECT_CODE = ("ppo_ref", "snippets")
SHELLS = "bash", "sh", "console"
LIKE_ENOUGH = 0.8  # how like a known first word one is that is a slip


def check_upstream(page: Page) -> Problems:
    """Names of releases that stand in none of those that the page refers to."""
    yield from _unpinned_refs(page)
    near = Surroundings(page)
    if not near.releases:
        return
    for piece in _shown_settings(page):
        match = DOTTED.fullmatch(piece.text)
        problem = match and _dotted(piece, match["key"], bool(match["added"]), near)
        if problem:
            yield problem
    for flow in page.flows:
        if flow.quoted:
            continue
        yield from _paths(flow, near)
        for piece in flow.pieces:
            if piece.kind == "code" and not _is_linked(piece):
                problem = _name_problem(piece, near)
                if problem:
                    yield problem


@dataclass(frozen=True)
class Surroundings:
    """A page, the releases that it is held to, and the names that are its own."""

    page: Page

    @cached_property
    def releases(self) -> list[WheelNames]:
        known = pinned(self.page.root)
        named = [release for release in known if release in self.page.refs]
        return _present(named or known[:1], self.page.root)

    @cached_property
    def others(self) -> list[WheelNames]:
        """The pinned releases that the page does not refer to."""
        own = {names.release for names in self.releases}
        rest = [each for each in pinned(self.page.root) if each not in own]
        return _present(rest, self.page.root)

    @property
    def listed(self) -> str:
        return ", ".join(names.release for names in self.releases)

    @cached_property
    def own_text(self) -> str:
        """The code of the page, what it prints, its quotations and pictures.

        What is only shown, as a config, has names of theirs; a patch makes its own.
        """
        texts = list[str]()
        for block in self.page.blocks:
            if block.kind is not Kind.SHOWN or block.language == "diff":
                texts += [*block.fence.lines, block.text, block.expects or ""]
        texts += [flow.text for flow in self.page.flows if flow.quoted]
        for picture in self.page.pictures:
            texts.append((self.page.root / picture).read_text("utf-8"))
        return "\n".join(texts)

    @cached_property
    def own_words(self) -> set[str]:
        return {*WORD.findall(self.own_text), *_project_words(self.page.root)}

    def is_own(self, name: str) -> bool:
        """True if a name, maybe with dots, is the page's or the project's own."""
        if name in self.own_words or (self.page.root / name).exists():
            return True
        return "." in name and bool(re.search(rf"\b{re.escape(name)}\b", self.own_text))

    def has_word(self, word: str) -> bool:
        return any(word in names.words for names in self.releases)

    def defines(self, name: str) -> bool:
        return any(name in names.definitions for names in self.releases)

    def holds(self, text: str) -> bool:
        return any(names.holds(text) for names in self.releases)

    def place(self, word: str) -> str:
        """Where a name stands in one of the releases, the first of them that has it."""
        for names in self.releases:
            place = names.setting_place(word) if "." in word else names.place(word)
            if place:
                return f"{names.release} · {place}"
        return self.listed

    def files(self, path: str) -> list[tuple[WheelNames, str]]:
        """Each release that has a file, and its whole path there."""
        found = []
        for names in self.releases:
            for known in names.texts:
                if f"/{known}".endswith(f"/{path}"):
                    found.append((names, known))
        return found

    @property
    def paths(self) -> set[str]:
        return {path for names in self.releases for path in names.texts}

    def has_file(self, path: str) -> bool:
        """True if the project has a file of this name."""
        name = Path(path).name
        folders = (*PROJECT_CODE, "site_tools")
        return any(any((self.page.root / each).rglob(name)) for each in folders)

    def methods_of(self, name: str) -> set[str]:
        """Names that are defined within a class."""
        found = set[str]()
        for names in self.releases:
            found |= names.within(name)
        return found

    def problem(self, piece: Piece, key: str, **values: object) -> Problem:
        line = self.page.line_near(piece.text.strip(), piece.line)
        return self.page.problem(line, key, releases=self.listed, **values)


def _present(releases: Iterable[str], root: Path) -> list[WheelNames]:
    found = []
    for release in releases:
        names = names_of(release, root)
        if names:
            found.append(names)
    return found


@lru_cache(maxsize=2)
def _project_words(root: Path) -> frozenset[str]:
    words = set[str]()
    for folder in PROJECT_CODE:
        for file in (root / folder).rglob("*.py"):
            words.update(WORD.findall(file.read_text("utf-8")))
    return frozenset(words)


def _is_linked(piece: Piece) -> bool:
    """True if code leads to somebody else's site, which says what the name is."""
    link = piece.node.find_parent("a") if isinstance(piece.node, Tag) else None
    return link is not None and str(link.get("href", "")).startswith("http")


def _shown_settings(page: Page) -> Iterator[Piece]:
    """The keys of configs that are only shown, and those that a command is given."""
    for block in page.blocks:
        found: Iterable[tuple[int, str]] = ()
        if block.language == "yaml":
            found = keys_by_line(block.text)
        elif block.language in SHELLS:
            found = _given_by_line(block.text)
        for number, key in found:
            yield Piece("code", key, page.tree, block.fence.line + number)


def _given_by_line(command: str) -> Iterator[tuple[int, str]]:
    """Each setting that a command is given, as ``algorithm.gamma=1``, and its line."""
    for number, line in enumerate(command.split("\n"), 1):
        for word in line.split():
            if "=" in word and DOTTED.fullmatch(word):
                yield number, word


def _unpinned_refs(page: Page) -> Problems:
    """Releases in ``refs`` that are not pinned, of a project whose others are."""
    known = pinned(page.root)
    projects = {release.partition(" ")[0] for release in known}
    for ref in page.refs:
        project = ref.partition(" ")[0]
        if project in projects and ref not in known:
            near = nearest_pinned(ref, page.root)
            values = {"ref": ref, "pins": PINS, "near": near}
            yield page.problem(page.line_with("refs:") or 1, "ref_unpinned", **values)


def _name_problem(piece: Piece, near: Surroundings) -> Problem | None:
    """The problem of a name in code, by its form."""
    text = piece.text.strip()
    if PATH.fullmatch(text):
        return None  # judged with the sentence around it
    match = DOTTED.fullmatch(text)
    if match:
        return _dotted(piece, match["key"], bool(match["added"]), near)
    match = METRIC_FORM.fullmatch(text)
    if match:
        return _metric(piece, text, match["first"], near)
    match = PLAIN_NAME.fullmatch(text)
    if match and not near.is_own(match["name"]) and not near.has_word(match["name"]):
        return _unknown(piece, match["name"], near)
    return None


def _unknown(piece: Piece, name: str, near: Surroundings) -> Problem:
    """The problem of a name in none of the releases: another has it, or none."""
    elsewhere = [each.release for each in near.others if name in each.words]
    if elsewhere:
        values = {"name": name, "other": ", ".join(elsewhere)}
        return near.problem(piece, "upstream_elsewhere", **values)
    words = set[str]()
    for names in near.releases:
        words |= {*names.definitions} or names.words
        for key in names.settings:
            words.update(key.split("."))
    alike = nearest(name, words)
    values = {"name": name, "near": alike, "place": near.place(alike)}
    return near.problem(piece, "upstream_unknown", **values)


def _metric(piece: Piece, name: str, first: str, near: Surroundings) -> Problem | None:
    """The problem of a figure of a log, whose first word a release logs under."""
    every = near.releases + near.others
    starts = {start for names in every for start in names.metric_starts}
    slip = get_close_matches(first, starts, 1, LIKE_ENOUGH)
    rest = name.partition("/")[2]
    if not slip or near.holds(name) or near.is_own(name) or name in near.own_text:
        return None
    # A name is often put together: its first word here, the rest of it there.
    if near.holds(f"{first}/") and near.has_word(rest):
        return None
    elsewhere = [each.release for each in near.others if each.holds(name)]
    if elsewhere:
        values = {"name": name, "other": ", ".join(elsewhere)}
        return near.problem(piece, "upstream_elsewhere", **values)
    known = set[str]()
    for names in near.releases:
        known |= names.metrics
    alike = nearest(name, known, name)
    values = {"name": name, "near": alike, "place": near.place(alike)}
    return near.problem(piece, "upstream_unknown", **values)


def _dotted(piece: Piece, key: str, added: bool, near: Surroundings) -> Problem | None:
    """The problem of a setting, a module or a method, by its first word.

    A first word that begins no setting and no package is judged only if it is like one
    that does, and the page's own code has no such name.
    """
    first, _, rest = key.partition(".")
    every = near.releases + near.others
    starts = {*RELEASED_PACKAGES}
    for names in every:
        starts |= names.setting_starts
    slip = first not in near.own_words and get_close_matches(
        first, starts, 1, LIKE_ENOUGH
    )
    is_class = first[0].isupper() and near.defines(first)
    if first not in starts and not slip and not is_class:
        return None
    if near.is_own(key) or near.holds(key):
        return None
    if first in RELEASED_PACKAGES:
        known = any(names.has_module(key) for names in near.releases)
    elif is_class:
        known = near.has_word(rest)
    else:
        known = _is_setting(key, added, near) or near.holds(f"self.{rest}")
    if known:
        return None
    settings = set[str]()
    for names in near.releases:
        settings |= names.modules if first in RELEASED_PACKAGES else {*names.settings}
    elsewhere = [each.release for each in near.others if each.has_key(key)]
    if elsewhere:
        values = {"name": key, "other": ", ".join(elsewhere)}
        return near.problem(piece, "upstream_elsewhere", **values)
    if is_class:
        settings = {f"{first}.{each}" for each in near.methods_of(first)}
    alike = nearest(key, settings, key)
    values = {"name": key, "near": alike, "place": near.place(alike)}
    return near.problem(piece, "upstream_unknown", **values)


def _is_setting(key: str, added: bool, near: Surroundings) -> bool:
    """True if a key is in the config, or is added to what is there by a ``+``."""
    if any(names.has_key(key) for names in near.releases):
        return True
    if not added:
        return False
    holder, _, last = key.rpartition(".")
    if not near.has_word(last):
        return False
    return not holder or _is_setting(holder, added, near)


def _paths(flow: Flow, near: Surroundings) -> Problems:
    """Files of a release that it has not, and lines on which something else stands."""
    for match in PATH.finditer(flow.text):
        piece = flow.piece_at(match.start())
        path = match["path"]
        in_package = path.partition("/")[0] in RELEASED_PACKAGES
        said = piece.kind == "code" and piece.text.strip() == match[0]
        if piece.kind in ("formula", "bound") or _is_linked(piece):
            continue
        lines = _lines_named(match)
        if not (in_package or lines or said) or near.is_own(path):
            continue
        files = near.files(path)
        if not files:
            if not in_package and (near.has_file(path) or path in near.own_text):
                continue
            alike = nearest(path, near.paths, path)
            values = {"name": path, "near": alike, "place": near.releases[0].release}
            yield near.problem(piece, "upstream_unknown", **values)
        elif lines:
            place = f"{path}:{'-'.join(dict.fromkeys(map(str, lines)))}"
            beside = _names_beside(flow, match[0])
            yield from _line_reference(place, lines, piece, beside, files, near)


def _lines_named(path: re.Match[str]) -> tuple[int, int] | None:
    """The first and the last of the lines that are named with a path, if any are."""
    text = path.string
    found = [path["first"], path["last"]]
    if behind := LINES_BEHIND.match(text, path.end()):
        found += behind.groups()
    if before := LINES_BEFORE.search(text, 0, path.start()):
        found += before.groups()
    numbers = [int(each) for each in found if each]
    return (numbers[0], numbers[-1]) if numbers else None


def _names_beside(flow: Flow, place: str) -> list[str]:
    """The names in code of a paragraph that has one place of a file."""
    if len(PATH.findall(flow.text)) > 1:
        return []  # nothing says which of them a name belongs to
    names = list[str]()
    for piece in flow.pieces:
        if piece.kind == "code" and piece.text.strip() != place:
            names += WORD.findall(piece.text)
    return names


def _line_reference(
    said_place: str,
    lines: tuple[int, int],
    piece: Piece,
    beside: Sequence[str],
    files: Sequence[tuple[WheelNames, str]],
    near: Surroundings,
) -> Problems:
    """The problem of lines that a file has not, or on which what is named is not.

    It is enough that one of the releases has it there.
    """
    first, last = lines
    problems = list[Problem]()
    for names, path in files:
        count = names.texts[path].count("\n") + 1
        if not 1 <= first <= last <= count:
            at = f"{names.release} · {path}"
            values = {"name": said_place, "count": count, "place": at}
            problems.append(near.problem(piece, "upstream_lines", **values))
            continue
        own = list[tuple[str, str]]()
        for name in beside:
            for place in names.definitions.get(name, []):
                if place.path == path:
                    if first <= place.last and last >= place.first:
                        return
                    own.append((name, f"{path}:{place.first}-{place.last}"))
        if not own:
            return
        name, due = own[0]
        values = {"name": said_place, "said": name, "due": due}
        values["place"] = names.release
        problems.append(near.problem(piece, "upstream_moved", **values))
    yield problems[0]
