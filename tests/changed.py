"""The tests that a change can fail, and only those: ``python -m tests.changed``.

A change is what differs from where this branch left ``--base``, committed or not. Each
path belongs to one of the rules below; a path that none names may break everything.
What fails is run once more, then as it was before the change, and told apart.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from site_tools.contributing.pages import changed_pages
from tests.layout import ROOT

PYTEST = [sys.executable, "-m", "pytest", "-q", "-m", "not slow"]
AT_ONCE = ["-n", "auto", "--maxprocesses", "8"]
AT_ONCE += ["--dist", "loadfile", "--no-loadscope-reorder"]
EVERYTHING = ["tests", "docs"]
OF_SITE = ["tests/site", "tests/stored_runs", "tests/contributing", "docs"]
OF_TEXTS = [
    "tests/contributing",
    "tests/site/content/test_readme.py",
    "tests/test_setup.py",
    "tests/test_versions.py",
]
OF_FRAMEWORKS = ["tests/site/data/test_facts.py", "tests/site/data/test_frameworks.py"]
OF_MOVES = ["tests/site/built/test_redirects.py", "tests/site/built/test_build.py"]
# The tests that read a file of data, beside those that read the pages. Where any page
# may say something against it, all pages are among them.
OF_DATA = {
    "comparison": OF_FRAMEWORKS,
    "corrections": ["tests/site/page/test_proofs.py", "docs"],
    "dialogues": [
        "tests/contributing/test_dialogue_log.py",
        "tests/contributing/test_likeness.py",
        "tests/site/built/test_lists.py",
        "tests/site/data/test_dialogues.py",
        "docs",
    ],
    "knobs": OF_FRAMEWORKS,
    "methods": OF_FRAMEWORKS,
    "names": OF_SITE,
    "news": ["tests/site/data/test_news.py", "tests/site/built/test_feed.py"],
    "phrases": OF_SITE,
    "redirects": OF_MOVES,
    "short": OF_MOVES,
    "threads": ["tests/site/data/test_threads.py", "tests/site/content"],
    "timeline": OF_FRAMEWORKS,
    "topics": OF_SITE,
}
OF_VERIFIED = [
    "tests/bench/test_results.py",
    "tests/site/built/test_lists.py",
    "tests/test_stored_runs.py",
]
NOT_OF_PACKAGE = {"bench", "browser", "contributing", "site"}


class Plan(NamedTuple):
    """The paths for pytest, whether to build, the pages to open in a browser."""

    tests: tuple[str, ...]
    build: bool
    pages: tuple[str, ...]


def plan(changed: Iterable[str]) -> Plan:
    """The plan for these changed paths."""
    tests: set[str] = set()
    pages: set[str] = set()
    build = False
    for path in changed:
        tests |= set(tests_of(path))
        pages |= set(pages_of(path))
        build = build or path.startswith("docs/")
    build = build or any(test.startswith("docs") for test in tests)
    if set(EVERYTHING) <= tests:
        tests = set(EVERYTHING)
    outermost = [test for test in tests if not lies_in(test, tests)]
    return Plan(tuple(sorted(outermost)), build, tuple(sorted(pages)))


def lies_in(test: str, folders: set[str]) -> bool:
    """True if one of these folders has the test already."""
    return any(str(parent) in folders for parent in Path(test).parents)


def tests_of(path: str) -> list[str]:
    """The tests that one path can break."""
    parts = Path(path).parts
    match parts:
        case ("docs", "zh" | "en", *_) | ("snippets", *_):
            return [*naming(path), *of_pages()]
        case ("docs", "facts", _):
            return [*showing(path), *OF_FRAMEWORKS, *of_pages()]
        case ("docs", "verified", _):
            return [*OF_VERIFIED, *of_pages()]
        case ("docs", name) if name.removesuffix(".yml") in OF_DATA:
            return [*OF_DATA[name.removesuffix(".yml")], *of_pages()]
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
        case (
            (".github", *_)
            | (".ci", *_)
            | (
                "README.md"
                | "README.zh.md"
                | "CONTRIBUTING.md"
                | "MAINTAINING.md"
                | "CHANGELOG.md",
            )
        ):
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


def naming(path: str) -> list[str]:
    """The pages that a path can break: its own, and those that name it, as links do."""
    own = re.sub("^docs/(zh|en)/", "", path)
    return [
        file.relative_to(ROOT).as_posix()
        for lang in ("zh", "en")
        for file in sorted((ROOT / "docs" / lang).rglob("*.md"))
        if file == ROOT / "docs" / lang / own
        or Path(path).name in file.read_text("utf-8")
    ]


def showing(path: str) -> list[str]:
    """The pages that show a fact of this file."""
    files = []
    for page in changed_pages([path], ROOT):
        for lang in ("zh", "en"):
            file = f"docs/{lang}/{page}.md"
            if (ROOT / file).exists():
                files.append(file)
    return files


def of_pages() -> list[str]:
    """The tests that read the pages of the project, by their mark: files or parts."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [test for file in files for test in _marked(file)]


