"""The doctor is as often right as about/verification says."""

from typing import Any

import pytest
import yaml

from tests.check.doctor import calibration
from tests.check.doctor.simulated import FAULTS, SOUND
from tests.layout import ROOT


@pytest.fixture(scope="module")
def record() -> Any:
    return yaml.safe_load((ROOT / calibration.RECORD).read_text("utf-8"))


def test_the_record_is_of_this_code(record: Any) -> None:
    assert record["code"] == calibration.code(), "make calibration"
    assert [row["en"] for row in record["faults"]] == [one.en for one in FAULTS]
    assert [row["en"] for row in record["sound"]] == [one.en for one in SOUND]


def test_what_is_wrong_is_named_and_sound_runs_are_left_alone(record: Any) -> None:
    runs = sum(row["runs"] for row in record["faults"])
    sound = sum(row["runs"] for row in record["sound"])
    assert runs + sound >= 200
    assert sum(row["three"] for row in record["faults"]) >= 0.9 * runs
    assert sum(row["wrong"] for row in record["faults"]) == 0
    assert sum(row["alarms"] for row in record["sound"]) <= 0.02 * sound


@pytest.mark.parametrize("name", ["nan", "a reward function that finds no answer"])
def test_a_row_of_the_record_is_counted_again(record: Any, name: str) -> None:
    row = next(row for row in record["faults"] if row["en"] == name)
    fault = next(fault for fault in FAULTS if fault.en == name)
    assert calibration.count_fault(fault) == row
