"""How much do each module's own tests notice? make mutation: break it place by place.

Where ``make mutants`` plants mistakes by hand and asks the pages, this breaks whatever
cosmic-ray knows how to break in floors 1 to 3, and asks the tests. Only what has
changed since is tried again; the scores go to docs/verified/mutation.json, each as soon
as its module is done. A survivor that tests/mutation/equivalents.yml gives no reason
for, or a score that is not above 90 %, fails.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from importlib.metadata import version

from site_tools.mutants.reasons import parse
from site_tools.mutation.record import (
    FILE,
    TABLE,
    Score,
    Survivor,
    load,
    rests_on,
    save,
    stale,
)
from tests.mutation.judging import FORK, Outcome, judge_all
from tests.mutation.mutant import Mutant
from tests.mutation.mutants import mutants
from tests.mutation.own import ROOT, Own, import_around, table
from tests.mutation.testing import warm_up

REASONS = "tests/mutation/equivalents.yml"
NO_REASON = "no reason given"
WANTED = 0.9


def main(asked: list[str]) -> None:
    """Try the modules that are named, or else those that have changed."""
    modules = table()
    if unknown := [module for module in asked if module not in modules]:
        sys.exit(f"make mutation: {TABLE} has no {', '.join(unknown)}")
    warm_up()
    faults = []
    for module in asked or stale(ROOT, load(ROOT)):
        # A process of its own, as what it imports must not be there for the next one.
        process = FORK.Process(target=try_out, args=(modules[module],))
        process.start()
        process.join()
        if process.exitcode:
            faults.append(f"{module}: could not be tried, see above")
    known = explained(
        {name: score for name, score in load(ROOT).items() if name in modules}
    )
    save(ROOT, known)
    faults += weak(known)
    print("\n".join(faults) if faults else f"{FILE}: now commit it")
    sys.exit(1 if faults else 0)


def try_out(own: Own) -> None:
    """Try every mutant of a module, and keep the score."""
    began, before = time.monotonic(), rests_on(ROOT, own.module, own.tests)
    outcomes: Counter[Outcome] = Counter()
    survivors: list[Survivor] = []

    def tell(mutant: Mutant, outcome: Outcome) -> None:
        outcomes[outcome] += 1
        if outcome in (Outcome.SURVIVED, Outcome.ENDLESS):
            seconds = f"{time.monotonic() - began:5.0f} s"
            where = f"{own.module}:{mutant.line}"
            print(f"{seconds}  {outcome.value}: {where}: {mutant.change}", flush=True)
        if outcome is Outcome.SURVIVED:
            survivors.append(Survivor(mutant.line, mutant.change, NO_REASON))

    import_around(own)
    judge_all(own, [*mutants(own.source.read_text("utf-8"))], tell)
    if rests_on(ROOT, own.module, own.tests) != before:
        sys.exit(f"{own.module}: edited under way; run it again")
    killed = outcomes[Outcome.KILLED] + outcomes[Outcome.ENDLESS]
    score = Score(
        commit=head(),
        date=date.today().isoformat(),
        tool=f"cosmic-ray {version('cosmic-ray')}",
        rests_on=before,
        killed=killed,
        unusable=outcomes[Outcome.UNUSABLE],
        survivors=tuple(sorted(survivors)),
    )
    save(ROOT, {**load(ROOT), own.module: score})
    seconds = f"{time.monotonic() - began:5.0f} s"
    print(f"{seconds}  {own.module}: {killed} of {score.tried} killed", flush=True)


def head() -> str:
    command = ["git", "rev-parse", "HEAD"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip()


def explained(scores: Mapping[str, Score]) -> dict[str, Score]:
    """The scores in the table's order, each survivor with the reason known today."""
    known = parse((ROOT / REASONS).read_text("utf-8"), REASONS)
    return {
        module: replace(
            scores[module],
            survivors=tuple(
                s._replace(reason=known.of(module, s.change) or NO_REASON)
                for s in scores[module].survivors
            ),
        )
        for module in table()
        if module in scores
    }


def weak(scores: Mapping[str, Score]) -> Iterator[str]:
    """What is not as it should be, as sentences."""
    for module, score in scores.items():
        if score.share <= WANTED:
            yield f"{module}: {score.killed} of {score.tried} killed, wanted over 90 %"
        for line, change, reason in score.survivors:
            if reason == NO_REASON:
                yield f"{module}:{line}: a survivor without a reason: {change}"


if __name__ == "__main__":
    main(sys.argv[1:])
