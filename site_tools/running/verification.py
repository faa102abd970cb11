"""What a page shows against what its blocks do: the judgement after the run."""

from collections.abc import Sequence
from dataclasses import dataclass

from site_tools.page.blocks import Block, Kind
from site_tools.page.copying import Copy
from site_tools.page.figures import Figure
from site_tools.page.notebooks import is_notebook
from site_tools.page.page import LANGUAGES, Page
from site_tools.problems import Problem
from site_tools.running.copy_check import check_copy
from site_tools.running.devices import CPU, kind, on_device
from site_tools.running.execution import Running
from site_tools.running.figure_check import check_figure
from site_tools.running.model import SECONDS_PER_BLOCK, Failure, Run, Source
from site_tools.running.output_check import UNDEFINED, check_output, check_raises
from site_tools.running.remedies import remedy


@dataclass(frozen=True)
class Verified:
    """A page that has run: a result per block, a value per figure."""

    page: Page
    run: Run

    @property
    def running(self) -> list[Block]:
        """The blocks that ran, in order."""
        return [block for block in self.page.blocks if block.runs]

    @property
    def copies(self) -> list[Copy]:
        """What ran alone: of the running blocks, then of functions of ``ppo_ref``."""
        return _copies(self.page)


def run(page: Page, seconds: float = SECONDS_PER_BLOCK) -> Verified:
    """Run the blocks of a page and evaluate the expressions of its figures."""
    return Verified(page, start(page, seconds).wait())


def start(page: Page, seconds: float = SECONDS_PER_BLOCK, device: str = CPU) -> Running:
    """Set a page running, in a child of its own."""
    once = is_notebook(page.id)
    sources = [
        Source(
            on_device("\n".join(line.text for line in block.lines) + "\n", device),
            session=block.kind is Kind.SESSION,
            continues=once or "cont" in block.classes,
            raises="raises" in block.classes,
            copied=_copied(copy, device),
            apart=block.kind is Kind.SOURCE,
        )
        for block, copy in ((copy.block, copy) for copy in _copies(page))
    ]
    expressions = [figure.expression for figure in page.figures]
    expressions += [f.expression for figs in page.pictures.values() for f in figs]
    seed = LANGUAGES.index(page.language)
    cuda = kind(device) == "cuda"
    return Running(sources, expressions, seed, seconds, once, cuda)


def _copied(copy: Copy, device: str) -> str | None:
    if copy.lines == copy.block.lines:
        return None
    return on_device(copy.text + "\n", device)


def _copies(page: Page) -> list[Copy]:
    copies = [copy for copy in page.copies if copy.block.runs_copied]
    return sorted(copies, key=lambda copy: not copy.block.runs)


def check_block(verified: Verified, block: Block) -> Problem | None:
    """Compare what a block, and what is copied from it, did with what the page says."""
    number = _number(verified, block)
    copy = verified.copies[number]
    in_place = [_check_in_place(verified, part) for part in copy.chain]
    if any(in_place):  # what is wrong with a block above is told there, once
        return in_place[-1]
    if len(copy.chain) > 1 and is_notebook(verified.page.id):
        return None  # its blocks run once, where they stand
    return check_copy(verified.page.path, copy, verified.run.copies[number])


def _number(verified: Verified, block: Block) -> int:
    return [copy.block for copy in verified.copies].index(block)


def _check_in_place(verified: Verified, block: Block) -> Problem | None:
    result = verified.run.results[_number(verified, block)]
    if "raises" in block.classes:
        return check_raises(verified.page, block, result)
    if result.failure:
        return _broken(verified, block, result.failure)
    return check_output(verified.page, block, result.printed)


def _broken(verified: Verified, block: Block, failure: Failure) -> Problem:
    """A block that raised: named at the deepest line that belongs to the page."""
    line, snippet, lines_shown = block.fence.line, None, ""
    if failure.lines:
        number, at = failure.lines[-1]
        lines = verified.copies[number].block.lines
        origin = lines[min(at, len(lines)) - 1]
        line, snippet = origin.page_line, origin.snippet
        lines_shown = origin.text.strip()
    fix = remedy(failure) or "correct the block"
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
        problems += check_bound(verified, figures, values, path)
        at += len(figures)
    return problems


def check_bound(
    verified: Verified,
    figures: Sequence[Figure],
    values: Sequence[int | float | Failure],
    path: str,
) -> list[Problem]:
    """Compare figures with their values.

    Where a block of the page failed, those without a value are not told: they lack
    what the block was to leave behind.
    """
    pairs = list(zip(figures, values, strict=True))
    if _failed(verified):
        pairs = [pair for pair in pairs if not isinstance(pair[1], Failure)]
    told = (check_figure(figure, value, path) for figure, value in pairs)
    return [problem for problem in told if problem]


def _failed(verified: Verified) -> bool:
    blocks = [copy.block for copy in verified.copies]
    return any(
        result.failure and block.runs and "raises" not in block.classes
        for block, result in zip(blocks, verified.run.results, strict=True)
    )
