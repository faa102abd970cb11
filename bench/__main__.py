"""How fast ``ppo_ref`` is beside its peers, and what it must not fall below.

A whole run goes to docs/verified; what ``--only`` or ``--quick`` gives goes where
``--out`` says, if it does.
"""

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import torch

from bench import gae, gae_over_time, log_probs, machine, training, whole_step
from bench.measuring import Comparison, measured, nothing
from site_tools.benchmarks.floors import FLOORS, judged
from site_tools.benchmarks.growth import slopes
from site_tools.benchmarks.record import Record, Result, save
from site_tools.running.hashes import package_hash

SUBJECTS = {
    "gae": gae,
    "gae over time": gae_over_time,
    "log-probs and entropy": log_probs,
    "whole step": whole_step,
    "training": training,
}
PEERS = {
    peer: version
    for subject in SUBJECTS.values()
    for peer, version in getattr(subject, "PEERS", {}).items()
}
OUT = machine.ROOT / "docs" / "verified"


def main() -> None:
    given = arguments().parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit("bench: --device cuda needs a GPU that PyTorch can use")
    whole = not (given.only or given.quick)
    name = "benchmarks.json" if given.device == "cpu" else "benchmarks.cuda.json"
    out = given.out or (OUT / name if whole else None)
    comparisons = [
        comparison
        for subject in given.only or SUBJECTS
        for comparison in SUBJECTS[subject].comparisons(given.quick, given.device)
    ]
    results = run(comparisons, given.device)
    if out:
        save(out, record(results, given.device))
        print(f"\n{out}")
    if not given.quick and not report(results, given.device):
        sys.exit(1)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=SUBJECTS, metavar="SUBJECT")
    parser.add_argument("--quick", action="store_true", help="seconds, to see it runs")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    return parser


def run(comparisons: list[Comparison], device: str) -> list[Result]:
    """All comparisons in turn; each is printed as it ends."""
    wait = torch.cuda.synchronize if device == "cuda" else nothing
    machine.settle()
    results = []
    begun = time.monotonic()
    for number, comparison in enumerate(comparisons, 1):
        at = f"{comparison.subject}, {comparison.setting}"
        passed = time.monotonic() - begun
        print(f"[{number} of {len(comparisons)}, {passed:.0f} s] {at}", flush=True)
        results.append(measured(comparison, wait=wait))
        for line in lines(results[-1]):
            print(line, flush=True)
    return results


def lines(result: Result) -> list[str]:
    """The contenders, each with its quartiles."""
    return [
        f"  {name:28} {spread.median:10.3e} {result.unit} "
        f"({spread.lower_quartile:.3e} to {spread.upper_quartile:.3e}, n={spread.n})"
        for name, spread in result.contenders.items()
    ]


def record(results: list[Result], device: str) -> Record:
    today = datetime.now(UTC).date().isoformat()
    found = machine.machine(device), machine.versions(PEERS)
    commit = machine.commit()
    package = package_hash(machine.ROOT / "ppo_ref")
    return Record(today, *commit, device, *found, results, slopes(results), package)


def report(results: list[Result], device: str) -> bool:
    """Print what was required and whether it was met; False if something was not."""
    for slope in slopes(results):
        print(f"{slope.subject}, {slope.contender}: {slope.over}**{slope.exponent:.2f}")
    measured_subjects = {result.subject for result in results}
    floors = [floor for floor in FLOORS if floor.subject in measured_subjects]
    verdicts = list(judged(floors, results, device))
    print()
    for verdict, line in verdicts:
        print(f"{verdict:12} {line}")
    return all(verdict != "NOT met" for verdict, _ in verdicts)


if __name__ == "__main__":
    main()
