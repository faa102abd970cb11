"""The outputs that a page shows, judged against what its blocks printed."""

from dataclasses import replace
from itertools import zip_longest

from site_tools.messages import Message, Problem, catalogue, problem
from site_tools.page.page import Page
from site_tools.page.pictures import is_notebook
from site_tools.run.execution import Verified
from site_tools.run.results import Failure, Result
from site_tools.source.blocks import Block, Copy

# Exceptions that say that the block itself is wrong.
MISTAKES = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError")
# What ``compare`` says of a block.
DIFFERENCES = ("block_unseeded", "block_varies")
# What to do about a failure that says this; the kernel speaks where Python's guard has
# seen nothing.
REMEDIES = {
    "Permission denied": "fix_permission",
    "not permitted": "fix_not_permitted",
    "network is cut off": "block_network",
    "unclosed file": "fix_unclosed",
    "NameError": "fix_undefined",
    "ModuleNotFoundError": "fix_module",
    "AssertionError: Torch not compiled": "fix_device",
    "AssertionError": "fix_assertion",
    "FileNotFoundError": "fix_file",
    "SystemExit": "block_ended_process",
    "Warning": "fix_warning",
}


def check_block(verified: Verified, block: Block) -> Problem | None:
    """Compare what a block, and what is copied from it, did with what the page says."""
    number = verified.number(block)
    copy = verified.copies[number]
    in_place = [_check_in_place(verified, part) for part in copy.chain]
    if any(in_place):  # what is wrong with a block above is named there, once
        return in_place[-1]
    if len(copy.chain) > 1 and is_notebook(verified.page.id):
        return None  # its blocks run once, where they stand
    return _check_copy(verified.page.path, copy, verified.run.copies[number])


def _check_in_place(verified: Verified, block: Block) -> Problem | None:
    result = verified.run.results[verified.number(block)]
    failure = result.failure
    if failure and (failure.once or _tells_a_difference(failure)):
        return _broken(verified, block, failure)
    if "raises" in block.classes:
        return _check_raises(verified.page, block, result)
    if failure:
        return _broken(verified, block, failure)
    return _check_output(verified.page, block, result.printed)


def _tells_a_difference(failure: Failure) -> bool:
    """True if the two settings of a run gave two results."""
    message = failure.message
    return isinstance(message, Message) and message.key in DIFFERENCES


def _broken(verified: Verified, block: Block, failure: Failure) -> Problem:
    """A block that raised: named at the deepest line that belongs to the page."""
    line, snippet, code = block.fence.line, None, ""
    if failure.lines:
        number, at = failure.lines[-1]
        lines = verified.copies[number].block.lines
        code, line, snippet = lines[min(at, len(lines)) - 1]
    said = failure_words(failure, code.strip())
    if failure.once:
        path = verified.page.path
        return problem(path, line, "block_fails_once", snippet=snippet, failure=said)
    fix = _remedy(failure)
    rule = Message("runs_as_pasted")
    if _has_parts(fix) and "expected" in catalogue("en")[fix.key]:
        rule = replace(fix, part="expected")
    return problem(
        verified.page.path,
        line,
        "block_fails",
        snippet=snippet,
        failure=said,
        fix=fix,
        expected=rule,
    )


def failure_words(failure: Failure, code: str = "") -> Message | str:
    """The words of a failure; a bare assertion has but its code."""
    message = failure.message or code
    if not isinstance(message, Message):
        value = f" ({failure.compared})" if failure.compared else ""
        return f"{failure.type}: {message}{value}".strip()
    if not failure.type:  # it says of itself what it is
        return message
    return Message("block_failure", {"type": failure.type, "message": message})


def _remedy(failure: Failure) -> Message:
    """The remedy for a limit, for what is out of reach, or for the code."""
    message = failure.message
    if isinstance(message, Message) and _has_parts(message):
        return replace(message, part="fix")
    said = str(failure)
    for words, fix in REMEDIES.items():
        if words in said:
            return Message(fix, part="fix")
    return Message("fix_block", part="fix")


def _has_parts(message: Message) -> bool:
    """True if it says what was found, what was expected and how to mend it."""
    return isinstance(catalogue("en")[message.key], dict)


def _check_raises(page: Page, block: Block, result: Result) -> Problem | None:
    """That a block raises, and what its output states."""
    if result.failure is None:
        return page.problem(block.fence.line, "block_raises_nothing")
    failure = result.failure
    stated = (block.expects or "").rpartition("\n")[2]
    if failure.type in MISTAKES and not stated.startswith(failure.type):
        return page.problem(
            block.fence.line,
            "block_raises_mistake",
            failure=failure_words(failure),
            fix=_remedy(failure),
            stated=stated or Message("no_output"),
        )
    return _check_output(page, block, f"{result.printed}{failure}")


def _check_output(page: Page, block: Block, printed: str) -> Problem | None:
    """Compare what a block printed with what the page shows."""
    printed, shown = _stripped(printed), block.expects
    line = block.fence.line
    if shown is None:
        if not printed:
            return None
        return page.problem(line, "output_missing", printed=printed, page=page.id)
    if shown == printed:
        return None
    row = min(_first_difference(shown, printed), shown.count("\n"))
    fence = (block.output or block).fence
    return page.problem(
        fence.line + 1 + row,
        "output_differs",
        shown=shown,
        printed=printed,
        page=page.id,
    )


def _first_difference(shown: str, printed: str) -> int:
    """The first line that differs, counted from 0."""
    rows = zip_longest(shown.splitlines(), printed.splitlines())
    for row, (line, other) in enumerate(rows):
        if line != other:
            return row
    return 0


def _stripped(printed: str) -> str:
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")


def _check_copy(path: str, copy: Copy, result: Result) -> Problem | None:
    """Judge what the copy button of a block gives, as it did in a fresh namespace."""
    line = copy.block.fence.line
    if "cont" in copy.block.classes and len(copy.chain) == 1:
        return problem(path, line, "cont_needless")
    printed = result.printed
    if failure := result.failure:
        printed += str(failure).rstrip()
        if failure.lines:
            at = min(failure.lines[-1][1], len(copy.lines))
            line = copy.lines[at - 1].page_line
    printed = _stripped(printed)
    if printed == copy.states:
        return None
    nothing = Message("no_output")
    return problem(
        path,
        line,
        "copy_differs",
        printed=printed or nothing,
        states=copy.states or nothing,
        lines=", ".join(str(part.fence.line) for part in copy.chain),
    )
