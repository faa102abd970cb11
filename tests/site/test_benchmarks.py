"""The benchmarks page: from a small record, what is shown as computed by hand."""

import json
import re
from dataclasses import replace
from functools import partial
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from site_tools.benchmarks import log_chart, machine, verdicts, views
from site_tools.benchmarks.amounts import amount
from site_tools.benchmarks.floors import Ceiling, Floor
from site_tools.benchmarks.record import Record, Result, Slope, Spread, save
from site_tools.benchmarks.views import FILES, FOLDER, VIEWS, render
from site_tools.checks.shown import check_shown
from site_tools.html import pictures
from site_tools.html.rendering import render as on_page
from site_tools.running.hashes import package_hash
from tests.site.sample import ROOT, page

PEER = "verl 0.9.1"


def result(subject, setting, unit="seconds", over="", sizes=None, **medians) -> Result:
    """Quartiles are 10 % below and 20 % above the median."""
    names = {name.replace("verl", PEER): m for name, m in medians.items()}
    found = {name: Spread(m, 0.9 * m, 1.2 * m, 7) for name, m in names.items()}
    return Result(subject, setting, sizes or {}, over, unit, found)


def record() -> Record:
    lengths = (128, 1024, 8192)
    results = [
        result(
            *("gae", "masked 8x128"),
            sizes={"batch": 8, "time": 128},
            **{"gae": 2e-4, "kernel": 1e-4, "copy": 5e-6, "verl": 8e-3},
        ),
        result("gae", "masked 4x32768", gae=1e-3, kernel=5e-4, copy=1e-4, verl=0.5),
        *(
            result(
                *("gae over time", f"masked 4x{time}"),
                over="time",
                sizes={"time": time},
                **{"gae": time * 1e-6, "verl": time * 4e-5},
            )
            for time in lengths
        ),
        result(
            *("log-probs and entropy", "1024x32000 forward and backward"),
            sizes={"tokens": 1024},
            **{"together": 0.2, "apart": 0.3, "verl": 0.5},
        ),
        result("whole step", "width 256", **{"in chunks": 0.25, "verl": 0.5}),
        result("whole step", "width 256, memory", "bytes", **{"in chunks": 16e6}),
        result("training", "whole run", **{"1 thread": 90.0, "2 threads": 61.24}),
    ]
    slopes = [
        Slope("gae over time", name, "time", 1.0, lengths) for name in ("gae", PEER)
    ]
    where = {"processor": "A <fast> one", "cores": 2, "threads": 2, "gpu": ""}
    found = where, {"torch": "2.13.0", "verl": "0.9.1"}, results, slopes
    return Record("2026-11-22", "0123456789", False, "cpu", *found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ppo_ref").mkdir()
    (tmp_path / "ppo_ref" / "a.py").write_text("a = 1\n")
    kept = replace(record(), package=package_hash(tmp_path / "ppo_ref"))
    save(tmp_path / FOLDER / FILES["cpu"], kept)
    return tmp_path


def shown(view: str, lang: str, root: Path) -> list[str]:
    html = re.sub(r"<svg.*?</svg>", "", render(view, lang, root), flags=re.DOTALL)
    cut = re.sub(r"</(?:p|tr|summary)>", "\n", html.replace("\n", " "))
    lines = re.sub(r"<[^>]*>", " ", cut).splitlines()
    return [" ".join(unescape(line).split()) for line in lines if line.strip()]


def test_gae_is_told_with_what_it_costs_beside_the_copy_and_verl(project):
    assert shown("gae", "en", project) == [
        "median (quartiles) ÷ copy verl ÷ it",
        "with a mask, 8 × 128",
        "gae 200 µs 180–240 µs 40.0× 40.0×",
        "its kernel, unchecked 100 µs 90.0–120 µs 20.0× 80.0×",
        "copy of the same bytes 5.00 µs 4.50–6.00 µs 1.00×",
        "verl 0.9.1 8.00 ms 7.20–9.60 ms 1,600×",
        "with a mask, 4 × 32,768",
        "gae 1.00 ms 0.900–1.20 ms 10.0× 500×",
        "its kernel, unchecked 500 µs 450–600 µs 5.00× 1,000×",
        "copy of the same bytes 100 µs 90.0–120 µs 1.00×",
        "verl 0.9.1 500 ms 450–600 ms 5,000×",
        "verl 0.9.1 takes 40.0 to 500 times as long as gae ; "
        "verl 0.9.1 takes 80.0 to 1,000 times as long as “its kernel, unchecked”.",
    ]


def test_what_costs_most_leads_beside_gae_of_as_many_tokens(project):
    first, *_, last = shown("log_probs", "zh", project)
    assert first == (
        "1,024 个 token：verl 0.9.1 的 log-prob 和熵，前向加反向，要 500 毫秒，"
        "它的 GAE 要 8.00 毫秒，前者是后者的 62.5 倍。"
    )
    assert last == "verl 0.9.1 的用时是“合在一起算”的 2.50 倍。"


@pytest.mark.parametrize(
    ("view", "lang", "line"),
    [
        ("log_probs", "en", "1,024 × 32,000 forward and backward"),
        ("log_probs", "zh", "1,024 × 32,000 前向加反向"),
        ("whole_step", "en", "in chunks 250 ms 225–300 ms 2.00×"),
        ("memory", "zh", "分块 16.0 MB 14.4–19.2 MB"),
        ("training", "zh", "2 个线程 61.2 秒 55.1–73.5 秒"),
        ("machine", "en", "processor A <fast> one"),
        ("machine", "en", "versions torch 2.13.0, verl 0.9.1"),
        ("machine", "zh", "运行 2026-11-22，0123456"),
    ],
)
def test_a_row_of_each_view(view, lang, line, project):
    assert line in shown(view, lang, project)


def test_what_several_packages_do_is_compared_with_the_fastest(project):
    dense = result("gae", "dense 8x128", gae=2.0)
    others = {"TorchRL 0.14.1 vectorised": 6.0, "Stable-Baselines3 2.9.2": 5.0}
    contenders = dense.contenders | result("", "", **others).contenders
    versions = {"TorchRL": "0.14.1", "Stable-Baselines3": "2.9.2"}
    dense = replace(dense, contenders=contenders)
    save(
        project / FOLDER / FILES["cpu"],
        replace(record(), versions=versions, results=[dense]),
    )
    lines = shown("gae", "en", project)
    assert lines[0] == "median (quartiles) best peer ÷ it"
    assert lines[2:5] == [
        "gae 2.00 s 1.80–2.40 s 2.50×",
        "TorchRL 0.14.1 vectorised 6.00 s 5.40–7.20 s 0.833×",
        "Stable-Baselines3 2.9.2 5.00 s 4.50–6.00 s",
    ]


@pytest.mark.parametrize(("lang", "said"), [("en", "Not measured"), ("zh", "没有测过")])
def test_what_is_missing_is_said(lang, said, project):
    assert said in render("cuda", lang, project)
    save(project / FOLDER / FILES["cpu"], replace(record(), results=[], slopes=[]))
    for view in {*VIEWS} - {"machine", "floors"}:
        assert said in render(view, lang, project)
    (project / FOLDER / FILES["cpu"]).unlink()
    for view in VIEWS:
        assert said in render(view, lang, project)


def test_what_a_gpu_measured_is_shown(project):
    found = replace(record(), device="cuda", machine={"gpu": "A large one"})
    save(project / FOLDER / FILES["cuda"], found)
    lines = shown("cuda", "en", project)
    assert "GPU A large one" in lines
    assert "gae 200 µs 180–240 µs 40.0× 40.0×" in lines


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"results": [1], "slopes": []}'])
def test_a_broken_record_is_refused_by_name(text, project):
    (project / FOLDER / FILES["cpu"]).write_text(text)
    with pytest.raises(ValueError, match=r"benchmarks\.json: no record of benchmarks"):
        render("gae", "en", project)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"unit": "miles"}, "miles"), ({"over": "depth"}, "depth"), ({"sizes": 3}, "int")],
)
def test_a_result_that_could_not_be_shown_is_refused(change, said, project):
    file = project / FOLDER / FILES["cpu"]
    raw = json.loads(file.read_text())
    raw["results"][0] |= change
    file.write_text(json.dumps(raw))
    with pytest.raises(ValueError, match=f"no record of benchmarks: .*{said}"):
        render("gae", "en", project)


