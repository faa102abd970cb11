"""What fix mends in a text: line ends, empty lines, Chinese typography, ids, outputs.

No mending changes what a page says: without blanks, and with full-width and half-width
punctuation taken as equal, the text is the same, and code, formulas and addresses are
the same to the byte.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from site_tools.checks.shape import MANDATORY, SECTIONS, is_question
from site_tools.checks.typography import OPAQUE, mask, typeset
from site_tools.checks.typography import replace as edited
from site_tools.page.blocks import Block, Kind
from site_tools.page.fences import scan
from site_tools.page.page import Page, read_page
from site_tools.page.prose import body
from site_tools.running import verdict
from site_tools.running.verdict import MISTAKES, Verified, check_block
from site_tools.say import LANGUAGES

HEADING = re.compile(
    r"^(?P<level>#{2,6})[ ].*?(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?[ \t]*$", re.M
)
ITEM = re.compile(r"[ ]*(?:[-*+]|\d+[.)])[ \t]")
FIRST_ITEM = re.compile(r"[ ]*(?:[-*]|1\.)[ ]+\S")
# What a list or a fence may follow at once: a heading, a table, a box, a tab, a link.
LEADING = re.compile(r"[ \t]*(?:#{1,6}[ ]|\||[!?]{3}|===|>|\[\^?[^\]]+\]:)")


def mended(text: str, page: str, path: str, twin: str | None = None) -> str:
    """A page with all that can be mended without running it.

    Args:
        text: The page.
        page: As in ``gae/inputs``.
        path: Its path, as in ``docs/zh/gae/inputs.md``.
        twin: The same page in the other language.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = laid_out(text)
    if path.startswith("docs/zh/"):
        text = typeset(text)
    return with_ids(text, page, twin)


def laid_out(text: str) -> str:
    """No blanks at the end of a line, and an empty line before a list or a fence.

    Code keeps its lines as they are, and two blanks before a further line of the same
    paragraph stay: they break the line.

    Example:
        >>> laid_out("Three: \\n- one  \\ntwo\\n\\n\\n")
        'Three:\\n\\n- one  \\ntwo\\n'
    """
    fences, masked = scan(text, "")[0], mask(text)
    if masked is None or not text.strip():
        return text
    code = {n for f in fences for n in range(f.line, f.line + len(f.lines) + 2)}
    opened = {fence.line for fence in fences}
    plain = masked.split("\n")
    lines, result = text.split("\n"), list[str]()
    for number, line in enumerate(lines, 1):
        if number not in code:
            after = lines[number] if number < len(lines) else ""
            broken = line.strip() and line.endswith("  ") and after.strip()
            line = line if broken else line.rstrip(" \t")
        if number > 1 and (number in opened or number not in code):
            starts = number in opened or FIRST_ITEM.match(plain[number - 1])
            if starts and _in_paragraph(plain[: number - 1], line):
                result.append("")
        result.append(line)
    return "\n".join(result).rstrip("\n") + "\n"


def _in_paragraph(above: Sequence[str], line: str) -> bool:
    """Whether the lines above end in a paragraph, as deep as a line and no list."""
    depth = len(line) - len(line.lstrip(" "))
    paragraph = []
    for before in reversed(above):
        if not before.strip():
            break
        paragraph.append(before)
    return bool(paragraph) and not any(
        ITEM.match(row)
        or LEADING.match(row)
        or row.lstrip().startswith(OPAQUE)
        or len(row) - len(row.lstrip()) != depth
        for row in paragraph
    )


