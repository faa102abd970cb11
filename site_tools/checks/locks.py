"""The lock files themselves: each can be read and has its page."""

from pathlib import Path

from site_tools.checks.accord import page_ids
from site_tools.data.locks import lock_path, parse
from site_tools.problems import Problem


def check_locks(root: Path) -> list[Problem]:
    """Locks that nobody can read, locks without a page, and what is no lock.

    Args:
        root: The project's folder.
    """
    problems: list[Problem] = []
    pages = {lock_path(page): page for page in page_ids(root)}
    for file in sorted((root / "docs" / "locks").rglob("*")):
        name = file.relative_to(root).as_posix()
        if file.is_dir():
            continue
        if name not in pages:
            problems.append(_orphan(name))
        else:
            problems += check_lock(root, pages[name])
    return problems


def check_lock(root: Path, page: str) -> list[Problem]:
    """The line at which the lock of a page cannot be read; it need not have one.

    Args:
        root: The project's folder.
        page: As in ``gae/inputs``.
    """
    file = root / lock_path(page)
    try:
        if file.is_file():
            parse(file.read_text("utf-8", errors="replace"), page)
    except ValueError as error:
        problem: Problem = error.args[0]
        return [problem]
    return []


def _orphan(name: str) -> Problem:
    page = name.removeprefix("docs/locks/").removesuffix(".txt")
    wanted = f"docs/zh/{page}.md or docs/en/{page}.md"
    fix = f"git rm {name}; or, if the page moved, git mv it to the page's new name"
    return Problem(name, 1, "the lock of a page that is not there", wanted, fix)
