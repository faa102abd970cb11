"""What fix mends in a page: line ends, Chinese typography, ids, outputs, its lock.

No mending changes what a page says: without blanks, and with full-width and half-width
punctuation taken as equal, the text is the same, and code, formulas and addresses are
the same to the byte.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from site_tools.checks.typography import replace as edited
from site_tools.checks.typography import typeset
from site_tools.page.accord import lock_of, lock_path, parse, write
from site_tools.page.blocks import Block
from site_tools.page.fences import scan
from site_tools.page.page import Page, read_page
from site_tools.page.prose import body, wording
from site_tools.running import verdict
from site_tools.running.verdict import MISTAKES, Verified, check_block

HEADING = re.compile(
    r"^(?P<level>#{2,6})[ ].*?(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?[ \t]*$", re.M
)
Pair = tuple[str, str]  # the text there is, and the one that replaces it


def mended(text: str, path: str, twin: str | None = None) -> str:
    """A page with all that can be mended without running it.

    ``twin`` is the same page in the other language.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = trimmed(text)
    return with_ids(typeset(text) if path.startswith("docs/zh/") else text, twin)


def trimmed(text: str) -> str:
    """No blanks at the end of a line, but in code, and two that break a paragraph."""
    fences, problems = scan(text, "")
    if problems or not text.strip():
        return text
    code = {n for f in fences for n in range(f.line, f.line + len(f.lines) + 2)}
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        following = lines[number] if number < len(lines) else ""
        breaks = line.strip() and line.endswith("  ") and following.strip()
        if number not in code and not breaks:
            lines[number - 1] = line.rstrip(" \t")
    return "\n".join(lines).rstrip("\n") + "\n"


def with_ids(text: str, twin: str | None) -> str:
    """A page with the ids of its twin, if its headings are as many and as deep.

    Example:
        >>> with_ids("## 对\\n## 跑\\n", "## Yes { #answer }\\n## Run { #code }\\n")
        '## 对 { #answer }\\n## 跑 { #code }\\n'
    """
    ours, theirs = _headings(text), _headings(twin or "")
    own, edits = {heading["id"] for heading in ours}, []
    if [h["level"] for h in ours] != [h["level"] for h in theirs]:
        return text
    for heading, other in zip(ours, theirs, strict=True):
        if heading["id"] and other["id"] not in (None, heading["id"]):
            return text
        if other["id"] not in (None, *own) and "{" not in heading[0]:
            end = heading.start() + len(heading[0].rstrip())
            edits.append((end, end, f" {{ #{other['id']} }}"))
    return edited(text, edits)


def _headings(text: str) -> list[re.Match[str]]:
    fences, problems = scan(text, "")
    return [] if problems else [*HEADING.finditer(body(text, fences))]


def with_outputs(root: Path, texts: dict[str, str]) -> dict[str, str]:
    """Those pages whose blocks print something new, with what they print now.

    A draw without a seed counts as a failure, so it is never renewed.
    """
    pages = [read_page(root, path, text) for path, text in texts.items()]
    pages = [page for page in pages if any(block.runs for block in page.blocks)]
    children = [verdict.start(page) for page in pages]
    renewed = {}
    for page, child in zip(pages, children, strict=True):
        if outputs := [*_stale(Verified(page, child.wait()))]:
            renewed[page.path] = _renewed(page, outputs)
    return renewed


def _stale(verified: Verified) -> Iterator[tuple[Block, str]]:
    """The blocks that show an output that can be renewed, and what they print."""
    for place, block in enumerate(verified.running):
        if check_block(verified, block):
            text = _printed(verified, place, block)
            included = block.output and any(line.snippet for line in block.output.lines)
            if text and "```" not in text and not included:
                yield block, text


def _printed(verified: Verified, place: int, block: Block) -> str | None:
    """What its output must say; None where the block does not do what it must."""
    result = verified.run.results[place]
    printed, failure = result.printed, result.failure
    if bool(failure) != ("raises" in block.classes):
        return None
    if failure:
        stated = (block.expects or "").rpartition("\n")[2].partition(":")[0]
        another = stated and stated != failure.type
        if another or failure.type in (*MISTAKES, "TimeLimit", "ProcessEnded"):
            return None  # it fails for another reason than the one it is to show
        printed += f"{failure.type}: {failure.message}"
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")


def _renewed(page: Page, outputs: Sequence[tuple[Block, str]]) -> str:
    """The text of a page with these outputs in place of those it shows."""
    lines = page.text.split("\n")
    for block, text in reversed(outputs):
        fence = (block.output or block).fence
        first, last = fence.line, fence.line + len(fence.lines)
        opening = lines[fence.line - 1]
        indent = opening[: len(opening) - len(opening.lstrip(" "))]
        shown = [f"{indent}{line}".rstrip() for line in text.split("\n")]
        if block.output is None:
            first = last = last + 1
            shown = ["", f"{indent}```output", *shown, f"{indent}```"]
        lines[first:last] = shown
    return "\n".join(lines)


def kept_lock(root: Path, page: str, texts: dict[str, Pair]) -> dict[str, Pair]:
    """The lock of a page after a change that says nothing new: accord stays accord.

    ``texts`` are both files of the page before and after. A section that somebody has
    changed since stays as it was recorded: nobody has said that both languages agree
    there. Without a twin there is no lock.
    """
    pairs = [texts.get(f"docs/{language}/{page}.md") for language in ("zh", "en")]
    path = lock_path(page)
    with suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        text = (root / path).read_bytes().decode("utf-8")
        lock = parse(text, page)
        zh, en = ([wording(side) for side in pair or ()] for pair in pairs)
        if zh and en:
            old, new = lock_of(zh[0], en[0]), lock_of(zh[1], en[1])
            agreed = {s for s in new if lock.get(s) == old.get(s)}
            part = {s: new[s] if s in agreed else pair for s, pair in lock.items()}
            kept = new if lock == old else part
            return {path: (text, text if kept == lock else write(kept))}
    return {}
