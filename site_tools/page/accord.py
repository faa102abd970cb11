"""Whether the two languages of a page say the same, as far as anybody declared it.

What a page said in both languages when somebody called them equal is recorded in
``docs/locks``, a file a page and a line a section (see ``ledger``):

    answer zh:9cf6e368c090 en:b5af38dfde76

No state fails anything: either language may lead, and an author of one language is not
held up. States are listed until somebody closes them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from site_tools import ledger
from site_tools.page.files import paths
from site_tools.page.prose import wording
from site_tools.problems import Problem, problem
from site_tools.say import Message

Words = Mapping[str, str]  # of each section
FOLDER = "docs/locks"
HASHES = re.compile("zh:[0-9a-f]{12} en:[0-9a-f]{12}")


class Pair(NamedTuple):
    """The hashes of one section in both languages."""

    zh: str
    en: str


Lock = Mapping[str, Pair]


def lock_path(page: str) -> str:
    """Where the lock of a page lies.

    Example:
        >>> lock_path("gae/inputs")
        'docs/locks/gae/inputs.txt'
    """
    return f"{FOLDER}/{page}.txt"


def digest(words: str) -> str:
    """First 12 hex digits of the sha256 of the words of a section."""
    return ledger.digest(words, 12)


def lock_of(zh: Words, en: Words) -> Lock:
    """The lock of a page whose words are these in the two languages."""
    return {
        section: Pair(digest(zh.get(section, "")), digest(en.get(section, "")))
        for section in sorted({*zh, *en})
    }


def write(lock: Lock) -> str:
    """The text of a lock file.

    Example:
        >>> write({"why": Pair("9cf6e368c090", "b5af38dfde76")})
        'why zh:9cf6e368c090 en:b5af38dfde76\\n'
    """
    return ledger.dump({what: ledger.Entry(lock[what]._asdict()) for what in lock})


def parse(text: str, page: str) -> Lock:
    """Read the lock file of a page.

    Raises:
        ValueError: whose argument is the ``Problem`` with the first bad line.
    """
    try:
        entries = ledger.parse(text, lock_path(page))
    except ledger.Damaged as error:
        raise ValueError(_damaged(page, error.line, error.text)) from None
    lines = text.splitlines()
    for number, entry in enumerate(entries.values(), 1):
        hashes = " ".join(f"{k}:{v}" for k, v in entry.made_from.items())
        if not HASHES.fullmatch(hashes) or entry.by or entry.content:
            raise ValueError(_damaged(page, number, lines[number - 1]))
    return {what: Pair(**entry.made_from) for what, entry in entries.items()}


def _damaged(page: str, line: int, text: str) -> Problem:
    return problem(lock_path(page), line, "lock_damaged", text=text, page=page)


def check_lock(root: Path, page: str) -> list[Problem]:
    """The line at which the lock of a page cannot be read; it need not have one."""
    try:
        _lock(root, page)
    except ValueError as error:
        return [error.args[0]]
    return []


def check_locks(root: Path) -> list[Problem]:
    """Locks that nobody can read, locks without a page, and other files among them."""
    problems: list[Problem] = []
    pages = {lock_path(page): page for page in page_ids(root)}
    for file in sorted((root / FOLDER).rglob("*")):
        name = file.relative_to(root).as_posix()
        if name in pages:
            problems += check_lock(root, pages[name])
        elif not file.is_dir():
            page = name.removeprefix(f"{FOLDER}/").removesuffix(".txt")
            problems.append(problem(name, 1, "lock_orphan", page=page, file=name))
    return problems


class State(Enum):
    """How the two languages of a page stand to each other."""

    ACCORD = "state_accord"
    MISSING_ZH = "state_missing_zh"
    MISSING_EN = "state_missing_en"
    ZH_AHEAD = "state_zh_ahead"
    EN_AHEAD = "state_en_ahead"
    BOTH_CHANGED = "state_both_changed"
    UNRECORDED = "state_unrecorded"


# What to do, and in which language.
REMEDIES = {
    State.MISSING_ZH: ("accord_write", "zh"),
    State.MISSING_EN: ("accord_write", "en"),
    State.ZH_AHEAD: ("accord_follow", "en"),
    State.EN_AHEAD: ("accord_follow", "zh"),
}


@dataclass(frozen=True)
class Accord:
    """A page, its state, and the sections that make it so.

    Args:
        page: As in ``gae/inputs``.
        state: Its state.
        zh: Sections whose Chinese words changed since they were recorded.
        en: Sections whose English words did.
        unrecorded: Sections that the lock does not know, or that only the lock knows.
    """

    page: str
    state: State
    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()

    @property
    def remedy(self) -> Message:
        """What to do about it, without a full stop."""
        key, language = REMEDIES.get(self.state, ("accord_compare", ""))
        file = f"docs/{language}/{self.page}.md"
        return Message(key, {"file": file, "page": self.page})

    @property
    def message(self) -> Message:
        """The page, its state, its sections, and what to do."""
        named = {"zh": self.zh, "en": self.en, "new": self.unrecorded}
        lists = [
            Message(f"accord_in_{key}", {"names": ", ".join(names)})
            for key, names in named.items()
            if names
        ]
        values: dict[str, object] = {"page": self.page}
        values |= {"state": Message(self.state.value), "remedy": self.remedy}
        if self.state is State.ACCORD:
            return Message("accord_closed", values)
        if not lists:
            return Message("accord_open", values)
        both = reduce(lambda a, b: Message("accord_and", {"one": a, "two": b}), lists)
        return Message("accord_open_in", {**values, "where": both})

    def __str__(self) -> str:
        return str(self.message)


def judge(page: str, zh: Words | None, en: Words | None, lock: Lock | None) -> Accord:
    """The state of a page.

    Args:
        page: As in ``gae/inputs``.
        zh: Its words by section, or None where there is no such file.
        en: The same in English.
        lock: What was recorded, or None.

    Example:
        >>> print(judge("gae/inputs", {"why": "..."}, None, None))
        gae/inputs: no English; write docs/en/gae/inputs.md, then make agree \
