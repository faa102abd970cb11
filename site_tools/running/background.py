"""Verifies the pages whose blocks changed, behind a server.

Run it from the root of the repository: ``python -m site_tools.running.background``. It
ends when whoever started it does, of which the end of its standard input is the sign.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from site_tools.page.page import LANGUAGES, Page, read_page
from site_tools.problems import Problem
from site_tools.running import drawings, verification
from site_tools.running.evidence import blocks_of
from site_tools.running.hashes import block_hashes
from site_tools.running.manifest import Outcome, Setting, setting
from site_tools.running.manifest_files import forget_failures, load, local, update

AT_ONCE = 6  # pages, before their marks are shown
LONGEST = 70  # characters told of what was found


def stale(root: Path, setting: Setting) -> list[str]:
    """The pages with a block that has not been tried as it stands, last edited first.

    Args:
        root: The project's folder.
        setting: With what blocks must have run.
    """
    try:
        known = load(root, local("cpu"))
    except ValueError:
        known = None
    found: list[tuple[float, str]] = []
    for page in (p for at in LANGUAGES for p in (root / "docs" / at).rglob("*.md")):
        name = page.relative_to(root).as_posix()
        with suppress(OSError, UnicodeDecodeError):  # the build tells of it
            blocks, _ = blocks_of(root, name, page.read_text("utf-8"))
            passed = tried = frozenset[str]()
            if known and known.setting == setting:
                passed = known.passed.get(name, passed)
                tried = passed | known.failed.get(name, tried)
            hashes = {*block_hashes(blocks).values()}
            redraw = drawings.missing(root, name, blocks, setting)
            if not tried >= hashes or (passed >= hashes and redraw):
                found.append((-page.stat().st_mtime, name))
    return [name for _, name in sorted(found)]


def verify(root: Path, page: Page, here: Setting) -> tuple[Outcome, list[Problem]]:
    """Run a page: what became of its blocks, and the problems of those that failed.

    Args:
        root: The project's folder, which keeps the plots of a notebook that passes.
        page: The page.
        here: With what it runs.
    """
    verified = verification.run(page)
    hashes = block_hashes(page.blocks)
    problems = {
        hashes[block.fence.line]: verification.check_block(verified, block)
        for block in verified.running
    }
    failed = frozenset(block for block, problem in problems.items() if problem)
    blocks = frozenset(problems)
    told = [problem for problem in problems.values() if problem]
    if not told:
        drawings.keep(root, page.path, page.blocks, here, verified.run.results)
    return Outcome(blocks, blocks - failed, failed), told


def one_line(problem: Problem) -> str:
    """A problem as one line of a terminal.

    Example:
        >>> one_line(Problem("docs/en/x.md", 7, "shown\\n1", "printed\\n2", "do"))
        'docs/en/x.md:7: shown 1; expected: printed 2'
    """
    place = f"{problem.path}:{problem.line}"
    if problem.snippet:
        place += f" ({problem.snippet})"
    return f"{place}: {_flat(problem.found)}; expected: {_flat(problem.expected)}"


def _flat(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."


def verify_stale(root: Path) -> None:
    """Verify until nothing is stale, or the package is no longer the one at hand."""
    here, passed, failed = setting(root), 0, 0
    while pages := stale(root, here):
        _say(f"verifying {_count(len(pages), 'page')} ...")
        run: dict[str, Outcome] = {}
        for name in pages[:AT_ONCE]:
            with suppress(OSError, UnicodeDecodeError):
                page = read_page(root, name)
                run[name], problems = verify(root, page, here)
                passed += len(run[name].passed)
                failed += len(problems)
                for problem in problems:
                    _say(f"  {one_line(problem)}")
        if setting(root) != here:
            return  # what ran may be older or newer than the hash says
        update(root, "cpu", here, "CPU", run)
    if passed or failed:
        rest = f", {failed} failed: make check PAGE=... says more" if failed else ""
        _say(f"verified {_count(passed, 'block')}{rest}")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _say(line: str) -> None:
    print(line, flush=True)


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def main(arguments: Sequence[str]) -> None:
    """Verify what is stale; ``again`` tries once more what failed before."""
    os.nice(10)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    root = Path.cwd()
    if "again" in arguments:
        forget_failures(root, "cpu")
    verify_stale(root)


if __name__ == "__main__":
    main(sys.argv[1:])