def _marked(file: Path) -> Iterator[str]:
    name, mark = file.relative_to(ROOT).as_posix(), "mark.pages"
    text = file.read_text("utf-8")
    for node in ast.parse(text).body if mark in text else []:
        if isinstance(node, ast.Assign) and mark in ast.unparse(node):
            yield name
        elif isinstance(node, ast.FunctionDef) and any(
            mark in ast.unparse(each) for each in node.decorator_list
        ):
            yield f"{name}::{node.name}"


def pages_of(path: str) -> list[str]:
    """The addresses of the pages on which a changed path is seen."""
    files = naming(path) if path.startswith("snippets/") else [path]
    found = []
    for file in files:
        page = re.fullmatch(r"docs/(zh|en)/(.+)\.md", file)
        if page and (ROOT / file).exists():
            found.append(address(page[1], page[2]))
    return found


def address(lang: str, page: str) -> str:
    """Where a page lies in the built site."""
    folder = re.sub(r"(^|/)index$", r"\1", page)
    slash = "" if folder == "" or folder.endswith("/") else "/"
    return f"{'en/' if lang == 'en' else ''}{folder}{slash}"


def git(*command: str) -> list[str]:
    run = subprocess.run(
        ["git", *command], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return run.stdout.splitlines()


def changes(start: str) -> list[str]:
    """The paths that differ from a commit, new ones too."""
    tracked = git("diff", "--name-only", "--no-renames", start)
    return [*tracked, *git("ls-files", "--others", "--exclude-standard")]


def failing(tests: Iterable[str], root: Path = ROOT, *options: str) -> set[str]:
    """Run tests, and return those that fail; the name of what cannot be run at all."""
    with TemporaryDirectory() as cache:
        command = [*PYTEST, *AT_ONCE, "-o", f"cache_dir={cache}", *options, *tests]
        code = subprocess.run(command, cwd=root).returncode
        last = Path(cache, "v", "cache", "lastfailed")
        failed = set(json.loads(last.read_text())) if last.exists() else set()
    if failed or code in (0, 5):  # all passed, or there was none
        return failed
    return {f"pytest ended with {code}"}


def failed_before(failed: Iterable[str], start: str) -> set[str]:
    """The tests that failed at a commit as well."""
    files = {test.partition("::")[0] for test in failed}
    with TemporaryDirectory() as folder:
        tree = Path(folder, "before")
        git("worktree", "add", "--quiet", "--detach", str(tree), start)
        try:
            (tree / ".venv").symlink_to(ROOT / ".venv")
            there = [file for file in sorted(files) if (tree / file).exists()]
            return failing(there, tree, "--tb=no") & set(failed) if there else set()
        finally:
            git("worktree", "remove", "--force", str(tree))


def failed_again(failed: Iterable[str]) -> set[str]:
    """The tests that fail once more, with nothing else beside them.

    What could not be run at all has no file to run again, and stays.
    """
    files = {test.partition("::")[0] for test in failed}
    there = [file for file in sorted(files) if (ROOT / file).exists()]
    lost = {test for test in failed if test.partition("::")[0] not in there}
    again = failing(there, ROOT, "-n", "0", "--tb=no") if there else set()
    return lost | (again & set(failed))


def blamed(failed: set[str], start: str, base: str, changed: Sequence[str]) -> set[str]:
    """The tests that fail by the change, once all that is known of each is said.

    A test that fails once and then passes is nobody's, unless its own file changed: a
    page that holds by chance does not hold.
    """
    print(f"{len(failed)} failed; now once more, alone:", flush=True)
    still = failed_again(failed)
    before = set[str]()
    if still:
        print(f"{len(still)} failed again; now the same on {base}:", flush=True)
        before = failed_before(still, start)
    unsteady = failed - still
    own = {test for test in unsteady if test.partition("::")[0] in changed}
    told = [f"fails on {base} too: {test}" for test in sorted(before)]
    told += [f"failed once, passes alone: {test}" for test in sorted(unsteady - own)]
    told += [f"fails by your change, not always: {test}" for test in sorted(own)]
    told += [f"fails by your change: {test}" for test in sorted(still - before)]
    print(*told, sep="\n", flush=True)
    return own | (still - before)


def look(pages: Sequence[str]) -> list[str]:
    """The faults of pages of the built site, wide and light, narrow and dark."""
    from site_tools.browser import Unavailable, chromium
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
    (start,) = git("merge-base", options.base, "HEAD")
    paths = changes(start)
    todo = plan(paths)
    print("tests:", *(todo.tests if options.list else [len(todo.tests)]))
    print("build:", "yes" if todo.build else "no")
    print("pages to open:", *(todo.pages or ["none"]), flush=True)
    if options.list or not (todo.tests or todo.build):
        return
    failed = failing(todo.tests) if todo.tests else set()
    if failed and blamed(failed, start, options.base, paths):
        sys.exit(1)
    if todo.build:
        # A draft: only the pages above have run, so the others count as unverified.
        publish = [sys.executable, "-m", "site_tools.build.publish", "--draft"]
        if subprocess.run(publish, cwd=ROOT).returncode:
            sys.exit(1)
        if faults := look(todo.pages):
            sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