PAGE=gae/inputs
    """
    if zh is None or en is None:
        return Accord(page, State.MISSING_ZH if zh is None else State.MISSING_EN)
    if lock is None:
        return Accord(page, State.UNRECORDED)
    there = dict.fromkeys([*zh, *en])
    known = [section for section in there if section in lock]
    changed_zh = tuple(s for s in known if digest(zh.get(s, "")) != lock[s].zh)
    changed_en = tuple(s for s in known if digest(en.get(s, "")) != lock[s].en)
    unrecorded = [s for s in dict.fromkeys([*there, *lock]) if s not in known]
    state = State.UNRECORDED if unrecorded else State.ACCORD
    if changed_zh or changed_en:
        state = State.ZH_AHEAD if changed_zh else State.EN_AHEAD
    if changed_zh and changed_en:
        state = State.BOTH_CHANGED
    return Accord(page, state, changed_zh, changed_en, tuple(unrecorded))


def read(root: Path, page: str) -> Accord:
    """The state of a page of the project at ``root``.

    Raises:
        ValueError: if its lock cannot be read, with the line and the remedy.
    """
    zh, en = (_text(root / "docs" / lang / f"{page}.md") for lang in ("zh", "en"))
    return judge(
        page,
        None if zh is None else wording(zh),
        None if en is None else wording(en),
        _lock(root, page),
    )


def read_all(root: Path) -> list[Accord]:
    """The states of all pages; of the same errors as :func:`read`."""
    return [read(root, page) for page in page_ids(root)]


def waiting(root: Path) -> list[Accord]:
    """Those that somebody has to do something about."""
    return [state for state in read_all(root) if state.state is not State.ACCORD]


def page_ids(root: Path) -> list[str]:
    """Every page that there is in some language."""
    folders = [root / "docs" / language for language in ("zh", "en")]
    return sorted({path[:-3] for folder in folders for path in paths(folder)})


def _lock(root: Path, page: str) -> Lock | None:
    text = _text(root / lock_path(page))
    return None if text is None else parse(text, page)


def _text(file: Path) -> str | None:
    return file.read_text("utf-8", errors="replace") if file.is_file() else None
