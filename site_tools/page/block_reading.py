"""Every fence of a page gets its meaning, and every output its block.

Whatever has no meaning is a problem with its line, so that no fence is skipped in
silence.
"""

from dataclasses import replace
from pathlib import Path

from site_tools.page.attributes import Attributes
from site_tools.page.blocks import CLASSES, LANGUAGES, Block, Kind
from site_tools.page.fences import Fence
from site_tools.page.includes import resolve
from site_tools.page.package_source import source
from site_tools.problems import Problem


def read_blocks(
    fences: list[Fence], text: str, path: str, snippets: Path
) -> tuple[list[Block], list[Problem]]:
    """Give each fence its meaning and each output its block.

    Args:
        fences: The fences of the page, in order.
        text: The page.
        path: Its path, for the messages.
        snippets: The folder of included code.
    """
    blocks: list[Block] = []
    problems: list[Problem] = []
    above_refused = False
    for fence in fences:
        try:
            block = _read(fence, snippets)
            if block.kind is Kind.OUTPUT and not above_refused:
                blocks = _attach(block, blocks, text.splitlines())
            blocks.append(block)
            above_refused = False
        except _Refusal as refusal:
            problems.append(Problem(path, fence.line, *refusal.args))
            above_refused = True
    return blocks, problems


class _Refusal(Exception):
    """found, expected, fix."""


def _read(fence: Fence, snippets: Path) -> Block:
    try:
        language, attributes = fence.header
    except ValueError as error:
        raise _Refusal(
            f"info string {fence.info!r}", str(error), "write ```python"
        ) from None
    if language not in LANGUAGES:
        raise _Refusal(
            f"a fence in {language!r}" if language else "a fence without a language",
            f"one of {', '.join(sorted(LANGUAGES))}",
            "write ```python for code that runs, ```text for text that does not",
        )
    kind = LANGUAGES[language]
    unknown = set(attributes.classes) - CLASSES.get(kind, set())
    if unknown:
        raise _Refusal(
            f"class .{min(unknown)} on {kind.value}",
            f"of classes only {sorted(CLASSES.get(kind, set()))}",
            "remove or correct the class",
        )
    try:
        lines = resolve(fence.lines, fence.line + 1, snippets)
    except ValueError as error:
        raise _Refusal(
            str(error),
            "an include that pymdownx can resolve",
            "correct the path below snippets/ or the name of the section",
        ) from None
    block = Block(fence, kind, frozenset(attributes.classes), tuple(lines))
    if kind is Kind.SOURCE:
        _check_source(block)
    return _not_run(block, attributes) if "norun" in attributes.classes else block


def _check_source(block: Block) -> None:
    try:
        source(block.text)
    except ValueError as error:
        raise _Refusal(
            f"```source {block.text}", str(error), "correct the line in the fence"
        ) from None


def _not_run(block: Block, attributes: Attributes) -> Block:
    reason = attributes.values.get("data-reason", "").strip()
    if not reason:
        raise _Refusal(
            "a .norun block without a reason",
            "a reason that readers see",
            'write { .python .norun data-reason="needs four GPUs" }',
        )
    return replace(block, kind=Kind.NORUN, reason=reason)


def _attach(output: Block, blocks: list[Block], page: list[str]) -> list[Block]:
    above = blocks[-1] if blocks else None
    if above is None or not above.runs or above.output is not None:
        raise _Refusal(
            "an output fence that follows no running block",
            "an output directly behind the block that prints it",
            "move it there, or write ```text",
        )
    end = above.fence.line + len(above.fence.lines) + 1
    between = page[end : output.fence.line - 1]
    if any(line.strip() and not _annotation(line) for line in between):
        raise _Refusal(
            "prose between a block and its output",
            "the output directly behind its block, or behind the block's annotations",
            "move the prose below the output",
        )
    return [*blocks[:-1], replace(above, output=output)]


def _annotation(line: str) -> bool:
    return line.lstrip()[0].isdigit() or line.startswith("    ")
