"""Whether the two languages of a page say the same, as far as anybody declared it.

None of these states fails anything: either language may lead, and whoever writes one
language only is not held up. They are listed until somebody closes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from site_tools.data.locks import Lock, digest, lock_path, parse
from site_tools.page.wording import wording

Words = Mapping[str, str]


class State(Enum):
    """How the two languages of a page stand to each other."""

    ACCORD = "in accord"
    MISSING_ZH = "no Chinese"
    MISSING_EN = "no English"
    ZH_AHEAD = "Chinese ahead"
    EN_AHEAD = "English ahead"
    BOTH_CHANGED = "both changed"
    UNRECORDED = "never recorded"


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
    def remedy(self) -> str:
        """What somebody can do about it, in one sentence without a full stop."""
        agree = f"then make agree PAGE={self.page}"
        match self.state:
            case State.ACCORD:
                return ""
            case State.MISSING_ZH | State.MISSING_EN:
                lang = "zh" if self.state is State.MISSING_ZH else "en"
                return f"write docs/{lang}/{self.page}.md, {agree}"
            case State.ZH_AHEAD:
                return f"say the same in docs/en/{self.page}.md, {agree}"
            case State.EN_AHEAD:
                return f"say the same in docs/zh/{self.page}.md, {agree}"
        return f"compare both languages, {agree}"

    def __str__(self) -> str:
        named = {"zh": self.zh, "en": self.en, "not recorded": self.unrecorded}
        where = "; ".join(f"{k}: {', '.join(v)}" for k, v in named.items() if v)
        state = f"{self.state.value} ({where})" if where else self.state.value
        return f"{self.page}: {state}" + (f"; {self.remedy}" if self.remedy else "")


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
    lock = _text(root / lock_path(page))
    return judge(
        page,
        None if zh is None else wording(zh),
        None if en is None else wording(en),
        None if lock is None else parse(lock, page),
    )


def read_all(root: Path) -> list[Accord]:
    """The states of all pages; of the same errors as :func:`read`."""
    return [read(root, page) for page in page_ids(root)]


def waiting(root: Path) -> list[Accord]:
    """Those of them that want somebody's hand."""
    return [state for state in read_all(root) if state.state is not State.ACCORD]


def page_ids(root: Path) -> list[str]:
    """Every page that there is in some language."""
    found = set()
    for folder in (root / "docs" / "zh", root / "docs" / "en"):
        for file in folder.rglob("*.md"):
            inner = file.relative_to(folder).with_suffix("")
            if not any(part.startswith(".") for part in inner.parts):
                found.add(inner.as_posix())
    return sorted(found)


def _text(file: Path) -> str | None:
    if not file.is_file():
        return None
    return file.read_text("utf-8", errors="replace")
