"""Formatters of the site's own fences, as pymdownx.superfences calls them."""

from collections.abc import Callable
from html import escape
from typing import Any

from pymdownx.superfences import SuperFencesException

from site_tools.site import derived


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


def _derived(name: str) -> Callable[..., str]:
    def formatter(
        text: str, language: str, css_class: str, options: Any, md: Any, **kwargs: Any
    ) -> str:
        try:
            html = derived.DERIVE[name](text, kwargs["attrs"])
        except ValueError as error:
            # superfences turns every other exception into silence
            raise SuperFencesException(str(error)) from error
        return _highlighted(html, md) if name == "source" else html

    return formatter


def _highlighted(code: str, md: Any) -> str:
    fences = md.preprocessors["fenced_code_block"]
    html: str = fences.highlight(
        src=code,
        language="python",
        md=md,
        options={},
        classes=[],
        id_value="",
        attrs={},
    )
    return html


fact = _derived("fact")
source = _derived("source")
glossary = _derived("glossary")
notation = _derived("notation")
status = _derived("status")
benchmarks = _derived("benchmarks")
questions = _derived("questions")
topic = _derived("topic")
wrong_answers = _derived("wrong_answers")
frameworks = _derived("frameworks")
