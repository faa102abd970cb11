"""Two languages of one page, and whether somebody has agreed that they say the same.

Whoever has compared them declares it (``make agree``). Each page then has a line in its
front matter, the hash of the words that the other language had at that moment:

    agreed: 9cf6e368c090

No state fails anything: either language may lead. States are listed until somebody
closes them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from site_tools.ledger import digest
from site_tools.messages import Message, Problem, Refusal
from site_tools.page.page import Page
from site_tools.page.wording import FRONT, wording
from site_tools.source.files import page_ids, read_front_matter

KEY = "agreed"
DIGITS_OF_WORDS = 12
AGREED_FORM = re.compile(rf"[0-9a-f]{{{DIGITS_OF_WORDS}}}")
AGREED_LINE = re.compile(rf"^{KEY}:[^\r\n]*", re.MULTILINE)
# The front matter as far as its last line, whatever ends the lines.
FRONT_LINES = re.compile(r"\A\ufeff?---(?P<end>\r?\n)(?:.*\n)*?(?=---\r?\n)")

# A language, and the other one.
BOTH_WAYS = (("zh", "en"), ("en", "zh"))

TwinState = Enum(
    "TwinState",
    "IN_STEP MISSING_ZH MISSING_EN ZH_AHEAD EN_AHEAD BOTH_CHANGED UNRECORDED",
)
# What to do, and in which language.
TWIN_REMEDIES = {
    TwinState.MISSING_ZH: ("twins_write", "zh"),
    TwinState.MISSING_EN: ("twins_write", "en"),
    TwinState.ZH_AHEAD: ("twins_follow", "en"),
    TwinState.EN_AHEAD: ("twins_follow", "zh"),
}


@dataclass(frozen=True)
class Twins:
    """A page, and how its two languages stand to each other."""

    page: str
    state: TwinState

    @property
    def in_step(self) -> bool:
        return self.state is TwinState.IN_STEP

    @property
    def message(self) -> Message:
        """The page, its state, and what to do."""
        key, language = TWIN_REMEDIES.get(self.state, ("twins_compare", ""))
        file = f"docs/{language}/{self.page}.md"
        remedy = Message(key, {"file": file, "page": self.page})
        state = Message(f"state_{self.state.name.lower()}")
        values = {"page": self.page, "state": state, "remedy": remedy}
        return Message("twins_in_step" if self.in_step else "twins_open", values)

    def __str__(self) -> str:
        return str(self.message)


def plain_ends(text: str) -> str:
    """A text as pages are read, whatever an editor has made of its lines."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def words_hash(text: str) -> str:
    """The hash of a page's words; code, figures and layout are none of them.

    Neither are aliases: each language has its own ways to ask.
    """
    text = plain_ends(text)
    meta, _ = read_front_matter(text, "")
    words = [str(meta[key]) for key in ("question", "title") if meta.get(key)]
    sections = wording(text)
    words += [sections[name] for name in sections if name != FRONT]
    return digest("\n".join(words), DIGITS_OF_WORDS)


def agreed_hash(text: str) -> str:
    """The hash that the front matter of a page has as ``agreed``, or nothing."""
    meta, _ = read_front_matter(plain_ends(text), "")
    value = str(meta.get(KEY) or "")
    return value if AGREED_FORM.fullmatch(value) else ""


def with_agreed(text: str, hashed: str, file: str) -> str:
    """A page with this line in its front matter; every other byte as it was."""
    front = FRONT_LINES.match(text)
    if front is None:
        raise Refusal("agree_front", file=file)
    line = f"{KEY}: {hashed}"
    top = front[0]
    if AGREED_LINE.search(top):
        top = AGREED_LINE.sub(line, top, count=1)
    else:
        top += line + front["end"]
    return top + text[front.end() :]


def with_both_agreed(texts: Mapping[str, str], page: str) -> dict[str, str]:
    """A page's two texts by language, each with the hash of the other's words."""
    agreed = {}
    for language, other in BOTH_WAYS:
        file = f"docs/{language}/{page}.md"
        hashed = words_hash(texts[other])
        agreed[language] = with_agreed(texts[language], hashed, file)
    return agreed


def with_agreement_kept(
    before: Mapping[str, str], after: Mapping[str, str], page: str
) -> dict[str, str]:
    """A page after a change that says nothing new: what was agreed stays agreed.

    Words that had changed since somebody agreed wait as before.
    """
    kept = dict(after)
    for language, other in BOTH_WAYS:
        if language not in before or other not in before:
            continue
        old, new = words_hash(before[other]), words_hash(after[other])
        if old != new and agreed_hash(before[language]) == old:
            file = f"docs/{language}/{page}.md"
            kept[language] = with_agreed(after[language], new, file)
    return kept


def state_of_twins(zh: str | None, en: str | None) -> TwinState:
    """The state of a page by its texts, None where a language has none."""
    if zh is None:
        return TwinState.MISSING_ZH
    if en is None:
        return TwinState.MISSING_EN
    agreed_of_zh, agreed_of_en = agreed_hash(en), agreed_hash(zh)
    if not (agreed_of_zh and agreed_of_en):
        return TwinState.UNRECORDED
    zh_changed = agreed_of_zh != words_hash(zh)
    en_changed = agreed_of_en != words_hash(en)
    if zh_changed and en_changed:
        return TwinState.BOTH_CHANGED
    if zh_changed:
        return TwinState.ZH_AHEAD
    if en_changed:
        return TwinState.EN_AHEAD
    return TwinState.IN_STEP


def twins_of(root: Path, page: str) -> Twins:
    """A page of the project, as its two files stand now."""
    texts = []
    for language in ("zh", "en"):
        file = root / "docs" / language / f"{page}.md"
        there = file.is_file()
        texts.append(file.read_text("utf-8", errors="replace") if there else None)
    return Twins(page, state_of_twins(*texts))


def twins_that_wait(root: Path) -> list[Twins]:
    """The pages that somebody has to do something about."""
    every = [twins_of(root, page) for page in page_ids(root)]
    return [twins for twins in every if not twins.in_step]


def check_agreed(page: Page) -> list[Problem]:
    """The line ``agreed`` of a page, where it is no hash."""
    if KEY not in page.meta or agreed_hash(page.text):
        return []
    line, value = page.line_with(f"{KEY}:"), page.meta[KEY]
    return [page.problem(line, "agreed_form", value=value, page=page.id)]
