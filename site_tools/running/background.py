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
from dataclasses import replace
from pathlib import Path

from site_tools.page.page import LANGUAGES, read_page
from site_tools.problems import Problem
from site_tools.running import evidence, verdict
from site_tools.running.evidence import Setting, setting

LONGEST = 80  # characters shown of a part of a problem


def stale(root: Path, here: Setting) -> list[str]:
    """The pages with a block that has not passed as it stands, last edited first."""
    known = replace(evidence.gather(root)[0], setting=here)
    pages: list[tuple[float, str]] = []
    for file in (p for at in LANGUAGES for p in (root / "docs" / at).rglob("*.md")):
        name = file.relative_to(root).as_posix()
        with suppress(OSError, UnicodeDecodeError):  # the build tells of it
            blocks, _ = evidence.blocks_of(root, name, file.read_text("utf-8"))
            drawn = not evidence.undrawn(root, name, blocks, here)
            if not drawn or evidence.unverified(known, name, blocks):
                pages.append((-file.stat().st_mtime, name))
    return [name for _, name in sorted(pages)]


def verify(root: Path, name: str, here: Setting) -> tuple[int, list[Problem]]:
    """Run a page and note what passed: how many blocks, and what is wrong."""
    verified = verdict.run(read_page(root, name))
    if setting(root) == here:  # else what ran may be older or newer than the hash says
        evidence.note_runs(root, "cpu", here, "CPU", [verified])
    return len(evidence.passing(verified)), verdict.check_run(verified)


def one_line(problem: Problem) -> str:
    """A problem as one line of a terminal."""
    parts = (" ".join(text.split()) for text in (problem.found, problem.expected))
    return f"{problem.place}: {'; expected: '.join(p[:LONGEST] for p in parts)}"


def verify_stale(root: Path) -> None:
    """Verify each stale page once, while the package is the one at hand."""
    here, tried, passed, failed = setting(root), list[str](), 0, 0
    while setting(root) == here:
        pages = [name for name in stale(root, here) if name not in tried]
        if not pages:
            break
        print(f"verifying {_count(len(pages), 'page')} ...", flush=True)
        for name in pages[:6]:  # then look again: another page may be edited by now
            tried.append(name)
            with suppress(OSError, UnicodeDecodeError):
                blocks, problems = verify(root, name, here)
                passed, failed = passed + blocks, failed + len(problems)
                for problem in problems:
                    print(f"  {one_line(problem)}", flush=True)
    if tried:
        rest = f", {failed} failed: make check PAGE=... says more" if failed else ""
        print(f"verified {_count(passed, 'block')}{rest}", flush=True)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    os.nice(10)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    verify_stale(Path.cwd())
