"""Pages, lists and pins that follow facts to a new release, and what a person reads.

A fence that shows a moved fact names the new release, and so does the label of a tab
around it. ``verl 0.9.1`` in a sentence follows where its section shows facts that moved
and none that stayed, and neither language compares releases or dates a change there.
All other places are for a person.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from site_tools.compile.navigation import FACT
from site_tools.contributing.fix import kept_agreement
from site_tools.contributing.rename import naming_files
from site_tools.data.facts import FACTS_FOLDER, PIN, PINS, find_wheel
from site_tools.data.frameworks import version
from site_tools.messages import LANGUAGES, Refusal
from site_tools.source.content import read_content
from site_tools.source.files import FRONT_MATTER

LABEL = re.compile(r"(?P<margin>\s*)(?:===|!!!|\?\?\?\+?) ")
SENTENCE_BREAK = re.compile(r"(?<=[!?。！？；;])|(?<=\.)\s")
# Words that date a change, before the name of a release and behind it.
DATED_BEFORE = r"(?:since|from|until|till|before|after|by|as of|自|从|到|直到|截至)"
DATED_BEHIND = r"(?:起|开始|之前|以前|之后|以后|onwards?|and later)"
FACT_FIELD = re.compile(
    r"(?P<before>\bfact: +(?P<concept>\w+) +)(?P<release>[^#\n,}]+)"
)
# What has been measured or dated with a release stays so.
UNREAD_FOLDERS = (FACTS_FOLDER, "docs/verified/", "docs/timeline.yml", "CHANGELOG.md")


@dataclass(frozen=True)
class Move:
    """A move between two releases: the concepts that are in the new one, and others."""

    old: str
    new: str
    moved: frozenset[str]
    left: frozenset[str]

    @property
    def project(self) -> str:
        return self.old.partition(" ")[0]

    @property
    def name(self) -> re.Pattern[str]:
        """The old release where it is named in full."""
        number = re.escape(self.old.partition(" ")[2])
        return re.compile(rf"(?<![\w/-]){self.project} v?{number}(?![\w-]|\.\w)")

    @property
    def mention(self) -> re.Pattern[str]:
        """The old release in full, or by its number alone."""
        number = self.old.partition(" ")[2]
        if number.count(".") < 2:
            return self.name
        return re.compile(rf"(?<![\w.-])v?{re.escape(number)}(?![\w-]|\.\w)")

    @property
    def fact(self) -> re.Pattern[str]:
        """A line of a fence that shows a fact of the old release."""
        return re.compile(rf"\s*(?P<concept>\w+)\s+{re.escape(self.old)}\s*")

    def is_doubtful(self, line: str) -> bool:
        """True where a sentence that names the old release says more than a fact."""
        for sentence in SENTENCE_BREAK.split(line):
            names = self.name.findall(sentence)
            if len(self.mention.findall(sentence)) > len(names):
                return True
            if names and self._dates(sentence):
                return True
        return False

    def _dates(self, sentence: str) -> bool:
        rest = self.name.sub("\0", sentence)
        others = re.search(rf"{self.project} v?\d", rest)
        before = re.search(rf"{DATED_BEFORE}\s*\0", rest, re.IGNORECASE)
        behind = re.search(rf"\0\s*{DATED_BEHIND}", rest, re.IGNORECASE)
        return bool(others or before or behind)


@dataclass
class Section:
    """A part of a page under one heading: its lines, and the facts that they show."""

    lines: list[int] = field(default_factory=list)
    facts: set[str] = field(default_factory=set)
    doubtful: bool = False


@dataclass(frozen=True)
class Parsed:
    """A page by its lines, counted from 0: front matter, facts, sections."""

    lines: list[str]
    front: int
    facts: Mapping[int, str]
    sections: Sequence[Section]


def parse(text: str, move: Move) -> Parsed:
    content = read_content(text)
    lines = text.split("\n")
    matter = FRONT_MATTER.match(text)
    front = matter[0].count("\n") if matter else 0
    facts = dict[int, str]()
    fenced = set[int]()
    for fence in content.fences:
        fenced.update(row - 1 for row in fence.rows)
        if not FACT.fullmatch(fence.info):
            continue
        for number, line in enumerate(fence.lines, fence.line):
            shown = move.fact.fullmatch(line)
            if shown:
                facts[number] = shown["concept"]
    begins = {heading.line - 1 for heading in content.headings}
    sections = [Section()]
    for number in range(front, len(lines)):
        if number in begins:
            sections.append(Section())
        section = sections[-1]
        if number in facts:
            section.facts.add(facts[number])
        elif number not in fenced:
            section.lines.append(number)
            section.doubtful |= move.is_doubtful(lines[number])
    return Parsed(lines, front, facts, sections)


def moved_page(texts: Mapping[str, str], move: Move) -> dict[str, str]:
    """The files of one page, in each language, with what follows the facts."""
    pages = {file: parse(text, move) for file, text in texts.items()}
    lengths = {len(page.sections) for page in pages.values()}
    changed = dict[str, str]()
    for file, page in pages.items():
        lines = list(page.lines)
        for number, concept in page.facts.items():
            if concept in move.moved:
                lines[number] = lines[number].replace(move.old, move.new)
        for index, section in enumerate(page.sections):
            twins = [
                each.sections[index] for each in pages.values() if len(lengths) == 1
            ]
            certain = bool(twins) and not any(twin.doubtful for twin in twins)
            stands = bool(section.facts) and section.facts <= move.moved
            for number in section.lines:
                line = lines[number]
                shown = facts_inside(page, number)
                if LABEL.match(line) and shown:
                    follows = shown <= move.moved
                else:
                    follows = stands and certain
                if follows:
                    lines[number] = move.name.sub(move.new, line)
        body = "\n".join(lines[page.front :])
        leans = any(concept in move.moved for concept in page.facts.values())
        for number in range(page.front):
            lines[number] = moved_refs(lines[number], body, leans, move)
        changed[file] = "\n".join(lines)
    return changed


def facts_inside(page: Parsed, number: int) -> set[str]:
    """The facts in a tab or a note that begins on a line."""
    label = LABEL.match(page.lines[number])
    inside = set[str]()
    if not label:
        return inside
    margin = label["margin"] + " "
    for later in range(number + 1, len(page.lines)):
        line = page.lines[later]
        if line.strip() and not line.startswith(margin):
            break
        if later in page.facts:
            inside.add(page.facts[later])
    return inside


def moved_refs(line: str, body: str, leans: bool, move: Move) -> str:
    """A line of front matter: the new release, and the old one while it is told."""
    quoted, new = f'"{move.old}"', f'"{move.new}"'
    if quoted not in line:
        return line
    others = re.findall(rf'"({move.project} \d[^"]*)"', line)
    newest = max(others, key=version) == move.old
    told = bool(move.mention.search(body))
    if new in line:
        return line if told else line.replace(f"{quoted}, ", "").replace(quoted, new)
    if not told and (leans or newest):
        return line.replace(quoted, new)
    if leans:
        return line.replace(quoted, f"{new}, {quoted}")
    return line


def following(root: Path, move: Move) -> dict[str, tuple[str, str]]:
    """Each file besides the facts that changes: as it is, and as it would be."""
    before, after = dict[str, str](), dict[str, str]()
    for page in _pages(root):
        texts = dict[str, str]()
        for language in LANGUAGES:
            file = f"docs/{language}/{page}"
            if (root / file).is_file():
                texts[file] = (root / file).read_text("utf-8")
        changed = moved_page(texts, move)
        if changed != texts:
            before |= texts
            after |= changed
            after |= kept_agreement(page.removesuffix(".md"), texts, changed)
    for file, change in (("docs/corrections.yml", _corrections), (PINS, _pins)):
        if (root / file).is_file():
            before[file] = (root / file).read_text("utf-8")
            after[file] = change(before[file], move, root)
    changes = dict[str, tuple[str, str]]()
    for file, text in after.items():
        if text != before[file]:
            changes[file] = before[file], text
    return changes


def _pages(root: Path) -> list[str]:
    """The pages by their paths behind the language."""
    pages = set[str]()
    for language in LANGUAGES:
        folder = root / "docs" / language
        pages |= {file.relative_to(folder).as_posix() for file in folder.rglob("*.md")}
    return sorted(pages)


def _corrections(text: str, move: Move, root: Path) -> str:
    """The list of corrections, whose facts are named by release."""

    def followed(match: re.Match[str]) -> str:
        if match["concept"] in move.moved and match["release"].strip() == move.old:
            return match["before"] + match["release"].replace(move.old, move.new)
        return match[0]

    return FACT_FIELD.sub(followed, text)


def _pins(text: str, move: Move, root: Path) -> str:
    """The pins with the wheel of the new release, before the others of its project."""
    project, _, number = move.new.partition(" ")
    lines = text.split("\n")
    own = []
    for index, line in enumerate(lines):
        pin = PIN.match(line)
        if pin and pin[1].lower() == project.lower():
            own.append((index, pin[1], pin[2]))
    wheel = find_wheel(move.new, root / ".cache/wheels")
    if wheel is None or not own:
        return text
    digest = f"--hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}"
    for index, _, there in own:
        if there == number:
            if digest not in lines[index]:
                values = {"place": f"{PINS}:{index + 1}", "release": move.new}
                raise Refusal("facts_other_wheel", **values, wheel=wheel.name)
            return text
    at = own[0][0]
    for index, _, there in own:
        if version(there) > version(number):
            at = index + 1
    return "\n".join([*lines[:at], f"{own[0][1]}=={number} {digest}", *lines[at:]])


def to_read(
    root: Path, changes: Mapping[str, tuple[str, str]], move: Move
) -> Iterator[tuple[str, list[int]]]:
    """Each file that names the old release still, and the lines on which it does.

    What the lines of ``refs`` name is what the page says, so they are not listed.
    """
    for file in naming_files(root):
        if file.startswith(UNREAD_FOLDERS):
            continue
        if file in changes:
            text = changes[file][1]
        else:
            text = (root / file).read_text("utf-8", errors="replace")
        lines = []
        for number, line in enumerate(text.split("\n"), 1):
            if move.mention.search(line) and not line.startswith("refs:"):
                lines.append(number)
        if lines:
            yield file, lines


def moved_sentences(
    changes: Mapping[str, tuple[str, str]], move: Move
) -> Iterator[tuple[str, list[int]]]:
    """Each page in whose sentences and labels the new release stands, and the lines."""
    for file, (before, after) in changes.items():
        if not file.endswith(".md"):
            continue
        lines = []
        pairs = zip(before.split("\n"), after.split("\n"), strict=True)
        for number, (old, new) in enumerate(pairs, 1):
            told = move.name.search(old) and old != new
            if told and not move.fact.fullmatch(old) and not old.startswith("refs:"):
                lines.append(number)
        if lines:
            yield file, lines
