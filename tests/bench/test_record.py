"""The record of a run: written whole, read with errors that name the file."""

import json

import pytest

from site_tools.benchmarks.growth import exponent, slopes
from site_tools.benchmarks.record import (
    Record,
    Result,
    Slope,
    Spread,
    load,
    save,
)


def result(time: int = 8, median: float = 2.0, over: str = "") -> Result:
    found = {"ours": Spread(median, median / 2, median * 2, 7)}
    return Result("gae", f"1x{time}", {"time": time}, over, "seconds", found)


def record() -> Record:
    where = {"processor": "one", "cores": 2, "threads": 2, "gpu": ""}
    fitted = [Slope("gae", "ours", "time", 1.0, [8, 16, 32])]
    found = where, {"torch": "2.13.0"}, [result()], fitted
    return Record("2026-11-22", "0123", False, "cpu", *found)


def test_what_is_saved_is_loaded(tmp_path):
    file = tmp_path / "folder" / "benchmarks.json"
    save(file, record())
    assert load(file) == record()
    assert [path.name for path in file.parent.iterdir()] == ["benchmarks.json"]


def test_a_comparison_is_found_by_its_name():
    assert record().result("gae", "1x8") == result()
    with pytest.raises(KeyError, match="no benchmark gae, 1x9"):
        record().result("gae", "1x9")


def test_no_file_is_no_record(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")


def broken(change) -> str:
    raw = json.loads(json.dumps(record(), default=vars))
    change(raw)
    return json.dumps(raw)


def median(value):
    def change(raw):
        raw["results"][0]["contenders"]["ours"]["median"] = value

    return change


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("[]", "list"),
        ("{}", "results"),
        (broken(lambda raw: raw.pop("commit")), "commit"),
        (broken(lambda raw: raw.update(extra=1)), "extra"),
        (broken(lambda raw: raw["results"][0].pop("contenders")), "contenders"),
        (broken(lambda raw: raw["slopes"][0].pop("over")), "over"),
        (broken(median(float("nan"))), "1x8, ours"),
        (broken(median(99.0)), "1x8, ours"),
        (broken(median("2")), "'<='"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path, text, said):
    file = tmp_path / "benchmarks.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"benchmarks\.json: no record of ") as refusal:
        load(file)
    assert said in str(refusal.value)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, -0.5])
def test_the_slope_of_a_power_is_its_exponent(power):
    line = {size: 3e-6 * size**power for size in (128, 512, 4096, 131072)}
    assert exponent(line) == pytest.approx(power)


def test_growth_is_fitted_where_it_was_asked_for_and_three_sizes_are_there():
    times = (8, 32, 16)
    grown = [result(time, time**2, over="time") for time in times]
    assert slopes(grown) == [
        Slope("gae", "ours", "time", pytest.approx(2), [8, 16, 32])
    ]
    assert slopes(grown[:2]) == []
    assert slopes([result(time, time) for time in times]) == []
