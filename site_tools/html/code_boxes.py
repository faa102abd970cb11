"""The code boxes of a rendered page, matched with its blocks and added to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from site_tools.page.blocks import Block

# As Markdown writes them: values in double quotes, and < only where a tag begins.
# (HTMLParser takes many times as long.)
TAG = re.compile(
    r'<(?P<name>/?(?:div|pre|code))(?P<attributes>(?:\s+[^\s"=>]+(?:="[^"]*")?)*)\s*>'
)
ATTRIBUTE = re.compile(r'([^\s"=]+)(?:="([^"]*)")?')


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
    boxes = list(_boxes(html))
    if len(boxes) != len(additions):
        raise ValueError(
            f"a page must have a code box for each fence that shows one: "
            f"{len(additions)} fences, {len(boxes)} boxes"
        )
    for div, addition in reversed([*zip(boxes, additions, strict=True)]):
        if addition:
            opening = _opening(div.attributes, addition.attributes)
            html = html[: div.start] + opening + addition.html + html[div.end :]
    return html


@dataclass(frozen=True)
class _Div:
    """An opening tag: where it stands, and its attributes as they are written."""

    start: int
    end: int
    attributes: dict[str, str]


def _boxes(html: str) -> Iterator[_Div]:
    """The opening tag of the div around each ``<pre>...<code>``."""
    divs: list[re.Match[str]] = []
    in_pre = False
    for tag in TAG.finditer(html):
        match tag["name"]:
            case "div":
                divs.append(tag)
            case "/div" if divs:
                divs.pop()
            case "pre" | "/pre" as name:
                in_pre = name == "pre"
            case "code" if in_pre:
                if not divs:
                    raise ValueError("a code box must be made by a fence")
                attributes = dict(ATTRIBUTE.findall(divs[-1]["attributes"]))
                yield _Div(divs[-1].start(), divs[-1].end(), attributes)
                in_pre = False


def _opening(present: Mapping[str, str], added: Mapping[str, str]) -> str:
    both = {**present, **{name: escape(value) for name, value in added.items()}}
    if "class" in present and "class" in added:
        both["class"] = f"{present['class']} {both['class']}"
    written = (f' {name}="{value}"' for name, value in both.items())
    return f"<div{''.join(written)}>"
