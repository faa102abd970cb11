"""How fast ``ppo_ref`` is beside its peers, and what it must not fall below.

A whole run is written to docs/verified as the page about/benchmarks shows it; what
``--only`` or ``--quick`` gives is printed alone.
"""

import argparse
import sys
import time
from datetime import UTC, datetime

import torch

from bench import (
    gae,
    gae_over_time,
    language_model,
    log_probs,
    machine,
    training,
    whole_step,
)
from bench.floors import FLOORS, judged
from bench.measuring import Comparison, measured, nothing
from bench.report import write
from bench.results import Result, slopes

SUBJECTS = {
    "gae": gae,
    "gae over time": gae_over_time,
    "log-probs and entropy": log_probs,
    "whole step": whole_step,
    "training": training,
    "language model": language_model,
}
PEERS = {
    peer: version
    for subject in SUBJECTS.values()
    for peer, version in getattr(subject, "PEERS", {}).items()
}


def main() -> None:
    given = arguments().parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit("bench: --device cuda needs a GPU that PyTorch can use")
    comparisons = [
        comparison
        for subject in given.only or SUBJECTS
        for comparison in SUBJECTS[subject].comparisons(given.quick, given.device)
    ]
    results = run(comparisons, given.device)
    if not (given.only or given.quick):
        commit, changed = machine.commit()
        made = f"{datetime.now(UTC).date().isoformat()}, {commit[:7] or 'no commit'}"
        made += ", changed since the commit" * changed
        where = machine.machine(given.device), machine.versions(PEERS), made
        for path in write(machine.ROOT, given.device, results, *where):
            print(path)
    if not given.quick and not report(results, given.device):
        sys.exit(1)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=SUBJECTS, metavar="SUBJECT")
    parser.add_argument("--quick", action="store_true", help="seconds, to see it runs")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
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


def report(results: list[Result], device: str) -> bool:
    """Print what was required and whether it was met; False if something was not."""
    for slope in slopes(results):
        print(f"{slope.subject}, {slope.contender}: time**{slope.exponent:.2f}")
    measured_subjects = {result.subject for result in results}
    floors = [floor for floor in FLOORS if floor.subject in measured_subjects]
    verdicts = list(judged(floors, results, device))
    print()
    for verdict, line in verdicts:
        print(f"{verdict:12} {line}")
    return all(verdict != "NOT met" for verdict, _ in verdicts)


if __name__ == "__main__":
    main()
