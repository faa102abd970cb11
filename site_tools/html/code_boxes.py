"""The code boxes of a rendered page, matched with its blocks and added to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from itertools import accumulate

from site_tools.source.blocks import Block


@dataclass(frozen=True)
class Addition:
    """What one code box gets.

    Args:
        attributes: Of the div around it, unescaped; a ``class`` joins those it has.
        html: What stands in the div before the code.
    """

    attributes: Mapping[str, str] = field(default_factory=dict)
    html: str = ""


def boxed(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that readers see as a code box, in the order of the boxes."""
    return [block for block in blocks if block.has_box]


def decorate(html: str, additions: Sequence[Addition | None]) -> str:
    """Add to the code boxes of a rendered page; None leaves a box as it is.

    It can be called again on what it returned.

    Args:
        html: The rendered body of a page.
        additions: One for each box, in order, as ``boxed`` lists them.

    Raises:
        ValueError: if the page has more or fewer boxes, or one without a div around.

    Example:
        >>> box = '<div class="highlight"><pre><code>x</code></pre></div>'
        >>> decorate(box, [Addition({"class": "run", "data-copy": '"x"'})])[:53]
        '<div class="highlight run" data-copy="&quot;x&quot;">'
    """
    reader = _Boxes(html)
    if len(reader.boxes) != len(additions):
        raise ValueError(
            f"a page must have a code box for each fence that shows one: "
            f"{len(additions)} fences, {len(reader.boxes)} boxes"
        )
    for div, addition in reversed([*zip(reader.boxes, additions, strict=True)]):
        if addition:
            opening = _opening(div.attributes, addition.attributes)
            html = html[: div.start] + opening + addition.html + html[div.end :]
    return html


@dataclass(frozen=True)
class _Div:
    """An opening tag: where it stands, and what it says."""

    start: int
    end: int
    attributes: dict[str, str]


class _Boxes(HTMLParser):
    """Finds the opening tag of the div around each ``<pre>...<code>``."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.boxes: list[_Div] = []
        self._open: list[_Div] = []
        self._in_pre = False
        lengths = [len(line) + 1 for line in html.split("\n")]
        self._starts = [0, *accumulate(lengths)]
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "div":
            line, column = self.getpos()
            start = self._starts[line - 1] + column
            end = start + len(self.get_starttag_text() or "")
            values = {name: value or "" for name, value in attrs}
            self._open.append(_Div(start, end, values))
        elif tag == "pre":
            self._in_pre = True
        elif tag == "code" and self._in_pre:
            if not self._open:
                raise ValueError("a code box must be made by a fence, not by indenting")
            self.boxes.append(self._open[-1])
            self._in_pre = False

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self._open:
            self._open.pop()
        elif tag == "pre":
            self._in_pre = False


def _opening(present: Mapping[str, str], added: Mapping[str, str]) -> str:
    both = {**present, **added}
    if "class" in present and "class" in added:
        both["class"] = f"{present['class']} {added['class']}"
    written = (f' {name}="{escape(value)}"' for name, value in both.items())
    return f"<div{''.join(written)}>"
