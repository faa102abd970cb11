"""Runs that are ended before their time, all by one process, and how they ended."""

import signal
from pathlib import Path
from typing import NamedTuple

from ppo_ref.command.checkpoint import BEFORE, LAST
from tests.command.forking import Ended, Job, ended
from tests.command.runs import SMALL

LAST_EVENT = 66  # the small run is over soon after
LOGS = "seconds.jsonl", "statistics.jsonl", "tokens.jsonl"

# Before which event of the small run the kill comes, and what is then on the disk.
MOMENTS = {
    "no folder": (1, []),
    "no config": (2, []),
    "a config without its name": (4, [".config.json.new"]),
    "no checkpoint": (5, ["config.json"]),
    "imitation, between two names": (10, [BEFORE, "config.json"]),
    "PPO, no line": (17, [BEFORE, LAST, "config.json"]),
    "PPO, half of a record": (33, [BEFORE, LAST, "config.json", *LOGS]),
    "PPO, a line too many": (41, [BEFORE, LAST, "config.json", *LOGS]),
    "no summary": (63, ["charts.svg", BEFORE, LAST, "config.json", *LOGS]),
}


class Dead(NamedTuple):
    """Where the runs lie, what each had written by then, and what some said."""

    root: Path
    written: dict[str, list[str]]
    full: dict[str, Ended]


def job(path: Path, at: int) -> Job:
    """A run that is killed just before that event."""
    return Job(["train", *SMALL, "--out", str(path)], str(path), at)


def killed(*jobs: Job) -> None:
    codes = [end.code for end in ended(list(jobs))]
    assert codes == [-signal.SIGKILL] * len(codes)


def dead(root: Path, limits: dict[str, int]) -> Dead:
    """Kill a run at each moment, and give others so many bytes for a file."""
    again = ["train", "--resume", str(root / "again")]
    kills = [
        *(job(root / what, at) for what, (at, _) in MOMENTS.items()),
        job(root / "half", 41),
        job(root / "again", 30),
        *(Job(again, str(root / "again"), at) for at in (9, 14, 12)),
    ]
    fulls = [
        Job(["train", *SMALL, "--out", str(root / name)], str(root), limit=limit)
        for name, limit in limits.items()
    ]
    ends = ended([*kills, *fulls])
    assert {end.code for end in ends[: len(kills)]} == {-signal.SIGKILL}
    written = {
        what: sorted(path.name for path in (root / what).glob("*")) for what in MOMENTS
    }
    return Dead(root, written, dict(zip(limits, ends[len(kills) :], strict=True)))
