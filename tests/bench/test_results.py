"""Floors are judged by medians; growth is fitted; a run becomes a page."""

from dataclasses import replace

import pytest

from bench.floors import FLOORS, Ceiling, Floor, judged
from bench.report import write
from bench.results import Result, Spread, slopes


def found(**medians: float) -> list[Result]:
    spreads = {name: Spread(m, m, m, 1) for name, m in medians.items()}
    return [Result("s", "8x128", {}, "", "seconds", spreads)]


@pytest.mark.parametrize(
    ("ours", "verdict"), [(1.0, "met"), (2.0, "met"), (2.1, "NOT met")]
)
def test_a_floor_is_a_ratio_of_medians(ours, verdict):
    floor = Floor("s", "8x128", "ours", "theirs", 15)
    ((came, line),) = judged([floor], found(ours=ours, theirs=30.0), "cpu")
    assert came == verdict
    assert line.startswith("s 8x128: ours against theirs: ")
    assert line.endswith("times, at least 15")


def test_of_several_the_best_one_must_be_beaten():
    floor = Floor("s", "8x128", "ours", "slow", 2, others=("quick",))
    results = found(ours=1.0, slow=9.0, quick=1.5)
    ((came, line),) = judged([floor], results, "cpu")
    assert (came, line) == (
        "NOT met",
        "s 8x128: ours against slow or quick: 1.50 times, at least 2",
    )
    ((came, _),) = judged([floor], found(ours=1.0, slow=9.0), "cpu")
    assert came == "not measured"


@pytest.mark.parametrize(("most", "verdict"), [(1.0, "met"), (0.9, "NOT met")])
def test_a_ceiling_is_an_amount(most, verdict):
    ceiling = Ceiling("s", "8x128", "ours", most, device="cuda")
    ((came, _),) = judged([ceiling], found(ours=1.0), "cuda")
    assert came == verdict
    assert list(judged([ceiling], found(ours=1.0), "cpu")) == []


def test_every_floor_names_a_comparison_that_is_made():
    # A second, which every process that collects the tests would pay for.
    from bench.__main__ import SUBJECTS

    made = {
        (device, comparison.subject, comparison.setting)
        for device in ("cpu", "cuda")
        for subject in SUBJECTS.values()
        for comparison in subject.comparisons(False, device)
    }
    named = {(floor.device, floor.subject, floor.setting) for floor in FLOORS}
    assert named <= made
    assert {subject for _, subject, _ in made} == SUBJECTS.keys()


def result(time: int = 8, median: float = 2.0, over: str = "") -> Result:
    spreads = {
        "gae": Spread(median, median / 2, median * 2, 7),
        "copy": Spread(median / 4, median / 4, median / 4, 7),
        "verl 0.9.1": Spread(median * 10, median * 10, median * 10, 7),
    }
    return Result("gae", f"masked 1x{time}", {"time": time}, over, "seconds", spreads)


def test_growth_is_fitted_where_it_was_asked_for_and_three_sizes_are_there():
    times = (8, 32, 16)
    grown = [result(time, time**2, over="time") for time in times]
    assert [slope.exponent for slope in slopes(grown)] == [pytest.approx(2)] * 3
    assert slopes(grown[:2]) == []
    assert slopes([result(time, time) for time in times]) == []


def test_a_whole_step_has_a_table_for_each_width(tmp_path):
    def step(width: int, column: str, **medians: float) -> Result:
        spreads = {
            name.replace("_", " "): Spread(m, m, m, 1) for name, m in medians.items()
        }
        setting = f"width {width}: {column}"
        return Result("whole step", setting, {"tokens": 64}, "", "seconds", spreads)

    steps = [
        step(16, "32k", logits_kept=3.0, products_alone=2.0),
        step(16, "128k, no padding", products_alone=5.0),
        step(32, "32k", products_alone=7.0),
    ]
    write(tmp_path, "cpu", steps, {"cores": 2}, {}, "")
    english, chinese = (
        (tmp_path / f"docs/verified/benchmarks.cpu.{lang}.md").read_text("utf-8")
        for lang in ("en", "zh")
    )
    assert (
        "| width 16 | 32k, 64 slots | 128k, no padding, 64 slots |\n"
        "| --- | --: | --: |\n"
        "| logits kept | 3.00 s (1.50×) |  |\n| products alone | 2.00 s | 5.00 s |\n"
        "\n| width 32 | 32k, 64 slots |\n"
    ) in english
    assert "| 宽度 16 | 32k, 64 个位置 | 128k，没有填充，64 个位置 |\n" in chinese
    assert "| 只有矩阵乘法 | 2.00 s | 5.00 s |" in chinese


def test_a_run_is_written_in_both_languages(tmp_path):
    machine = {"processor": "one", "cores": 2, "GPU": ""}
    versions = {"python": "3.12", "verl": "0.9.1"}
    results = [result(4096), replace(result(), setting="masked 8x128")]
    write(tmp_path, "cpu", results, machine, versions, "2026-11-22, abc1234")
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
    assert {"## machine", "## gae", "## floors", "## missed"} <= {*sections}
    missed = english.partition("## missed")[2]
    assert (
        "| gae against verl 0.9.1 (gae, 8 × 128, masked) | ≥ 15.0× | 10.0× |" in missed
    )
    assert missed.count("NOT met") == missed.count("\n| gae") == 1
    write(tmp_path, "cpu", [], machine, versions, "")
    chinese = (tmp_path / "docs/verified/benchmarks.cpu.zh.md").read_text("utf-8")
    assert chinese.endswith("## missed\n\n每一条都达到了\n")