def test_other_views_and_languages_are_refused(project):
    with pytest.raises(ValueError, match=r"must be one of \[.*'cuda'\], got 'speed'"):
        render("speed", "en", project)
    with pytest.raises(ValueError, match='data-language="zh" or "en", got'):
        render("gae", "fr", project)


def test_a_change_of_the_package_is_told(project):
    assert "stale" not in render("machine", "en", project)
    (project / "ppo_ref" / "a.py").write_text("a = 2\n")
    assert "ppo_ref has changed since" in shown("machine", "en", project)[-1]


def test_sources_that_were_not_the_commits_are_told():
    lines = [*machine.lines(replace(record(), dirty=True), "zh", Path("none"))]
    assert "不完全一样" in lines[-1]


def test_floors_are_counted_and_what_is_missed_stands_above(project, monkeypatch):
    floors = (
        Floor("gae", "masked 8x128", "gae", PEER, 30),
        Floor("gae", "masked 8x128", "kernel", PEER, 100),
        Floor("gae", "masked 9x9", "kernel", PEER, 100),
        Ceiling("whole step", "width 256, memory", "in chunks", 20e6),
        Ceiling("gae", "masked 8x128", "gae", 1.0, device="cuda"),
    )
    monkeypatch.setattr(verdicts, "FLOORS", floors)
    lines = shown("floors", "en", project)
    assert lines[0] == "4 are required: 2 met, 1 not met, 1 not measured."
    missed = "its kernel, unchecked against verl 0.9.1 GAE, with a mask, 8 × 128"
    assert lines[2] == f"{missed} 100× 80.0× NOT met"
    assert "in chunks whole step, width 256, memory 20.0 MB 16.0 MB met" in lines


