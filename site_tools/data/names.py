"""The names of the field, one row each: the only source of glossary and notation."""

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import yaml


class Name(NamedTuple):
    """One idea: its term in both languages, and its symbol if it has one."""

    id: str
    zh: str
    en: str
    meaning_zh: str
    meaning_en: str
    symbol: str = ""
    code: str = ""
    shape: str = ""
    unit_zh: str = ""
    unit_en: str = ""


def parse(text: str) -> list[Name]:
    """Read ``docs/names.yml``.

    Raises:
        ValueError: naming the row and the field that is missing or unknown.
    """
    rows = yaml.safe_load(text)
    names: list[Name] = []
    for number, row in enumerate(rows, 1):
        where = f"names.yml, row {number} ({row.get('id', 'no id')})"
        for field in row.keys() - set(Name._fields):
            raise ValueError(f"{where}: field must be in {Name._fields}, got {field!r}")
        for field in set(Name._fields) - set(Name._field_defaults) - row.keys():
            raise ValueError(f"{where}: {field} is missing")
        if row["id"] in {name.id for name in names}:
            raise ValueError(f"{where}: the id is taken by an earlier row")
        names.append(Name(**{key: str(value) for key, value in row.items()}))
    return names


def notation(names: list[Name], language: str) -> str:
    """Every name with a symbol: symbol, name in code, shape and unit, meaning."""
    _check(language)
    return _list(
        f"{_symbol(name)}{_details(name, language)}"
        f"<dd><strong>{escape(getattr(name, language))}</strong>"
        f"{'：' if language == 'zh' else ': '}{_meaning(name, language)}</dd>"
        for name in names
        if name.symbol
    )


def glossary(names: list[Name], language: str) -> str:
    """Every name: term, the term in the other language, meaning."""
    _check(language)
    other = "en" if language == "zh" else "zh"
    return _list(
        f'<dt id="{escape(name.id)}">{escape(getattr(name, language))} '
        f'<span class="detail" lang="{other}">{escape(getattr(name, other))}</span>'
        f"</dt><dd>{_meaning(name, language)}</dd>"
        for name in names
    )


def _check(language: str) -> None:
    if language not in ("zh", "en"):
        raise ValueError(
            f'the fence must say data-language="zh" or "en", got {language!r}'
        )


def _symbol(name: Name) -> str:
    symbol = f'<span class="arithmatex">\\({escape(name.symbol)}\\)</span>'
    code = f" <code>{escape(name.code)}</code>" if name.code else ""
    return f"<dt>{symbol}{code}"


def _details(name: Name, language: str) -> str:
    details = filter(None, (name.shape, getattr(name, f"unit_{language}")))
    return f' <span class="detail">{escape(" · ".join(details))}</span></dt>'


def _meaning(name: Name, language: str) -> str:
    return escape(getattr(name, f"meaning_{language}"))


def _list(items: Iterable[str]) -> str:
    return '<dl class="names">\n' + "\n".join(items) + "\n</dl>"
