"""The body of the one issue: python -m site_tools.watch.issue FACTS LOG.

What other jobs hand over is data to this one: a log may hold anything, so it goes into
a fence. Standard library only, since the job that may write an issue installs nothing.
"""

import os
import sys
from pathlib import Path

from site_tools.watch.fencing import fenced

LIMIT = 60_000  # GitHub takes 65,536 characters
LOG_LIMIT = 12_000
MISSING = "Nothing came of it: see the run. · 没有结果，见运行记录。"
CUT = "\n\n(cut; the rest is in the run · 太长，其余见运行记录)"
HEAD = """Every week the facts are read again in the newest releases, and every test
runs with the newest PyTorch. To mend a fact, edit the file that its line names. Close
this when nothing is left; the next finding opens a new one.

每周用最新版本重读一遍事实，再用最新的 PyTorch 跑一遍测试。要改哪个文件，每一行都写着。
处理完就关掉，再有发现会另开一个。
"""
TORCH = "## Every test, with the newest PyTorch · 用最新的 PyTorch 跑全部测试"


def body(facts: str | None, log: str | None, run: str = "") -> str:
    """The report.

    Args:
        facts: What ``site_tools.watch`` wrote; None if it wrote nothing.
        log: What the suite printed; None if it did not run.
        run: The address of the run.

    Example:
        >>> text = body(None, "``` @everybody", "https://e.org/1")
        >>> "````text\\n``` @everybody\\n````" in text
        True
    """
    parts = [HEAD, run, TORCH, _log(log), facts or MISSING]
    text = "\n\n".join(part for part in parts if part)
    # The facts stand last: whatever the cut leaves open, nothing follows it.
    return text if len(text) <= LIMIT else text[: LIMIT - len(CUT)] + CUT


def _log(log: str | None) -> str:
    if log is None:
        return MISSING
    printable = "".join(c for c in log if c.isprintable() or c == "\n")
    return fenced(printable[-LOG_LIMIT:].strip("\n"), "text")


def address(environment: dict[str, str]) -> str:
    """Where the run that writes this can be seen, if it is one of GitHub's."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    if not all(environment.get(name) for name in names):
        return ""
    server, repository, run = (environment[name] for name in names)
    return f"{server}/{repository}/actions/runs/{run}"


def read(path: str) -> str | None:
    """What another job handed over, or None if it did not."""
    file = Path(path)
    if file.is_symlink() or not file.is_file():  # a link could lead anywhere
        return None
    return file.read_text("utf-8", errors="replace")


if __name__ == "__main__":
    facts_file, log_file = sys.argv[1:]
    print(body(read(facts_file), read(log_file), address(dict(os.environ))))
