"""How often the log doctor is right: make calibration.

Runs that fail for a planted reason, and sound ones, are simulated with seeds that were
not looked at while the doctor was written. docs/verified/doctor.yml has the counts that
about/verification shows, and a digest of the code that they are of.
"""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import torch
import yaml

from ppo_ref.check.doctor.judging import Finding, judge
from ppo_ref.check.doctor.reading import read_log
from site_tools.ledger import digest, store
from tests.check.doctor.simulated import FAULTS, SOUND, Draw, simulate, text_of
from tests.layout import ROOT

RECORD = "docs/verified/doctor.yml"
RUNS = 12  # of each fault
SOUND_RUNS = 24  # of each kind
FIRST_SEED = 5000
FIRST_LINES = 3


def code() -> str:
    """A digest of the doctor and of the runs that it is tried on."""
    files = sorted((ROOT / "ppo_ref" / "check" / "doctor").glob("*.*"))
    files.append(Path(__file__).with_name("simulated.py"))
    return digest(b"".join(file.read_bytes() for file in files))


def findings(draw: Draw, number: int) -> Iterator[list[Finding]]:
    """What is said of each of some runs, without what is fine."""
    for seed in range(FIRST_SEED, FIRST_SEED + number):
        setting = draw(torch.Generator().manual_seed(seed))
        found = judge(read_log(text_of(simulate(setting, seed))))
        yield [one for one in found if one.level != "fine"]


def is_alarm(one: Finding) -> bool:
    """Say whether a finding asks to be looked at."""
    return one.level in ("broken", "look")


def count_fault(fault: Any, number: int = RUNS) -> dict[str, Any]:
    """Count the runs of one fault in which the doctor is right, and wrong.

    ``first`` and ``three``: a section that names the reason is the first line, is among
    the first three. ``wrong``: the first line is an alarm that is not true of the run.
    """
    first = three = wrong = 0
    for told in findings(fault.draw, number):
        rows = [one.row for one in told[:FIRST_LINES]]
        first += bool(rows) and rows[0] in fault.right
        three += any(row in fault.right for row in rows)
        alarm = bool(told) and is_alarm(told[0])
        wrong += alarm and told[0].row not in fault.right | fault.also
    return {
        "en": fault.en,
        "zh": fault.zh,
        "runs": number,
        "first": first,
        "three": three,
        "wrong": wrong,
    }


def count_sound(kind: Any, number: int = SOUND_RUNS) -> dict[str, Any]:
    """Count the sound runs of one kind about which there is an alarm."""
    alarms = sum(any(map(is_alarm, told)) for told in findings(kind.draw, number))
    return {"en": kind.en, "zh": kind.zh, "runs": number, "alarms": alarms}


def main() -> None:
    """Simulate all runs, say how far it is, and write the record."""
    torch.set_num_threads(1)
    made: dict[str, Any] = {"date": date.today().isoformat(), "code": code()}
    made["faults"] = []
    for fault in FAULTS:
        made["faults"].append(count_fault(fault))
        print(made["faults"][-1], flush=True)
    made["sound"] = []
    for kind in SOUND:
        made["sound"].append(count_sound(kind))
        print(made["sound"][-1], flush=True)
    text = yaml.safe_dump(made, sort_keys=False, allow_unicode=True)
    store(ROOT / RECORD, text.encode())


if __name__ == "__main__":
    main()
