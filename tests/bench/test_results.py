"""How a cost grows, fitted; what a run is written as for the page."""

import pytest

from bench.report import in_chinese, write
from bench.results import Result, Spread, exponent, slopes


def result(time: int = 8, median: float = 2.0, over: str = "") -> Result:
    spreads = {
        "gae": Spread(median, median / 2, median * 2, 7),
        "copy": Spread(median / 4, median / 4, median / 4, 7),
        "verl 0.9.1": Spread(median * 10, median * 10, median * 10, 7),
    }
    return Result("gae", f"masked 1x{time}", {"time": time}, over, "seconds", spreads)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, -0.5])
def test_the_slope_of_a_power_is_its_exponent(power):
    line = {size: 3e-6 * size**power for size in (128, 512, 4096, 131072)}
    assert exponent(line) == pytest.approx(power)


def test_growth_is_fitted_where_it_was_asked_for_and_three_sizes_are_there():
    times = (8, 32, 16)
    grown = [result(time, time**2, over="time") for time in times]
    assert [slope.exponent for slope in slopes(grown)] == [pytest.approx(2)] * 3
    assert slopes(grown[:2]) == []
    assert slopes([result(time, time) for time in times]) == []


def test_a_run_is_written_in_both_languages(tmp_path):
    machine = {"processor": "one", "cores": 2, "GPU": ""}
    versions = {"python": "3.12", "verl": "0.9.1"}
    write(tmp_path, "cpu", [result(4096)], machine, versions, "2026-11-22, abc1234")
    english, chinese = (
        (tmp_path / f"docs/verified/benchmarks.cpu.{lang}.md").read_text("utf-8")
        for lang in ("en", "zh")
    )
    assert "| **1 × 4,096, masked** |" in english
    assert "| gae | 2.00 s (1.00–4.00 s) | 4.00× | 10.0× |" in english
    assert "| copy | 500 ms |  |  |" in english
    assert "| verl 0.9.1 | 20.0 s | 40.0× |  |" in english
    assert "GPU" not in english
    assert "| **1 × 4,096，有 mask** |" in chinese
    assert "| 复制同样多的字节 | 500 ms |  |  |" in chinese
    sections = [line for line in english.splitlines() if line.startswith("## ")]
    assert sections == [line for line in chinese.splitlines() if line.startswith("## ")]
    assert {"## machine", "## gae", "## floors"} <= {*sections}


def test_a_word_within_a_word_is_left_alone():
    assert in_chinese("| threads, metadata |") == "| 个线程，metadata |"
