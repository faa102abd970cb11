"""A doctor for training logs: which of their figures need a look, and why."""

from ppo_ref.check.doctor.figures import FIGURES, KNOWN
from ppo_ref.check.doctor.judging import Finding, judge
from ppo_ref.check.doctor.measuring import measure
from ppo_ref.check.doctor.reading import Log, SeveralRuns, decode, read_log
from ppo_ref.check.doctor.report import report

__all__ = [
    "FIGURES",
    "KNOWN",
    "Finding",
    "Log",
    "SeveralRuns",
    "decode",
    "judge",
    "measure",
    "read_log",
    "report",
]