def with_ids(text: str, page: str, twin: str | None = None) -> str:
    """A page whose headings have ids, where only one can be meant.

    The ids of the twin come first, if its headings are as many and as deep; else, on a
    page that answers a question, those of the sections, if only one choice fits.

    Example:
        >>> with_ids("## Yes\\n## Run { #code }\\n## More\\n", "gae/x")
        '## Yes { #answer }\\n## Run { #code }\\n## More { #next }\\n'
    """
    ours, theirs = _headings(text), _headings(twin or "")
    own = {heading["id"] for heading in ours}
    ids: list[str | None] = [None] * len(ours)
    if [h["level"] for h in ours] == [h["level"] for h in theirs] and all(
        one["id"] in (None, other["id"])
        for one, other in zip(ours, theirs, strict=True)
        if other["id"]
    ):
        ids = [None if other["id"] in own else other["id"] for other in theirs]
    elif is_question(page):
        places = [at for at, heading in enumerate(ours) if heading["level"] == "##"]
        choices = [
            choice
            for choice in combinations(SECTIONS, len(places))
            if set(MANDATORY) <= set(choice)
            and all(
                ours[at]["id"] in (None, s)
                for at, s in zip(places, choice, strict=True)
            )
        ]
        for at, *names in zip(places, *choices, strict=bool(choices)):
            ids[at] = names[0] if len(set(names)) == 1 else None
    edits = [
        (heading.start() + len(heading[0].rstrip()),) * 2 + (f" {{ #{name} }}",)
        for heading, name in zip(ours, ids, strict=True)
        if name and heading["id"] is None and "{" not in heading[0]
    ]
    return edited(text, edits)


def _headings(text: str) -> list[re.Match[str]]:
    fences, problems = scan(text, "")
    return [] if problems else [*HEADING.finditer(body(text, fences))]


# What is mended by running a page: its outputs.


class Printed(NamedTuple):
    """What a running block prints now, where the page shows something else.

    Args:
        place: Which of the page's running blocks it is.
        text: What it prints, or prints and raises.
    """

    place: int
    text: str


def with_outputs(root: Path, texts: dict[str, str]) -> dict[str, str]:
    """Those pages whose blocks print something new, with what they print now.

    An output is renewed only if another seed gives it too.

    Args:
        root: The project's folder.
        texts: The text of each file of the page.
    """
    pages = [read_page(root, path, text) for path, text in texts.items()]
    pages = [page for page in pages if any(block.runs for block in page.blocks)]
    children = [verdict.start(page) for page in pages]
    result = {}
    for page, child in zip(pages, children, strict=True):
        stale = _stale(Verified(page, child.wait()))
        if stale:
            other = LANGUAGES[1 - LANGUAGES.index(page.language)]
            again = _stale(verdict.run(replace(page, language=other)))
            result[page.path] = _renewed(page, [p for p in stale if p in again])
    return result


def _stale(verified: Verified) -> list[Printed]:
    """The outputs that are wrong and can be renewed."""
    stale = []
    for place, block in enumerate(verified.running):
        if check_block(verified, block):
            text = _printed(verified, place, block)
            included = block.output and any(line.snippet for line in block.output.lines)
            if text and "```" not in text and not included:
                stale.append(Printed(place, text))
    return stale


def _printed(verified: Verified, place: int, block: Block) -> str | None:
    """What its output must say; None where the block does not do what it must."""
    result = verified.run.results[place]
    printed, failure = result.printed, result.failure
    if block.kind is Kind.SESSION or bool(failure) != ("raises" in block.classes):
        return None
    if failure:
        stated = (block.expects or "").rpartition("\n")[2].partition(":")[0]
        another = stated and stated != failure.type
        if another or failure.type in (*MISTAKES, "TimeLimit", "ProcessEnded"):
            return None  # it fails for another reason than the one it is to show
        printed += f"{failure.type}: {failure.message}"
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")


def _renewed(page: Page, outputs: Sequence[Printed]) -> str:
    """The text of a page with these outputs in place of those it shows."""
    lines = page.text.split("\n")
    running = [block for block in page.blocks if block.runs]
    for output in reversed(outputs):
        fence = (running[output.place].output or running[output.place]).fence
        first, last = fence.line, fence.line + len(fence.lines)
        opening = lines[fence.line - 1]
        indent = opening[: len(opening) - len(opening.lstrip(" "))]
        shown = [f"{indent}{line}".rstrip() for line in output.text.split("\n")]
        if running[output.place].output is None:
            first = last = last + 1
            shown = ["", f"{indent}```output", *shown, f"{indent}```"]
        lines[first:last] = shown
    return "\n".join(lines)
