"""Formatters of the site's own fences, as pymdownx.superfences calls them."""

from html import escape
from typing import Any

from pymdownx.superfences import SuperFencesException

from site_tools.page.package_source import source as code_of


def output(
    text: str, language: str, css_class: str, options: Any, md: Any, **kwargs: Any
) -> str:
    """What a block printed: as text, or as a table or formula if its class says so."""
    if "formula" in kwargs["classes"]:
        return f'<div class="arithmatex">\\[{escape(text)}\\]</div>'
    if "table" in kwargs["classes"]:
        return _table(text)
    box = f"<pre><code>{escape(text)}</code></pre>"
    return f'<div class="language-output no-copy highlight">{box}</div>'


def _table(text: str) -> str:
    head, *rows = [line.split() for line in text.strip().splitlines()]
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return (
        f'<div class="output-table"><table><thead><tr>{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def source(
    text: str, language: str, css_class: str, options: Any, md: Any, **kwargs: Any
) -> str:
    """A function of ``ppo_ref``, coloured as Python."""
    try:
        code = code_of(text)
    except ValueError as error:
        # superfences turns every other exception into silence
        raise SuperFencesException(str(error)) from error
    options = {"options": {}, "classes": [], "id_value": "", "attrs": {}}
    fences = md.preprocessors["fenced_code_block"]
    html: str = fences.highlight(src=code, language="python", md=md, **options)
    return html


def derived(
    text: str, language: str, css_class: str, options: Any, md: Any, **kwargs: Any
) -> str:
    """The place of what is made from data; ``site.lists`` fills it."""
    lang = kwargs["attrs"].get("data-language", "")
    return (
        f'<div class="from-data" data-derived="{language}" '
        f'data-language="{escape(lang)}" data-argument="{escape(text)}"></div>'
    )
