"""The stored runs and their charts: which are stale, and how they are made.

A run is stored as ``ppo_ref/train/stored/NAME.jsonl``: a header, then a line an
iteration and a line a record. ``docs/verified/runs.txt`` says from which code and which
row of the table each was made. The code is that of ``producing.py`` and of what this
imports of ``ppo_ref``, docstrings left out. Where that changed and every number is as
it was, only the ledger changes. A run of a language model (``real.py``) takes too long
for that: the slow tests make its first iteration anew.
"""

import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from modulefinder import ModuleFinder
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ppo_ref.train.stored_runs import FORMAT, StoredRun, parse_run
from site_tools.ledger import Made, digest, fresh, read_ledger, store, update
from site_tools.messages import Problem, problem
from site_tools.stored_runs.chart import draw_chart
from site_tools.stored_runs.code import code_hash
from site_tools.stored_runs.table import CHARTS, REAL, SMALL, Chart, Recipe

STORED, LEDGER = "ppo_ref/train/stored", "docs/verified/runs.txt"
PRODUCING = "site_tools/stored_runs/producing.py"
KEPT_DIGITS = 6  # significant ones that are kept: float32 has seven
RUNS_AT_ONCE, THREADS = 2, 1  # one thread gives the same sums on every machine
REPORTED_EVERY = 10  # iterations
Produce = Callable[[str], Iterable[Mapping[str, Any]]]


def closure(root: Path, file: Path) -> list[Path]:
    """A file and the modules of ``ppo_ref`` that it imports, and those they import."""
    finder = ModuleFinder([str(root)])  # nothing but this project: torch is not read
    finder.run_script(str(file))  # read for its imports, not run
    modules = (m for n, m in finder.modules.items() if f"{n}.".startswith("ppo_ref."))
    return sorted({file, *(Path(vars(module)["__file__"]) for module in modules)})


def code_of(root: Path) -> str:
    """The hash of the code that runs are made from, as it is now."""
    return code_hash(root, closure(root, root / PRODUCING))


def _made_from(code: str, run: Recipe, content: bytes) -> dict[str, str]:
    row = digest(json.dumps(run.row(), sort_keys=True))
    made_from = {"table": row, "file": digest(content)}
    # A run of a real model is held to the code by its first iteration, made anew.
    return made_from if run.preset else {"code": code, **made_from}


def path_of(root: Path, name: str) -> Path:
    """Where a run is stored."""
    return root / STORED / f"{name}.jsonl"


def read_stored_runs(root: Path, names: Iterable[str]) -> dict[str, StoredRun]:
    """Runs by name, as they are stored in the project."""
    texts = {name: path_of(root, name).read_text("utf-8") for name in names}
    return {name: parse_run(text, name) for name, text in texts.items()}


def run_problem(
    root: Path, name: str, run: Recipe, code: str, entry: Made | None
) -> Problem | None:
    """Why a run must be made anew, by its line in the ledger; None if it need not."""
    place = f"{STORED}/{name}.jsonl"
    try:
        content = path_of(root, name).read_bytes()
        parse_run(content.decode(), name)
    except FileNotFoundError:
        return problem(place, 1, "run_missing", what=run.what)
    except ValueError as error:  # not UTF-8 is one too
        return problem(place, 1, "run_damaged", error=error)
    now = _made_from(code, run, content)
    if fresh(entry, now):
        return None
    before = entry.made_from if entry else {}
    changed = ", ".join(name for name in now if before.get(name) != now[name])
    return problem(place, 1, "run_stale", changed=changed)


def problems(
    root: Path, runs: Mapping[str, Recipe], charts: Mapping[str, Chart]
) -> Iterator[Problem]:
    """All that ``make runs`` would mend, and files that no table knows."""
    ledger, code = read_ledger(root / LEDGER), code_of(root)
    all_fresh = True
    for name, run in runs.items():
        fault = run_problem(root, name, run, code, ledger.get(name))
        if fault:
            all_fresh = False
            yield fault
    known = [path_of(root, name) for name in runs]
    for path in sorted((root / STORED).glob("*")):
        if path not in known:
            yield problem(f"{STORED}/{path.name}", 1, "run_unknown")
    if all_fresh:  # a chart of stale runs is drawn with them
        for name, _ in _stale_charts(root, charts):
            yield problem(f"snippets/{name}", 1, "chart_stale")


