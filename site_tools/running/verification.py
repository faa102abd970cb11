"""What a page shows against what its blocks do: the judgement after the run."""

from dataclasses import dataclass

from site_tools.problems import Problem
from site_tools.running.devices import CPU, on_device
from site_tools.running.execution import (
    SECONDS_PER_BLOCK,
    Failure,
    Result,
    Run,
    Running,
    Source,
)
from site_tools.source.blocks import Block, Kind
from site_tools.source.figures import check_figures
from site_tools.source.page import LANGUAGES, Page

# Exceptions that say that the block itself is wrong.
MISTAKES = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError")
UNDEFINED = "import or define the name in this block, or mark it { .python .cont }"


@dataclass(frozen=True)
class Verified:
    """A page that has run: a result per running block, a value per figure."""

    page: Page
    run: Run

    @property
    def running(self) -> list[Block]:
        """The blocks that ran, in order."""
        return [block for block in self.page.blocks if block.runs]


def run(page: Page, seconds: float = SECONDS_PER_BLOCK) -> Verified:
    """Run the blocks of a page and evaluate the expressions of its figures."""
    return Verified(page, start(page, seconds).wait())


def start(page: Page, seconds: float = SECONDS_PER_BLOCK, device: str = CPU) -> Running:
    """Set a page running, in a child of its own."""
    sources = [
        Source(
            on_device("\n".join(line.text for line in block.lines) + "\n", device),
            session=block.kind is Kind.SESSION,
            continues="cont" in block.classes,
            raises="raises" in block.classes,
        )
        for block in page.blocks
        if block.runs
    ]
    expressions = [figure.expression for figure in page.figures]
    expressions += [f.expression for figs in page.pictures.values() for f in figs]
    seed = LANGUAGES.index(page.language)
    return Running(sources, expressions, seed, seconds)


def check_block(verified: Verified, block: Block) -> Problem | None:
    """Compare what a block did with what the page says it does."""
    result = verified.run.results[verified.running.index(block)]
    if "raises" in block.classes:
        return _check_raises(verified.page, block, result)
    if result.failure:
        return _broken(verified, block, result.failure)
    return _check_output(verified.page, block, result.printed)


def _check_raises(page: Page, block: Block, result: Result) -> Problem | None:
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
    return _check_output(page, block, result.printed + raised)


def _check_output(page: Page, block: Block, printed: str) -> Problem | None:
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


def _broken(verified: Verified, block: Block, failure: Failure) -> Problem:
    """A block that raised: named at the deepest line that belongs to the page."""
    line, snippet, lines_shown = block.fence.line, None, ""
    if failure.lines:
        number, at = failure.lines[-1]
        lines = verified.running[number].lines
        origin = lines[min(at, len(lines)) - 1]
        line, snippet = origin.page_line, origin.snippet
        lines_shown = origin.text.strip()
    fix = "correct the block"
    if failure.type == "NameError" and "cont" not in block.classes:
        fix = UNDEFINED
    return Problem(
        verified.page.path,
        line,
        f"{failure.type}: {failure.message or lines_shown}".strip(),
        "a block that runs as pasted",
        fix,
        snippet,
    )


def check_pictures(verified: Verified) -> list[Problem]:
    """Compare the figures in the page's pictures with their values."""
    problems: list[Problem] = []
    at = len(verified.page.figures)
    for path, figures in verified.page.pictures.items():
        values = verified.run.values[at : at + len(figures)]
        problems += check_figures(figures, values, path)
        at += len(figures)
    return problems
