"""What a fence that is made from data becomes: checked facts, names, source code."""

import difflib
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from site_tools.data import facts
from site_tools.data.names import Name, read_names
from site_tools.html import measurements
from site_tools.html import status as status_page
from site_tools.indexes import fences as lists
from site_tools.page.package_source import source as package_source
from site_tools.site.texts import as_html

CONCEPT = re.compile(r"\w+")
ROOT = Path(__file__).resolve().parents[2]


def fact(body: str, values: Mapping[str, str]) -> str:
    """The places of a release that a concept's facts file names.

    Args:
        body: ``concept release``, as in ``values verl 0.9.1``.
        values: Attributes of the fence; none is known.

    Raises:
        ValueError: if there is no such concept or no such release in it.
    """
    concept, _, release = body.strip().partition(" ")
    file = ROOT / "docs" / "facts" / f"{concept}.yml"
    if not CONCEPT.fullmatch(concept) or not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.yml"))
        nearest = difflib.get_close_matches(concept, known, n=1, cutoff=0)[0]
        raise ValueError(
            "fact: the concept must be one of docs/facts, "
            f"the nearest is {nearest}; got {concept}"
        )
    return places(facts.parse(file.read_text("utf-8"), file.name), release)


def places(concept: facts.Concept, release: str) -> str:
    """A ``<p class="fact">`` per entry; ``fact unchecked`` if it is in no wheel.

    Raises:
        ValueError: if the concept has no entry of that release.
    """
    if release not in concept.releases:
        known = ", ".join(concept.releases)
        raise ValueError(f"{concept.name}: release must be in {known}, got {release}")
    return "\n".join(
        f'<p class="{entry.kind}">{escape(entry.place)} '
        f"<code>{escape(entry.code)}</code></p>"
        for entry in concept.of(release)
    )


def source(body: str, values: Mapping[str, str]) -> str:
    """A function of the package, with what it takes to run on its own."""
    return package_source(body)


def notation(body: str, values: Mapping[str, str]) -> str:
    """The table of symbols, in the language of ``data-language``."""
    return symbols(read_names(ROOT), values.get("data-language", ""))


def glossary(body: str, values: Mapping[str, str]) -> str:
    """The table of terms, in the language of ``data-language``."""
    return terms(read_names(ROOT), values.get("data-language", ""))


def symbols(names: Iterable[Name], language: str) -> str:
    """Every name with a symbol: symbol, name in code, shape and unit, meaning."""
    lists.language({"data-language": language})
    return _list(
        f"{_symbol(name)}{_details(name, language)}"
        f"<dd><strong>{escape(name.text('', language))}</strong>"
        f"{'：' if language == 'zh' else ': '}{_meaning(name, language)}</dd>"
        for name in names
        if name.symbol
    )


def terms(names: Iterable[Name], language: str) -> str:
    """Every name: term, the term in the other language, meaning, why that word."""
    lists.language({"data-language": language})
    other = "en" if language == "zh" else "zh"
    return _list(
        f'<dt id="{escape(name.id)}">{escape(name.text("", language))} '
        f'<span class="detail" lang="{other}">{escape(name.text("", other))}</span>'
        f"</dt><dd>{_meaning(name, language)}{_choice(name, language)}</dd>"
        for name in names
    )


def _symbol(name: Name) -> str:
    symbol = f'<span class="arithmatex">\\({escape(name.symbol)}\\)</span>'
    code = f" <code>{escape(name.code)}</code>" if name.code else ""
    return f'<dt id="{escape(name.id)}">{symbol}{code}'


def _details(name: Name, language: str) -> str:
    details = filter(None, (name.shape, name.text("unit", language)))
    return f' <span class="detail">{escape(" · ".join(details))}</span></dt>'


def _meaning(name: Name, language: str) -> str:
    return as_html(name.text("meaning", language))


def _choice(name: Name, language: str) -> str:
    why = as_html(name.text("choice", language))
    return f' <span class="choice">{why}</span>' if why else ""


def _list(items: Iterable[str]) -> str:
    return '<dl class="names">\n' + "\n".join(items) + "\n</dl>"


def status(body: str, values: Mapping[str, str]) -> str:
    """A part of the status page, in the language of ``data-language``."""
    return status_page.render(body.strip(), values.get("data-language", ""), ROOT)


def benchmarks(body: str, values: Mapping[str, str]) -> str:
    """A part of the benchmarks page, in the language of ``data-language``."""
    return measurements.render(body.strip(), values.get("data-language", ""), ROOT)


DERIVE = {
    "fact": fact,
    "notation": notation,
    "glossary": glossary,
    "source": source,
    "status": status,
    "benchmarks": benchmarks,
    **lists.DERIVE,
}
