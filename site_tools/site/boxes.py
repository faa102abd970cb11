"""The code boxes of a page: what is copied from each, and with what it was verified."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup, escape

from site_tools.page.blocks import Block, Kind
from site_tools.page.copying import Copy, copies
from site_tools.running.evidence import Evidence
from site_tools.running.hashes import block_hashes
from site_tools.running.verdict import follows
from site_tools.say import Refusal
from site_tools.site.templates import fill, words

# As Markdown writes them: values in double quotes, and < only where a tag begins.
# (HTMLParser takes many times as long.)
TAG = re.compile(
    r'<(?P<name>/?(?:div|pre|code))(?P<attributes>(?:\s+[^\s"=>]+(?:="[^"]*")?)*)\s*>'
)
ATTRIBUTE = re.compile(r'([^\s"=]+)(?:="([^"]*)")?')
IMPORTS = re.compile(r"^[ \t]*(?:from|import) ppo_ref\b", re.MULTILINE)
PLOTS = re.compile(r"^(?:from|import) matplotlib\b", re.MULTILINE)
SHORT_COMMIT = 7


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
        Refusal: if the page has more or fewer boxes, or one without a div around.

    Example:
        >>> box = '<div class="highlight"><pre><code>x</code></pre></div>'
        >>> decorate(box, [Addition({"class": "run", "data-copy": '"x"'})])[:53]
        '<div class="highlight run" data-copy="&#34;x&#34;"><p'
    """
    boxes = list(_boxes(html))
    if len(boxes) != len(additions):
        raise Refusal("boxes_differ", fences=len(additions), boxes=len(boxes))
    for div, addition in reversed([*zip(boxes, additions, strict=True)]):
        if addition:
            opening = _opening(div["attributes"], addition.attributes)
            html = html[: div.start()] + opening + addition.html + html[div.end() :]
    return html


def _boxes(html: str) -> Iterator[re.Match[str]]:
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
                    raise Refusal("box_without_fence")
                yield divs[-1]
                in_pre = False


def _opening(written: str, added: Mapping[str, str]) -> str:
    present: dict[str, str] = dict(ATTRIBUTE.findall(written))
    both = {**present, **{name: escape(value) for name, value in added.items()}}
    if "class" in present and "class" in added:
        both["class"] = f"{present['class']} {both['class']}"
    return "<div" + "".join(f' {name}="{value}"' for name, value in both.items()) + ">"


def copied(
    html: str, blocks: Sequence[Block], lang: str, wheel: Callable[[], str]
) -> str:
    """Give the code boxes of a page what is copied from them.

    Where that is another text than the one shown, the theme's button finds it in
    ``data-copy``. The first box whose code runs and imports ``ppo_ref`` gets the line
    that installs it from the site itself.

    Args:
        html: The rendered body of the page.
        blocks: Its blocks, in order.
        lang: Its language.
        wheel: Gives the address of the wheel; called only if a block needs it.

    Raises:
        Refusal: if the page has other code boxes than its blocks.
    """
    plots = any(block.runs and PLOTS.search(block.text) for block in blocks)
    boxes = [copy for copy in copies(blocks) if copy.block.has_box]
    first = next((copy for copy in boxes if _needs_package(copy)), None)
    additions = []
    for copy in boxes:
        line = ""
        if copy is first:
            at = wheel()
            shown = at.rpartition("/")[2] if at.startswith("..") else at
            line = fill("page.install", lang, at, shown, "matplotlib " * plots)
        differs = copy.block.kind is not Kind.SOURCE and copy.text != copy.block.text
        additions.append(Addition({"data-copy": copy.text} if differs else {}, line))
    return decorate(html, additions)


def _needs_package(copy: Copy) -> bool:
    return copy.block.runs_copied and bool(IMPORTS.search(copy.text))


def marks(
    evidence: Evidence, page: str, blocks: list[Block], lang: str, href: str | None
) -> list[Addition | None]:
    """The mark beside each code box; None for those that do not run."""
    hashes = block_hashes(blocks)
    # With the code above that it continues: there its device may be chosen.
    texts = {copy.block.fence.line: copy.text for copy in copies(blocks)}
    additions: list[Addition | None] = []
    for block in boxed(blocks):
        line = block.fence.line
        if not block.runs:
            additions.append(None)
            continue
        known = evidence if follows(texts[line]) else replace(evidence, gpu={})
        html = _mark(known, page, hashes[line], lang, href)
        additions.append(Addition({"class": "marked"}, html))
    return additions


def _mark(
    evidence: Evidence, page: str, block: str, lang: str, href: str | None
) -> str:
    w, cpu = words(lang), evidence.on_cpu(page, block)
    parts, details = [w["not_verified"]], []
    if cpu:
        torch = cpu.by["torch"]
        parts = [w["verified"], f"torch {torch.partition('+')[0]}", "CPU"]
        details.append(f"CPU: Python {cpu.by['python']}, torch {torch}")
    if known := evidence.on_gpu(page, block):
        gpu, holds = known
        commit = gpu.by.get("commit", "")[:SHORT_COMMIT]
        parts.append("CUDA" if holds else Markup(fill("page.stale", lang, commit)))
        made = [gpu.by["device"], f"torch {gpu.by['torch']}", gpu.by["date"], commit]
        details.append(f"CUDA: {', '.join(filter(None, made))}")
    return fill("page.mark", lang, parts, "; ".join(details), href or "", bool(cpu))
