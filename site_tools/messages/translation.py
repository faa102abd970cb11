"""Messages in the contributor's language, looked up as they leave.

Checks and commands write English, values filled in. The files in ``chinese`` have a
row for each sentence, with ``{name}`` where a value stands; a value that is a
sentence of the list itself is translated too.
"""

import functools
import re
from pathlib import Path
from typing import NamedTuple

import yaml

FOLDER = Path(__file__).with_name("chinese")
VALUE = re.compile(r"\{(\w+)\}")

# What a value may be, by its name; whatever else is a text. Without it a row of few
# words of its own, as "{number} with {what}", would fit sentences of other rows.
FIGURE, WORD, FILE = r"\S*\d\S*", r"\S+", r"[^\s:]*[./][^\s:]*"
FORMS = {
    **dict.fromkeys(("number", "count", "size", "most", "wide", "line"), FIGURE),
    **dict.fromkeys(("key", "field", "same", "page"), WORD),
    "file": FILE,
    "form": r"an? [\w ]+|worked arithmetic",
    "kind": "(?:displayed )?formula|code block|heading|link|inline code|picture|box"
    "|(?:quoted )?figure|table row",
    "unit": "characters|words",
    "side": "before it|behind it",
    "state": "is missing|does not belong here|named twice|on no page",
    "markup": "an? [^;,]+",
}


class Sentence(NamedTuple):
    """An English sentence, as a pattern of what is said, and the Chinese one."""

    english: str
    chinese: str
    parts: tuple[str, ...]  # what stands between the values
    pattern: re.Pattern[str]

    @property
    def fixed(self) -> int:
        """How much of it is no value: the more, the surer."""
        return sum(map(len, self.parts))

    @property
    def exact(self) -> bool:
        """Whether it has no value."""
        return len(self.parts) == 1

    def values(self, text: str) -> dict[str, str] | None:
        """Its values in a text, or None where it is another sentence."""
        if not all(part in text for part in self.parts):  # which is found out fast
            return None
        match = self.pattern.fullmatch(text)
        return match.groupdict() if match else None


def translate(text: str, language: str) -> str:
    """The text in a language; line by line, and as it stands where no row fits.

    Args:
        text: What is said in English.
        language: ``zh`` or ``en``.

    Example:
        >>> translate("no (nobody to ask; --yes agrees)", "zh")
        '否（没有人可问；加 --yes 表示同意）'
    """
    if language == "en":
        return text
    whole = _sentence(text)
    if whole is not None:
        return whole
    return "\n".join(map(_said, text.split("\n")))


def _sentence(text: str) -> str | None:
    body = text.strip()
    before, _, after = text.partition(body) if body else (text, "", "")
    for row in sentences():
        values = row.values(body)
        if values is not None:
            return before + _filled(row.chinese, values) + after
    return None


def _filled(chinese: str, values: dict[str, str]) -> str:
    return VALUE.sub(lambda at: _said(values[at[1]]), chinese)


def _said(text: str) -> str:
    return text if (said := _sentence(text)) is None else said


@functools.cache
def sentences() -> tuple[Sentence, ...]:
    """All of them: exact ones first, then those with the most fixed words."""
    files = sorted(FOLDER.glob("*.yml"))
    rows = [row for file in files for row in parse(file.read_text("utf-8"), file.name)]
    return tuple(sorted(rows, key=lambda row: (not row.exact, -row.fixed)))


def parse(text: str, name: str) -> list[Sentence]:
    """Read a file of them: rows ``English sentence: Chinese sentence``.

    Raises:
        ValueError: naming a row whose two sentences have different values.

    Example:
        >>> parse("'no page {page}': 没有这一页：{page}", "a.yml")[0].chinese
        '没有这一页：{page}'
    """
    rows = yaml.load(text, Loader=yaml.CBaseLoader)
    if not isinstance(rows, dict):
        raise ValueError(f"{name}: must be rows 'English: Chinese'")
    for english, chinese in rows.items():
        if set(VALUE.findall(english)) != set(VALUE.findall(chinese)):
            raise ValueError(
                f"{name}: both sentences must have the same values in braces, "
                f"got {english!r} and {chinese!r}"
            )
    return [_row(english, chinese) for english, chinese in rows.items()]


def _row(english: str, chinese: str) -> Sentence:
    parts = VALUE.split(english)
    fixed = [re.escape(part) for part in parts[::2]]
    values = [f"(?P<{name}>{FORMS.get(name, '.+?')})" for name in parts[1::2]]
    pattern = "".join(a + b for a, b in zip(fixed, [*values, ""], strict=True))
    form = re.compile(pattern, re.DOTALL)
    return Sentence(english, chinese, tuple(parts[::2]), form)
