"""Whether a module's own tests notice a mutant: each in a process of its own.

Every process is a fork of one that has torch, the test tools, and of the project what
does not import the module. The examples in the docstrings come first, then the quick
tests; the first failure ends it. Tests with generated inputs get few of them, and all
that they get otherwise only before a mutant is said to survive.
"""

import multiprocessing
import resource
from collections.abc import Callable, Sequence
from enum import Enum
from multiprocessing.connection import Connection, wait
from time import process_time
from typing import NamedTuple
from warnings import catch_warnings

from tests.mutants.importing import plant
from tests.mutation.mutant import Mutant
from tests.mutation.own import Own
from tests.mutation.testing import examples_fail, generated_tests_fail, tests_fail

FORK = multiprocessing.get_context("fork")
AT_ONCE = 2
BYTES = 4 * 2**30
# Seconds of the processor, beyond three times what the sound module takes.
GRACE = 10


class Outcome(Enum):
    """What became of a mutant."""

    SURVIVED = "survived"
    KILLED = "killed"
    ENDLESS = "killed, as it ran without end"
    UNUSABLE = "cannot be imported, and is not counted"


class Trial(NamedTuple):
    """A mutant before its judges; which of the tests take how long, if that is known.

    Args:
        own: The module.
        mutant: What stands in its place.
        seconds: By test.
        thorough: Whether all inputs are generated, or all else is run with a few.
        limit: Seconds of the processor, not of the clock.
    """

    own: Own
    mutant: Mutant
    seconds: dict[str, float]
    thorough: bool = False
    limit: int = 600


def judge_all(
    own: Own, mutants: Sequence[Mutant], tell: Callable[[Mutant, Outcome], None]
) -> None:
    """Judge the mutants of a module, some at once; ``tell`` hears each outcome.

    Raises:
        ValueError: if the tests fail without a mutant.
    """
    sound = Mutant(0, "", own.source.read_text("utf-8"))
    quick, seconds, used = ended(*begun(Trial(own, sound, {})))
    thorough, _, more = ended(*begun(Trial(own, sound, seconds, thorough=True)))
    if {quick, thorough} != {Outcome.SURVIVED}:
        raise ValueError(f"{own.module}: its tests do not pass without a mutant")
    if not seconds:
        raise ValueError(f"{own.module}: all its tests are skipped here")
    limit = GRACE + 3 * int(max(used, more))
    waiting = [Trial(own, mutant, seconds, limit=limit) for mutant in mutants]
    running = {}
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            trial = waiting.pop(0)
            results, process = begun(trial)
            running[results] = trial, process
        for results in wait([*running]):
            trial, process = running.pop(results)
            outcome, _, _ = ended(results, process)
            if outcome is Outcome.SURVIVED and not trial.thorough:
                waiting.insert(0, trial._replace(thorough=True))
            else:
                tell(trial.mutant, outcome)


def begun(trial: Trial) -> tuple[Connection, multiprocessing.Process]:
    results, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_child, args=(trial, theirs))
    process.start()
    theirs.close()
    return results, process


def ended(
    results: Connection, process: multiprocessing.Process
) -> tuple[Outcome, dict[str, float], float]:
    try:
        told = results.recv()
    except EOFError:  # stopped for its time, or it brought Python down
        told = Outcome.ENDLESS, {}, 0.0
    process.join()
    return told


def _child(trial: Trial, results: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (trial.limit,) * 2)
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES,) * 2)
    results.send((_outcome(trial), trial.seconds, process_time()))


def _outcome(trial: Trial) -> Outcome:
    own = trial.own
    plant(own.name, lambda _: trial.mutant.text)
    try:
        with catch_warnings(action="ignore", category=SyntaxWarning):
            module = own.load()
    except Exception:
        return Outcome.UNUSABLE
    noticed = (
        generated_tests_fail(own, trial.seconds)
        if trial.thorough
        else examples_fail(module) or tests_fail(own, trial.seconds)
    )
    return Outcome.KILLED if noticed else Outcome.SURVIVED
