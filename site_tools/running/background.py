"""Verifies the pages whose blocks changed, behind a server.

Run it from the root of the repository: ``python -m site_tools.running.background``. It
ends when the process that started it does, of which the end of its standard input is
the sign. It is a process of its own since the code that it verifies with may change.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

from site_tools.ledger import Damaged, read
from site_tools.page.page import LANGUAGES, read_page
from site_tools.problems import Problem
from site_tools.running import evidence, verdict
from site_tools.running.evidence import Setting, local, setting
from site_tools.running.hashes import block_hashes

LONGEST = 70  # characters shown of a part of a problem


def stale(root: Path, here: Setting) -> list[str]:
    """The pages with a block that has not been tried as it stands, last edited first.

    Args:
        root: The project's folder.
        here: With what blocks must have run.
    """
    try:
        ledger = read(root / local("cpu"))
    except Damaged:
        ledger = {}
    pages: list[tuple[float, str]] = []
    for file in (p for at in LANGUAGES for p in (root / "docs" / at).rglob("*.md")):
        name = file.relative_to(root).as_posix()
        with suppress(OSError, UnicodeDecodeError):  # the build tells of it
            blocks, _ = evidence.blocks_of(root, name, file.read_text("utf-8"))
            entry = evidence.current(ledger, name, here)
            hashes, passed = {*block_hashes(blocks).values()}, evidence.passed(entry)
            tried = passed | evidence.failed(entry)
            redraw = evidence.undrawn(root, name, blocks, here)
            if not tried >= hashes or (passed >= hashes and redraw):
                pages.append((-file.stat().st_mtime, name))
    return [name for _, name in sorted(pages)]


def verify(root: Path, name: str, here: Setting) -> tuple[int, list[Problem]]:
    """Run a page and note how it ended: how many blocks passed, and what is wrong."""
    verified = verdict.run(read_page(root, name))
    problems, end = verdict.check_run(verified), evidence.outcome(verified)
    if setting(root) == here:  # else what ran may be older or newer than the hash says
        evidence.note(root, "cpu", here, "CPU", {name: end})
        if not end.failed:
            results = verified.run.results
            evidence.keep_plots(root, name, verified.page.blocks, here, results)
    return len(end.passed), problems


def one_line(problem: Problem) -> str:
    """A problem as one line of a terminal.

    Example:
        >>> one_line(Problem("docs/en/x.md", 7, "shown\\n1", "printed\\n2", "do"))
        'docs/en/x.md:7: shown 1; expected: printed 2'
    """
    found, expected = _flat(problem.found), _flat(problem.expected)
    return f"{problem.place}: {found}; expected: {expected}"


def _flat(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."


def verify_stale(root: Path) -> None:
    """Verify until nothing is stale, or the package is no longer the one at hand."""
    here, passed, failed = setting(root), 0, 0
    while (pages := stale(root, here)) and setting(root) == here:
        print(f"verifying {_count(len(pages), 'page')} ...", flush=True)
        for name in pages[:6]:  # then look again: another page may be edited by now
            with suppress(OSError, UnicodeDecodeError):
                blocks, problems = verify(root, name, here)
                passed, failed = passed + blocks, failed + len(problems)
                for problem in problems:
                    print(f"  {one_line(problem)}", flush=True)
    if passed or failed:
        rest = f", {failed} failed: make check PAGE=... says more" if failed else ""
        print(f"verified {_count(passed, 'block')}{rest}", flush=True)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Verify what is stale; with ``again`` also what failed before."""
    os.nice(10)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if "again" in sys.argv:
        evidence.forget_failures(Path.cwd(), "cpu")
    verify_stale(Path.cwd())


if __name__ == "__main__":
    main()
