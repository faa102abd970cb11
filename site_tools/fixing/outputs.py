"""Outputs on a page against what its blocks print now."""

from dataclasses import dataclass

from site_tools.fixing.letters import replace
from site_tools.page.blocks import Block, Kind
from site_tools.page.page import Page
from site_tools.problems import Problem
from site_tools.running.verdict import MISTAKES, Verified, check_block


@dataclass(frozen=True)
class Printed:
    """What a block prints now, which is not what the page shows.

    Args:
        place: Which of the page's running blocks it is.
        text: What it prints, or prints and raises.
        problem: How the page and the run differ.
    """

    place: int
    text: str
    problem: Problem


def stale(verified: Verified) -> tuple[list[Printed], list[Problem]]:
    """Outputs that can be renewed, and the blocks that fail, which are left alone."""
    found, failing = [], list[Problem]()
    for place, block in enumerate(verified.running):
        problem = check_block(verified, block)
        text = _printed(verified, block)
        if problem and (text is None or not _writable(block, text)):
            failing.append(problem)
        elif problem and text:
            found.append(Printed(place, text, problem))
    return found, failing


def _printed(verified: Verified, block: Block) -> str | None:
    """What its output must say; None where the block does not do what it must."""
    result = verified.run.results[verified.running.index(block)]
    printed, failure = result.printed, result.failure
    if block.kind is Kind.SESSION or bool(failure) != ("raises" in block.classes):
        return None
    if failure:
        raised = f"{failure.type}: {failure.message}"
        stated = (block.expects or "").rpartition("\n")[2].partition(":")[0]
        another = stated and stated != failure.type
        if another or failure.type in (*MISTAKES, "TimeLimit", "ProcessEnded"):
            return None  # it fails for another reason than the one it is to show
        printed += raised
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")


def _writable(block: Block, text: str) -> bool:
    included = block.output and any(line.snippet for line in block.output.lines)
    return not included and "```" not in text and bool(text)


def renewed(page: Page, outputs: list[Printed]) -> str:
    """The text of a page with these outputs in place of those it shows.

    Args:
        page: The page.
        outputs: What its blocks print.
    """
    lines = page.text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    edits = []
    for output in outputs:
        block = [block for block in page.blocks if block.runs][output.place]
        fence = (block.output or block).fence
        opening = lines[fence.line - 1]
        indent = opening[: len(opening) - len(opening.lstrip(" "))]
        shown = "".join(
            f"{indent}{line}".rstrip() + "\n" for line in output.text.split("\n")
        )
        first, last = starts[fence.line], starts[fence.line + len(fence.lines)]
        if block.output is None:
            first = last = starts[fence.line + len(fence.lines) + 1]
            shown = f"\n{indent}```output\n{shown}{indent}```\n"
        edits.append((first, last, shown))
    return replace(page.text, edits)
