"""Read the facts again in the newest releases, and write one report."""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from site_tools.data import code_map
from site_tools.data.facts import Entry
from site_tools.indexes import releases as lists
from site_tools.indexes.sources import concepts
from site_tools.watch import commits, releases, report
from site_tools.watch.rereading import reread

REPOSITORIES = "https://github.com"
OTHERS = ("torch",)  # the suite runs with it, and there is no fact about it


def main(words: Sequence[str] | None = None) -> None:
    """Ask pip for the newest releases, or take those that are named."""
    options = _parser().parse_args(words)
    entries = read(Path.cwd())
    failed: list[str] = []
    wanted = dict(release.split(" ") for release in options.release)
    if options.newest:
        wanted = ask(releases.newest_pinned(entries), failed) | wanted
    watched = list(compare(entries, wanted, options.wheels, failed))
    others = ask(OTHERS, failed) if options.newest else {}
    committed = [entry for entry in entries if not entry.checked]
    wrong = None
    if options.commits:
        with tempfile.TemporaryDirectory() as folder:
            wrong = [*commits.problems(committed, options.commits, Path(folder))]
    text = report.write(
        watched,
        entries,
        commits=wrong,
        count=len(committed),
        others=[f"{name} {version}" for name, version in others.items()],
        failed=failed,
    )
    options.report.write_text(text, "utf-8")
    print(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m site_tools.watch")
    parser.add_argument("--wheels", type=Path, default=Path(".cache/wheels"))
    parser.add_argument("--release", action="append", default=[], metavar="'verl 0.9'")
    parser.add_argument("--newest", action="store_true", help="those that pip finds")
    parser.add_argument("--commits", nargs="?", const=REPOSITORIES, metavar="ADDRESS")
    parser.add_argument("--report", type=Path, required=True)
    return parser


def read(root: Path) -> dict[Entry, list[str]]:
    """Every place that the project's data names, and the files that name it."""
    named: dict[Entry, list[str]] = {}
    for concept in concepts(root):
        for entry in concept.entries:
            named.setdefault(entry, []).append(f"docs/facts/{concept.name}")
    for entry in code_map.places(lists.code_map(root)):
        named.setdefault(entry, []).append("docs/code_map.yml")
    return named


def ask(projects: Iterable[str], failed: list[str]) -> dict[str, str]:
    """The newest version of each; what cannot be had is noted, and the rest goes on."""
    found = {}
    for project in projects:
        try:
            found[project] = releases.newest(project)
        except ValueError as error:
            failed.append(str(error))
    return found


def compare(
    entries: Iterable[Entry],
    wanted: Mapping[str, str],
    folder: Path,
    failed: list[str],
) -> Iterator[report.Watched]:
    """The facts about each project's newest pinned release, in the wanted one."""
    pinned = releases.newest_pinned(entries)
    for project, version in wanted.items():
        try:
            now = releases.fetch(project, version, folder)
        except ValueError as error:
            failed.append(str(error))
            continue
        then = releases.find(project, pinned[project], folder)
        own = [e for e in entries if e.release == f"{project} {pinned[project]}"]
        readings = tuple(
            reread(e, then.read(e.path) if then else None, now.read(e.path))
            for e in own
        )
        yield report.Watched(project, pinned[project], version, readings)


if __name__ == "__main__":
    main()
