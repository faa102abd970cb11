"""What ``make runs`` does: produce the runs that are stale, two at a time, and draw."""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from site_tools import files
from site_tools.runs import storing
from site_tools.runs.freshness import drawn, path_of, run_problem
from site_tools.runs.model import Chart, Run

Produce = Callable[[str], Iterable[Mapping[str, Any]]]
AT_ONCE = 2
TOLD_EVERY = 10  # iterations
THREADS = 1  # the same sums on every machine, and two runs do not quarrel


def make(
    root: Path, runs: Mapping[str, Run], produce: Produce, package: str
) -> list[str]:
    """Produce and store the runs that are missing or stale; the others stay.

    A run is stored whole once it has ended; one that fails leaves what was there.

    Args:
        root: The project's folder.
        runs: The table.
        produce: Gives what a run measures, by its name; importable by other processes.
        package: The hash of the code that runs rest on.

    Returns:
        A sentence for each run that failed.
    """
    stale = {n: r for n, r in runs.items() if run_problem(root, n, r, package)}
    for name in runs.keys() - stale.keys():
        print(f"{name}: stored, and nothing it rests on has changed", flush=True)
    failed = []
    pool = ProcessPoolExecutor(AT_ONCE, get_context("forkserver"))
    try:
        jobs = {
            pool.submit(_make, path_of(root, name), name, run, produce, package): name
            for name, run in stale.items()
        }
        for job in as_completed(jobs):
            if error := job.exception():
                failed.append(f"{jobs[job]}: {type(error).__name__}: {error}")
            else:
                print(f"{jobs[job]}: stored, {job.result() / 1000:.0f} kB", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return failed


def redraw(root: Path, charts: Mapping[str, Chart]) -> None:
    """Draw the charts that differ from their stored runs."""
    for name, chart in charts.items():
        path, svg = root / "snippets" / name, drawn(root, chart)
        if not path.exists() or path.read_text("utf-8") != svg:
            files.store(path, svg.encode())
            print(f"snippets/{name}: drawn", flush=True)


def _make(path: Path, name: str, run: Run, produce: Produce, package: str) -> int:
    torch.set_num_threads(THREADS)
    lines = list(told(name, storing.numbered(name, produce(name))))
    header = storing.header(name, run, package) | {
        "torch": version("torch"),
        "machine": f"{platform.machine()} CPU, {THREADS} thread",
    }
    content = storing.text(header, lines).encode()
    files.store(path, content)
    return len(content)


def told(name: str, lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same lines; every tenth iteration is told as it passes."""
    for line in lines:
        yield line
        if "record" not in line and line["iteration"] % TOLD_EVERY == 0:
            print(f"{name}: iteration {line['iteration']}", flush=True)