def redraw(root: Path, charts: Mapping[str, Chart]) -> None:
    """Draw the charts that differ from their stored runs."""
    for name, svg in _stale_charts(root, charts):
        store(root / "snippets" / name, svg)
        print(f"snippets/{name}: drawn", flush=True)


def _stale_charts(
    root: Path, charts: Mapping[str, Chart]
) -> Iterator[tuple[str, bytes]]:
    """The charts that are not drawn as they must be, and how they must."""
    for name, chart in charts.items():
        file = root / "snippets" / name
        svg = draw_chart(chart, read_stored_runs(root, chart.lines)).encode()
        if not file.is_file() or file.read_bytes() != svg:
            yield name, svg


def make(root: Path, runs: Mapping[str, Recipe], produce: Produce) -> list[str]:
    """Produce and store the runs that are missing or stale, two at a time.

    A run that fails leaves what was there. Returns a sentence for each that failed.
    """
    ledger, code = read_ledger(root / LEDGER), code_of(root)
    failed: list[str] = []
    forks = get_context("forkserver")
    with ProcessPoolExecutor(RUNS_AT_ONCE, forks, max_tasks_per_child=1) as processes:
        waiting = {
            processes.submit(store_run, root, name, run, code, produce): name
            for name, run in runs.items()
            if run_problem(root, name, run, code, ledger.get(name))
        }
        for future in as_completed(waiting):
            name, error = waiting[future], future.exception()
            if error:
                failed.append(f"{name}: {type(error).__name__}: {error}")
            else:
                print(f"{name}: {future.result()}", flush=True)
    return failed


def store_run(root: Path, name: str, run: Recipe, code: str, produce: Produce) -> str:
    """Make a run, store it, and say whether that changed a number."""
    import torch  # only here: who asks what is stale need not wait for it

    torch.set_num_threads(THREADS)
    path = path_of(root, name)
    lines: list[Mapping[str, Any]] = []
    iterations = 0
    begun = time.process_time()
    for measured in produce(name):
        is_record = "record" in measured
        if not is_record:
            iterations += 1
        lines.append({"iteration": iterations, **_with_kept_digits(measured)})
        if not is_record and iterations % REPORTED_EVERY == 0:
            print(f"{name}: iteration {iterations}", flush=True)
    machine = f"{platform.machine()} CPU, {THREADS} thread"
    makers = {"torch": version("torch"), "machine": machine}
    header = {
        "format": FORMAT,
        "name": name,
        **run.row(),
        **makers,
        "iterations": iterations,
        "records": len(lines) - iterations,
    }
    if run.preset:  # how long it takes is what is asked first
        header["cpu_seconds"] = round(time.process_time() - begun)
    encoder = json.JSONEncoder(
        ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    text = ""
    for line in [header, *lines]:
        text += f"{encoder.encode(line)}\n"
    parse_run(text, name)  # a number that is none is not stored
    before = path.read_text("utf-8") if path.exists() else ""
    same = before.partition("\n")[2] == text.partition("\n")[2]
    store(path, text.encode())
    with update(root / LEDGER) as ledger:
        ledger[name] = Made(_made_from(code, run, text.encode()), {"by": makers})
    size = f"{len(text) / 1000:.0f} kB"
    return f"{size}, every number as it was" if same else f"{size}, stored"


def _with_kept_digits(measured: Mapping[str, Any]) -> dict[str, Any]:
    """With the significant digits that are kept, however deep a float lies."""

    def digits(number: str) -> float:
        return float(f"{float(number):.{KEPT_DIGITS}g}")

    kept: dict[str, Any] = json.loads(json.dumps(measured), parse_float=digits)
    return kept


def main() -> None:
    """Produce what is stale, draw what changed."""
    from site_tools.stored_runs import producing, real  # and torch with them

    root = Path.cwd()
    try:
        failed = make(root, SMALL, producing.produce)
        failed += make(root, REAL, real.produce_real)
    except KeyboardInterrupt:
        sys.exit("\nStopped; what is stored stays. make runs goes on from there.")
    if failed:
        sys.exit("\n".join(["These runs failed, and nothing replaced them:", *failed]))
    redraw(root, CHARTS)


if __name__ == "__main__":
    main()
