"""Whether the two languages of a page say the same, as far as anybody declared it.

What a page said in both languages when somebody called them equal is recorded in
``docs/locks``, a file a page and a line a section (see ``ledger``):

    answer zh:9cf6e368c090 en:b5af38dfde76

No state fails anything: either language may lead. States are listed until somebody
closes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from site_tools import ledger
from site_tools.page.wording import wording
from site_tools.say import Message, Problem, problem
from site_tools.source.files import page_ids

Words = Mapping[str, str]  # of each section
FOLDER = "docs/locks"


class Pair(NamedTuple):  # the hashes of one section
    zh: str
    en: str


Lock = Mapping[str, Pair]


def lock_path(page: str) -> str:
    """Where the lock of a page lies."""
    return f"{FOLDER}/{page}.txt"


def lock_of(zh: Words, en: Words) -> Lock:
    """The lock of a page whose words are these in the two languages."""
    sides = (zh, en)
    return {
        section: Pair(*(ledger.digest(words.get(section, ""), 12) for words in sides))
        for section in sorted({*zh, *en})
    }


def write(lock: Lock) -> str:
    """The text of a lock file."""
    return ledger.dump({what: ledger.Entry(lock[what]._asdict()) for what in lock})


def parse(text: str, page: str) -> Lock:
    """Read a lock file, or raise ValueError with the ``Problem`` of its first fault."""
    file = lock_path(page)
    try:
        entries = ledger.parse(text, file)
        for number, entry in enumerate(entries.values(), 1):
            if [*entry.made_from] != ["zh", "en"]:
                raise ledger.Damaged(file, number, text.splitlines()[number - 1])
    except ledger.Damaged as error:
        values = {"text": error.text, "page": page}
        raise ValueError(problem(file, error.line, "lock_damaged", **values)) from None
    return {what: Pair(**entry.made_from) for what, entry in entries.items()}


def check_lock(root: Path, page: str) -> list[Problem]:
    """The line at which the lock of a page cannot be read; it need not have one."""
    try:
        _lock(root, page)
    except ValueError as error:
        return [error.args[0]]
    return []


State = Enum(
    "State",
    "ACCORD MISSING_ZH MISSING_EN ZH_AHEAD EN_AHEAD BOTH_CHANGED UNRECORDED",
)
# What to do, and in which language.
REMEDIES = {
    State.MISSING_ZH: ("accord_write", "zh"),
    State.MISSING_EN: ("accord_write", "en"),
    State.ZH_AHEAD: ("accord_follow", "en"),
    State.EN_AHEAD: ("accord_follow", "zh"),
}


@dataclass(frozen=True)
class Accord:
    """A page, its state, and the sections whose words changed or are not recorded."""

    page: str
    state: State
    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()

    @property
    def message(self) -> Message:
        """The page, its state, its sections, and what to do."""
        key, language = REMEDIES.get(self.state, ("accord_compare", ""))
        file = f"docs/{language}/{self.page}.md"
        values: dict[str, object] = {"page": self.page}
        values["remedy"] = Message(key, {"file": file, "page": self.page})
        values["state"] = Message(f"state_{self.state.name.lower()}")
        sections = {"zh": self.zh, "en": self.en, "new": self.unrecorded}
        lists = [f"{key}: {', '.join(s)}" for key, s in sections.items() if s]
        values["where"] = "; ".join(lists)
        if self.state is State.ACCORD:
            return Message("accord_closed", values)
        return Message("accord_open_in" if lists else "accord_open", values)

    def __str__(self) -> str:
        return str(self.message)


def judge(page: str, zh: Words | None, en: Words | None, lock: Lock | None) -> Accord:
    """The state of a page by its words and its lock, None where there is no file."""
    if zh is None or en is None:
        return Accord(page, State.MISSING_ZH if zh is None else State.MISSING_EN)
    if lock is None:
        return Accord(page, State.UNRECORDED)
    now = lock_of(zh, en)
    sections = dict.fromkeys([*zh, *en, *lock])
    both = [s for s in sections if s in now and s in lock]
    changed_zh = tuple(s for s in both if now[s].zh != lock[s].zh)
    changed_en = tuple(s for s in both if now[s].en != lock[s].en)
    unrecorded = tuple(s for s in sections if s not in both)
    if changed_zh and changed_en:
        state = State.BOTH_CHANGED
    elif changed_zh or changed_en:
        state = State.ZH_AHEAD if changed_zh else State.EN_AHEAD
    else:
        state = State.UNRECORDED if unrecorded else State.ACCORD
    return Accord(page, state, changed_zh, changed_en, unrecorded)


def read(root: Path, page: str) -> Accord:
    """The state of a page of the project; ValueError if its lock cannot be read."""
    texts = [_text(root / "docs" / lang / f"{page}.md") for lang in ("zh", "en")]
    zh, en = (None if text is None else wording(text) for text in texts)
    return judge(page, zh, en, _lock(root, page))


def waiting(root: Path) -> list[Accord]:
    """The states of the pages that somebody has to do something about."""
    states = (read(root, page) for page in page_ids(root))
    return [state for state in states if state.state is not State.ACCORD]


def _lock(root: Path, page: str) -> Lock | None:
    text = _text(root / lock_path(page))
    return None if text is None else parse(text, page)


def _text(file: Path) -> str | None:
    return file.read_text("utf-8", errors="replace") if file.is_file() else None
