"""Whether the stored runs, and their charts, are those that the table asks for."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ppo_ref.stored_runs import StoredRun, parse_run
from site_tools.problems import Problem
from site_tools.runs import storing
from site_tools.runs.chart import draw
from site_tools.runs.model import Chart, Run

STORED = "ppo_ref/stored"
LARGEST = 160_000  # bytes of one file; all of them travel in the wheel
MAKE = "run make runs"


def path_of(root: Path, name: str) -> Path:
    """Where a run is stored."""
    return root / STORED / f"{name}.jsonl"


def run_problem(root: Path, name: str, run: Run, package: str) -> Problem | None:
    """Why a run must be made anew, or None.

    Args:
        root: The project's folder.
        name: Of the run in the table.
        run: How it is made.
        package: The hash of the code it rests on, as it is now.
    """
    path = path_of(root, name)
    place = path.relative_to(root).as_posix()
    try:
        stored = parse_run(path.read_text("utf-8"), name).header
    except FileNotFoundError:
        return Problem(place, 1, "no file", f"the run: {run.what}", MAKE)
    except ValueError as error:  # not UTF-8 is one too
        return Problem(place, 1, str(error), "a run as it was stored", MAKE)
    wanted = storing.header(name, run, package)
    for key, value in json.loads(json.dumps(wanted)).items():
        if stored[key] != value:
            found = f"a stale run: {key} is {stored[key]}"
            return Problem(place, 1, found, f"{key} {value}", MAKE)
    if path.stat().st_size > LARGEST:
        fix = "record fewer tokens or iterations, then run make runs"
        found = f"{path.stat().st_size} bytes"
        return Problem(place, 1, found, f"at most {LARGEST} bytes a run", fix)
    return None


def stored(root: Path, names: list[str]) -> dict[str, StoredRun]:
    """These runs by name, as they are stored in the project."""
    texts = {name: path_of(root, name).read_text("utf-8") for name in names}
    return {name: parse_run(text, name) for name, text in texts.items()}


def drawn(root: Path, chart: Chart) -> str:
    """A chart of the runs as they are stored."""
    return draw(chart, stored(root, [line.run for line in chart.lines]))


def problems(
    root: Path, runs: Mapping[str, Run], charts: Mapping[str, Chart], package: str
) -> Iterator[Problem]:
    """All that ``make runs`` would mend, and files that no table knows.

    Args:
        root: The project's folder.
        runs: The table of runs.
        charts: The table of charts.
        package: The hash of the code that runs rest on.
    """
    faults = [run_problem(root, name, run, package) for name, run in runs.items()]
    yield from filter(None, faults)
    for path in sorted((root / STORED).glob("*")):
        if path not in [path_of(root, name) for name in runs]:
            place = path.relative_to(root).as_posix()
            expected = "a run of the table in site_tools/runs/table.py"
            yield Problem(place, 1, "a file of no run", expected, "delete it")
    if any(faults):
        return
    for name, chart in charts.items():
        path = root / "snippets" / name
        shown = path.read_text("utf-8") if path.exists() else ""
        if shown != drawn(root, chart):
            found = "a chart that its runs do not give" if shown else "no file"
            expected = "the chart as it is drawn from the stored runs"
            yield Problem(f"snippets/{name}", 1, found, expected, MAKE)
