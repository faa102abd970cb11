"""The names of the field, one row each: the only source of glossary and notation."""

from html import escape
from typing import NamedTuple

import yaml

LABELS = {
    "zh": {
        "symbol": "记号",
        "code": "代码里的名字",
        "shape": "形状",
        "unit": "单位",
        "meaning": "含义",
        "term": "术语",
        "other": "英文",
    },
    "en": {
        "symbol": "Symbol",
        "code": "Name in code",
        "shape": "Shape",
        "unit": "Unit",
        "meaning": "Meaning",
        "term": "Term",
        "other": "Chinese",
    },
}


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
    """A table of every name with a symbol: symbol, code, shape, unit, meaning."""
    labels = _labels(language)
    rows = [
        [
            f'<span class="arithmatex">\\({escape(name.symbol)}\\)</span>',
            f"<code>{escape(name.code)}</code>" if name.code else "",
            escape(name.shape),
            escape(getattr(name, f"unit_{language}")),
            f"{escape(getattr(name, language))}"
            f"{'：' if language == 'zh' else ': '}"
            f"{escape(getattr(name, f'meaning_{language}'))}",
        ]
        for name in names
        if name.symbol
    ]
    heads = [labels[key] for key in ("symbol", "code", "shape", "unit", "meaning")]
    return _table(heads, rows)


def glossary(names: list[Name], language: str) -> str:
    """A table of every name: term, the term in the other language, meaning."""
    labels = _labels(language)
    other = "en" if language == "zh" else "zh"
    rows = [
        [
            f'<span id="{escape(name.id)}">{escape(getattr(name, language))}</span>',
            escape(getattr(name, other)),
            escape(getattr(name, f"meaning_{language}")),
        ]
        for name in names
    ]
    return _table([labels[key] for key in ("term", "other", "meaning")], rows)


def _labels(language: str) -> dict[str, str]:
    if language not in LABELS:
        raise ValueError(
            f'the fence must say data-language="zh" or "en", got {language!r}'
        )
    return LABELS[language]


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    body = "\n".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n"
        f"</table></div></div>"
    )
