"""What a block printed or raised against the output that stands behind it."""

from site_tools.page.blocks import Block
from site_tools.page.page import Page
from site_tools.problems import Problem
from site_tools.running.model import Result

# Exceptions that say that the block itself is wrong.
MISTAKES = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError")
UNDEFINED = "import or define the name in this block, or mark it { .python .cont }"


def check_raises(page: Page, block: Block, result: Result) -> Problem | None:
    """Judge a block that is to raise: that it does, and as its output states."""
    if result.failure is None:
        return Problem(
            page.path,
            block.fence.line,
            "a block that ends without an exception",
            "a .raises block that raises what its output states",
            "remove .raises, or restore what made it fail",
        )
    raised = f"{result.failure.type}: {result.failure.message}"
    meant = (block.expects or "").rpartition("\n")[2]
    if result.failure.type in MISTAKES and not meant.startswith(result.failure.type):
        return Problem(
            page.path,
            block.fence.line,
            raised,
            f"the exception that its output states: {meant or 'no output'}",
            UNDEFINED if result.failure.type == "NameError" else "correct the block",
        )
    return check_output(page, block, result.printed + raised)


def check_output(page: Page, block: Block, printed: str) -> Problem | None:
    """Compare what a block printed with what the page shows."""
    printed = "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")
    shown = block.expects
    if shown is None:
        if not printed:
            return None
        return Problem(
            page.path,
            block.fence.line,
            "a block that prints, without an output behind it",
            printed,
            "put these lines into an ```output fence directly behind the block",
        )
    if shown == printed:
        return None
    output = block.output
    return Problem(
        page.path,
        (output or block).fence.line + 1 + _first_difference(shown, printed),
        f"shown\n{shown}",
        f"printed\n{printed}",
        "replace the shown lines by the printed ones, if these are right",
    )


def _first_difference(shown: str, printed: str) -> int:
    pairs = zip(shown.splitlines(), printed.splitlines(), strict=False)
    same = [a == b for a, b in pairs]
    last = max(len(shown.splitlines()) - 1, 0)
    return min(same.index(False) if False in same else len(same), last)
