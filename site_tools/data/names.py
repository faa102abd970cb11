"""The names of the field, one row each: the only source of glossary and notation."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import yaml

from site_tools.data.texts import FORMULA, as_html
from site_tools.numbers import find
from site_tools.page.formula_figures import in_formula
from site_tools.page.front_matter import StrictLoader
from site_tools.page.yaml_limits import limit

LISTS = ("also_zh", "also_en", "not_zh", "not_en")
SHAPE = re.compile(r"\[[A-Za-z_]+(, [A-Za-z_]+)*\]")


class Name(NamedTuple):
    """One idea: its term in both languages, and its symbol if it has one.

    ``also_zh`` and ``also_en`` are further words for it, found in the text of pages;
    ``not_zh`` and ``not_en`` those that pages do not use, ``choice_zh`` and
    ``choice_en`` why not.
    """

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
    also_zh: Sequence[str] = ()
    also_en: Sequence[str] = ()
    not_zh: Sequence[str] = ()
    not_en: Sequence[str] = ()
    choice_zh: str = ""
    choice_en: str = ""


def parse(text: str) -> list[Name]:
    """Read ``docs/names.yml``.

    Raises:
        ValueError: naming the row and the field that is missing, unknown or wrong.
    """
    names: list[Name] = []
    for number, row in enumerate(_rows(text), 1):
        fault = _fault(row, {name.id for name in names})
        if fault:
            raise ValueError(f"names.yml, row {number} ({row.get('id')}): {fault}")
        lists = {field: tuple(row[field]) for field in LISTS if field in row}
        names.append(Name(**row | lists))
    return names


def _rows(text: str) -> Any:
    try:
        limit(text)
        return yaml.load(text, Loader=StrictLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"names.yml: must be YAML, got {error}") from None


def _fault(row: dict[str, Any], taken: set[str]) -> str | None:
    for field in row.keys() - set(Name._fields):
        return f"field must be in {Name._fields}, got {field!r}"
    for field in set(Name._fields) - set(Name._field_defaults) - row.keys():
        return f"{field} is missing"
    if row["id"] in taken:
        return "the id is taken by an earlier row"
    if row.keys() & {"not_zh", "not_en"}:
        for field in {"choice_zh", "choice_en"} - row.keys():
            return f"{field} is missing: why not the words under not_zh and not_en"
    for field, value in row.items():
        several = field in LISTS
        if several and not isinstance(value, list):
            return f"{field} must be a list of texts, got {value!r}"
        for text in value if several else [value]:
            if fault := _wrong(field, text):
                return f"{field} must {fault}"
    return None


def _wrong(field: str, value: object) -> str | None:
    if not isinstance(value, str):
        return f"be text, got {value!r}; put it between quotes"
    if field == "shape" and not SHAPE.fullmatch(value):
        return f"hold names only, as in [batch, time], got {value!r}"
    prose = "" if field == "symbol" else FORMULA.sub(" ", value)
    for figure in (*(n.text for n in find(prose)), *in_formula(value)):
        return f"hold no figure, got {figure}; say it on a page, where it is bound"
    return None


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
    """Every name: term, the term in the other language, meaning, why that word."""
    _check(language)
    other = "en" if language == "zh" else "zh"
    return _list(
        f'<dt id="{escape(name.id)}">{escape(getattr(name, language))} '
        f'<span class="detail" lang="{other}">{escape(getattr(name, other))}</span>'
        f"</dt><dd>{_meaning(name, language)}{_choice(name, language)}</dd>"
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
    return f'<dt id="{escape(name.id)}">{symbol}{code}'


def _details(name: Name, language: str) -> str:
    details = filter(None, (name.shape, getattr(name, f"unit_{language}")))
    return f' <span class="detail">{escape(" · ".join(details))}</span></dt>'


def _meaning(name: Name, language: str) -> str:
    return as_html(getattr(name, f"meaning_{language}"))


def _choice(name: Name, language: str) -> str:
    why = as_html(getattr(name, f"choice_{language}"))
    return f' <span class="choice">{why}</span>' if why else ""


def _list(items: Iterable[str]) -> str:
    return '<dl class="names">\n' + "\n".join(items) + "\n</dl>"
