"""What ``make runs`` does: produce the runs that are stale, two at a time, and draw."""

from collections.abc import Mapping
from multiprocessing.connection import wait
from pathlib import Path

from site_tools import ledger
from site_tools.runs.child import Child, Produce
from site_tools.runs.freshness import drawn, path_of, run_problem
from site_tools.runs.model import Chart, Run

AT_ONCE = 2


def make(
    root: Path, runs: Mapping[str, Run], produce: Produce, package: str
) -> list[str]:
    """Produce and store the runs that are missing or stale; the others stay.

    A run is stored whole once it has ended; one that fails leaves what was there, and
    so does an interruption, which ends those under way.

    Args:
        root: The project's folder.
        runs: The table.
        produce: Gives what a run measures, by its name; importable by other processes.
        package: The hash of the code that runs rest on.

    Returns:
        A sentence for each run that failed.
    """
    stale = [n for n, run in runs.items() if run_problem(root, n, run, package)]
    for name in [name for name in runs if name not in stale]:
        print(f"{name}: stored, and nothing it rests on has changed", flush=True)
    failed: list[str] = []
    children: list[Child] = []
    try:
        while stale or children:
            while stale and len(children) < AT_ONCE:
                name = stale.pop(0)
                at = path_of(root, name)
                children.append(Child(at, name, runs[name], produce, package))
            _hear(children, failed)
    finally:
        for child in children:
            child.end()
    return failed


def _hear(children: list[Child], failed: list[str]) -> None:
    """Tell what the next children have to tell; those that have ended are let go."""
    ready = wait([child.pipe for child in children])
    for child in [child for child in children if child.pipe in ready]:
        told = child.hear()
        sentence = f"{child.name}: {told.text}"
        if told.failed:
            failed.append(sentence)
        else:
            print(sentence, flush=True)
        if told.ended:
            child.process.join()
            child.pipe.close()
            children.remove(child)


def redraw(root: Path, charts: Mapping[str, Chart]) -> None:
    """Draw the charts that differ from their stored runs."""
    for name, chart in charts.items():
        path, svg = root / "snippets" / name, drawn(root, chart)
        if not path.exists() or path.read_text("utf-8") != svg:
            ledger.store(path, svg.encode())
            print(f"snippets/{name}: drawn", flush=True)
