"""What became of the facts, as Markdown for one issue; headings in both languages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from site_tools.data.facts import Entry
from site_tools.watch.fencing import code, fenced
from site_tools.watch.rereading import Reading, State

TITLES = {
    State.CHANGED: "Changed · 变了",
    State.GONE: "Gone · 没了",
    State.MOVED: "Moved · 挪了",
}
HEAD = """## Facts in the newest releases · 最新版本里的事实

| pinned · 固定 | newest · 最新 | same · 不变 | moved · 挪了 | changed · 变了 | gone · 没了 |
|---|---|---|---|---|---|"""  # noqa: E501
COMMITS = "### Lines of commits · 按提交核对的行"
OTHERS = "### Not compared, newest version · 只看版本，不比较"
FAILED = "### Not read · 没读到"


class Watched(NamedTuple):
    """The facts about one project, in its newest release."""

    project: str
    pinned: str
    newest: str
    readings: tuple[Reading, ...]


def write(
    projects: Sequence[Watched],
    named: Mapping[Entry, Sequence[str]],
    *,
    commits: Sequence[str] | None = None,
    count: int = 0,
    others: Iterable[str] = (),
    failed: Iterable[str] = (),
) -> str:
    """The report.

    Args:
        projects: What was read again.
        named: The files that name each fact.
        commits: What is wrong with facts about commits; None if they were not read.
        count: How many those are.
        others: Releases of which only the version is known.
        failed: What could not be read, each a sentence.
    """
    parts = [HEAD, *map(_row, projects)]
    readings = [reading for project in projects for reading in project.readings]
    parts += _findings(readings, named)
    if commits is not None:
        held = count - len(commits)
        hold = f"{held} of {count} hold · {count} 处中 {held} 处成立"
        parts += ["", COMMITS, "", hold, *map(_line, commits)]
    for title, lines in ((OTHERS, [*others]), (FAILED, [*failed])):
        parts += ["", title, "", *map(_line, lines)] if lines else []
    return "\n".join(parts) + "\n"


def _findings(
    readings: Sequence[Reading], named: Mapping[Entry, Sequence[str]]
) -> Iterator[str]:
    for state, title in TITLES.items():
        found = [r for r in readings if r.state is state]
        items = [_item(r, named.get(r.entry, ())) for r in found if not r.fileless]
        items += _files(found)
        yield from ["", f"### {title}", "", *items] if items else []


def _line(text: str) -> str:
    return f"- {code(text)}"


def _row(watched: Watched) -> str:
    counts = Counter(reading.state for reading in watched.readings)
    pinned, newest = f"{watched.project} {watched.pinned}", watched.newest
    return (
        f"| {pinned} | {newest} | " + " | ".join(str(counts[s]) for s in State) + " |"
    )


def _item(reading: Reading, named: Sequence[str]) -> str:
    entry = reading.entry
    arrow = f"{entry.lines} → {reading.lines}" if reading.lines else entry.lines
    place = f"- {entry.release} · {code(entry.path)}: {arrow} · {', '.join(named)}"
    if reading.state is State.CHANGED:
        return f"{place}\n\n{fenced(reading.detail, 'diff')}\n"
    return f"{place}: {code(entry.code)}"


def _files(readings: Iterable[Reading]) -> list[str]:
    """A file that is gone, once for all the facts in it."""
    gone = Counter((r.entry.release, r.entry.path) for r in readings if r.fileless)
    return [
        f"- {release} · {code(path)}: no such file · 没有这个文件 ({count})"
        for (release, path), count in gone.items()
    ]
