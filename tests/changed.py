"""What a change can break, and only that: ``python -m tests.changed``.

A change is what differs from where this branch left ``--base``, committed or not. Each
path belongs to one of the rules below; a path that none names may break everything.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.layout import ROOT

PYTEST = [sys.executable, "-m", "pytest", "-q", "-m", "not slow"]
AT_ONCE = ["-n", "auto", "--maxprocesses", "8"]
AT_ONCE += ["--dist", "loadfile", "--no-loadscope-reorder"]
EVERYTHING = ["tests", "docs"]
OF_SITE = ["tests/site", "tests/contributing", "docs"]
OF_TEXTS = ["tests/contributing", "tests/site/test_readme.py", "tests/test_setup.py"]
NOT_OF_PACKAGE = {"bench", "browser", "contributing", "rehearsal", "site"}


class Plan(NamedTuple):
    """What to do: paths for pytest, whether to build, pages to open in a browser."""

    tests: tuple[str, ...]
    build: bool
    pages: tuple[str, ...]


def plan(changed: Iterable[str]) -> Plan:
    """What these changed paths can break."""
    tests: set[str] = set()
    build, pages = False, set()
    for path in changed:
        broken = tests_of(path)
        tests |= set(broken)
        build |= "docs" in broken
        pages |= set(pages_of(path))
    if set(EVERYTHING) <= tests:
        tests = set(EVERYTHING)
    inside = {
        each for each in tests if not tests.isdisjoint(map(str, Path(each).parents))
    }
    return Plan(tuple(sorted(tests - inside)), build, tuple(sorted(pages)))


def tests_of(path: str) -> list[str]:
    """The tests that one path can break."""
    parts = Path(path).parts
    match parts:
        case ("docs", "zh" | "en", *_) | ("snippets", *_):
            return ["docs", *of_pages()]
        case ("docs", *_) | ("site_tools", *_):
            return OF_SITE
        case ("ppo_ref", *_):
            folders = sorted((ROOT / "tests").glob("*/__init__.py"))
            names = {folder.parent.name for folder in folders} - NOT_OF_PACKAGE
            files = sorted((ROOT / "tests").glob("test_*.py"))
            own = [file.relative_to(ROOT).as_posix() for file in files]
            return ["docs", *(f"tests/{name}" for name in sorted(names)), *own]
        case ("bench", *_):
            return ["tests/bench"]
        case (".github", *_) | ("README.md" | "README.zh.md" | "CONTRIBUTING.md",):
            return OF_TEXTS
        case ("tests", "browser", *_):
            return []  # slow, all of them
        case ("tests", _, *_) if parts[-1].startswith("test_"):
            return [path] if (ROOT / path).exists() else []
        case ("tests", _, _, *_):
            return ["/".join(parts[:2])]
        case ("LICENSE",):
            return ["tests/test_setup.py"]
    return EVERYTHING


def of_pages() -> list[str]:
    """The files of tests that read the pages of the project: marked so."""
    return [
        file.relative_to(ROOT).as_posix()
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        if "pytest.mark." + "pages" in file.read_text("utf-8")
    ]


def pages_of(path: str) -> list[str]:
    """The addresses of the pages on which a changed path is seen."""
    if page := re.fullmatch(r"docs/(zh|en)/(.+)\.md", path):
        return [address(page[1], page[2])] if (ROOT / path).exists() else []
    if not path.startswith("snippets/"):
        return []
    return [
        address(lang, file.relative_to(ROOT / "docs" / lang).with_suffix("").as_posix())
        for lang in ("zh", "en")
        for file in (ROOT / "docs" / lang).rglob("*.md")
        if Path(path).name in file.read_text("utf-8")
    ]


def address(lang: str, page: str) -> str:
    """Where a page lies in the built site."""
    folder = re.sub(r"(^|/)index$", r"\1", page)
    slash = "" if folder == "" or folder.endswith("/") else "/"
    return f"{'en/' if lang == 'en' else ''}{folder}{slash}"


def changes(base: str) -> list[str]:
    """The paths that differ from where this branch left ``base``, new ones too."""

    def git(*command: str) -> list[str]:
        run = subprocess.run(
            ["git", *command], cwd=ROOT, check=True, capture_output=True, text=True
        )
        return run.stdout.splitlines()

    (start,) = git("merge-base", base, "HEAD")
    tracked = git("diff", "--name-only", "--no-renames", start)
    return [*tracked, *git("ls-files", "--others", "--exclude-standard")]


def look(pages: Sequence[str]) -> list[str]:
    """What is wrong with pages of the built site, wide and light, narrow and dark."""
    from tests.browser.launch import Unavailable, chromium
    from tests.browser.server import serve
    from tests.browser.watching import ALL, DESK, PHONE, Watch, tab_of

    faults = []
    try:
        with chromium() as browser, serve(ROOT / "site") as site:
            for width, scheme in ((DESK, "light"), (PHONE, "dark")):
                with tab_of(browser, width, scheme) as tab:
                    watch = Watch(tab, site)
                    faults += [fault for p in pages for fault in watch.visit(p, ALL)]
    except Unavailable as missing:
        print(f"not opened in a browser: {missing}")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="main")
    parser.add_argument("--list", action="store_true", help="say it, and do nothing")
    options = parser.parse_args()
    todo = plan(changes(options.base))
    print("tests:", *(todo.tests or ["none"]))
    print("build:", "yes" if todo.build else "no")
    print("pages to open:", *(todo.pages or ["none"]), flush=True)
    if options.list or not todo.tests:
        return
    commands = [[*PYTEST, *AT_ONCE, *todo.tests]]
    if todo.build:
        commands.append([sys.executable, "-m", "docs.theme.publish"])
    for command in commands:
        if subprocess.run(command, cwd=ROOT).returncode:
            sys.exit(1)
    if faults := look(todo.pages) if todo.build else []:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
