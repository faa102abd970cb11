"""A block in two settings: in order and alone, and how what it did there differs.

Where it runs in order and where it runs alone, the seed of random numbers, the clock,
the hashes of texts and the processor that PyTorch computes for are not the same. Of a
sound block nobody can see that.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from site_tools.messages import Message
from site_tools.run.results import NOT_RUN, Failure, PageToRun, Result, Source

# How code seeds each generator.
SEEDED_BY = {
    "torch": "torch.manual_seed(0)",
    "random": "random.seed(0)",
    "numpy": "np.random.seed(0)",
}
# Names of others that a block alone has not: no matter of chance.
LACKING = ("NameError", "ImportError", "ModuleNotFoundError", "UnboundLocalError")


def join(
    page: PageToRun, copies: Sequence[Result], in_order: Sequence[Result | None]
) -> list[Result]:
    """The result of each block, which is a failure where the settings differ."""
    blocks = zip(page.sources, copies, in_order, strict=True)
    return [_result_of_both(source, alone, other) for source, alone, other in blocks]


def _result_of_both(source: Source, alone: Result, in_order: Result | None) -> Result:
    """The result of a block: its own if it runs alone, unless it fails among others."""
    if in_order is None:
        return alone
    if source.continues:
        return in_order  # what is copied is judged by itself
    if NOT_RUN in (alone.failure, in_order.failure):
        return alone
    if alone.failure is None and in_order.failure is None:
        return _first_line_apart(alone, in_order) or in_order
    if alone.failure and in_order.failure:
        if not source.raises:
            return alone
        return _first_line_apart(alone, in_order) or alone
    return _failed_once(alone if alone.failure else in_order)


def _first_line_apart(alone: Result, in_order: Result) -> Result | None:
    """A failure with the first line of two outputs that differs, if one does."""
    lines = zip_longest(_lines(in_order), _lines(alone), fillvalue="")
    for row, (here, there) in enumerate(lines, 1):
        if here != there:
            said = Message("block_varies", {"row": row, "here": here, "there": there})
            if drawn := _drawn_unseeded(alone, in_order):
                shown = replace(said, part="found")
                values = {"generator": drawn, "seed": SEEDED_BY[drawn], "shown": shown}
                said = Message("block_unseeded", values)
            return Result(alone.printed, Failure("", said))
    return None


def _lines(result: Result) -> list[str]:
    """The lines that a block prints, and what it fails with, if it does."""
    failure = "" if result.failure is None else str(result.failure)
    return [*result.printed.splitlines(), *failure.splitlines()]


def _failed_once(failed: Result) -> Result:
    """The result of a block that ended well in the other setting."""
    failure = failed.failure
    if failure is None or failure.type in LACKING:
        return failed
    if isinstance(failure.message, Message):  # a limit, which says so itself
        return failed
    return replace(failed, failure=replace(failure, once=True))


def _drawn_unseeded(alone: Result, in_order: Result) -> str | None:
    """A generator that is elsewhere with another seed, if the block drew from one."""
    for generator, at in alone.draws.items():
        if in_order.draws.get(generator) != at:
            return generator
    return None