def test_growth_is_drawn_on_logarithmic_axes(project):
    html = render("growth", "en", project)
    assert (
        'alt="On logarithmic axes, T from 128 to 8,192: gae, slope 1.00 128 µs' in html
    )
    assert 'src="benchmarks.cpu.growth.svg"' in html
    svg = pictures.inline(html, partial(views.picture, lang="en", root=project), "en")
    assert ">gae, slope 1.00</text>" in svg
    paths = re.findall(r'<path class="(?:accent|second dashed)" d="(M[^h"]*)"', svg)
    assert len(paths) == 2
    for path in paths:  # sizes and costs grow eightfold: steps of one length
        points = [[float(n) for n in p.split()] for p in path[1:].split("L")]
        across, up = ([b[i] - a[i] for a, b in pairwise(points)] for i in (0, 1))
        assert across == pytest.approx([across[0]] * 2, abs=0.2)
        assert up == pytest.approx([up[0]] * 2, abs=0.2)


def test_a_power_lies_where_its_logarithm_does():
    axis = log_chart.decades([2e-4, 0.3], 300)
    assert [axis.at(x) for x in (1e-4, 1e-3, 0.1, 1)] == [0, 75, 225, 300]
    assert [*axis.powers()] == [-4, -3, -2, -1, 0]
    assert log_chart.decades([1.0], 10).last == 10


@pytest.mark.parametrize(
    ("lang", "shown"),
    [
        ("en", ["100 µs", "1 ms", "10 ms", "1 s", "10 s"]),
        ("zh", ["100 微秒", "10 毫秒", "1 秒", "10 秒"]),
    ],
)
def test_labels_of_powers_leave_room_for_each_other(lang, shown):
    wide = {"a": {"gae": Spread(2e-4, 1.1e-4, 3e-4, 7), PEER: Spread(1, 0.2, 9.0, 7)}}
    svg = log_chart.rows(wide, unit="seconds", lang=lang)
    labels = re.findall(r'<text class="muted small" x="([^"]*)" [^>]*>([^<]*)<', svg)
    assert [label for _, label in labels] == shown
    assert svg.count('class="faint"') == 6  # a line each all the same


def test_more_lines_than_looks_are_refused():
    named = {str(number): {1: 1.0, 2: 2.0} for number in range(5)}
    with pytest.raises(ValueError, match="lines must be 1 to 4, got 5"):
        log_chart.lines(named, below="T", unit="seconds", lang="en")


@pytest.mark.parametrize(
    ("value", "unit", "en", "zh"),
    [
        (0.0004567, "seconds", "457 µs", "457 微秒"),
        (0.9999, "seconds", "1.00 s", "1.00 秒"),
        (4e-10, "seconds", "0.400 ns", "0.400 纳秒"),
        (131072000, "bytes", "131 MB", "131 MB"),
        (2.5e9, "bytes", "2.50 GB", "2.50 GB"),
        (12345.0, "seconds", "12,300 s", "12,300 秒"),
    ],
)
def test_numbers_have_three_digits_and_a_unit(value, unit, en, zh):
    assert (amount(value, unit, "en"), amount(value, unit, "zh")) == (en, zh)


def test_other_pictures_are_left_to_the_site(project):
    assert views.picture("value_before_token.svg", "en", project) is None


@pytest.mark.parametrize("view", ["log_probs", "growth", "floors"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_fence_is_known_to_the_site(lang, view):
    text = f'# x\n\n```{{ .benchmarks data-language="{lang}" }}\n{view}\n```\n'
    html = on_page(text, ROOT)
    assert 'class="status"' in html
    assert check_shown(page(text, name="status"), html) == []
