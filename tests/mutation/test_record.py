"""The record of a run: when it is stale, how it is shown, and what it must hold."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import ppo_ref
from site_tools.html import status
from site_tools.mutation.record import (
    FILE,
    TABLE,
    Score,
    Survivor,
    load,
    own_tests,
    rests_on,
    save,
    stale,
)
from tests.layout import MODULES, floors

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    TABLE: "kl: [tests/test_kl.py]\nmasking: [tests/a.py, tests/b.py]\n",
    "ppo_ref/kl.py": "x = 1\n",
    "ppo_ref/masking.py": "y = 1\n",
    "tests/test_kl.py": "z = 1\n",
    "tests/a.py": "a = 1\n",
    "tests/b.py": "b = 1\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def made(root: Path) -> dict[str, Score]:
    alive = (Survivor(7, "x < 0 -> x <= 0", "the same at 0"),)
    scores = {}
    for module, tests in own_tests(root).items():
        now = rests_on(root, module, tests)
        scores[module] = Score("01", "2026-11-22", "cosmic-ray 8.7.0", now, 40, 2, ())
    return {**scores, "masking": replace(scores["masking"], survivors=alive)}


def shown(lang: str, root: Path) -> str:
    html = status.render("mutation", lang, root)
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_what_is_saved_is_loaded(project: Path) -> None:
    assert load(project) == {}
    save(project, made(project))
    assert load(project) == made(project)


def test_shares() -> None:
    score = Score("", "", "", {}, killed=9, unusable=5, survivors=())
    assert (score.tried, score.share) == (9, 1.0)
    one = replace(score, survivors=(Survivor(1, "", ""),))
    assert (one.tried, one.share) == (10, 0.9)
    assert replace(score, killed=0).share == 1.0


@pytest.mark.parametrize(
    ("file", "asked"),
    [
        ("ppo_ref/kl.py", ["kl"]),
        ("tests/test_kl.py", ["kl"]),
        ("tests/b.py", ["masking"]),
        ("tests/c.py", []),
    ],
)
def test_only_what_changed_is_to_be_tried_again(
    project: Path, file: str, asked: list[str]
) -> None:
    scores = made(project)
    assert stale(project, scores) == []
    (project / file).write_text("x = 2\n", "utf-8")
    assert stale(project, scores) == asked
    assert stale(project, {}) == ["kl", "masking"]


@pytest.mark.parametrize("text", ["", "[]", '{"kl": {}}', '{"kl": {"survivors": 1}}'])
def test_a_file_that_is_no_record_is_refused(project: Path, text: str) -> None:
    save(project, made(project))
    (project / FILE).write_text(text)
    with pytest.raises(ValueError, match=r"docs/verified/mutation\.json: no record"):
        load(project)


def test_the_table_says_what_was_tried_and_what_lives(project: Path) -> None:
    assert "Not run yet." in shown("en", project)
    save(project, made(project))
    table = shown("en", project)
    assert "kl 40 40 (100.0%) masking 41 40 (97.6%) all 81 80 (98.8%)" in table
    assert "cosmic-ray 8.7.0, last run on 2026-11-22. The 1 that were" in table
    assert "masking:7: x &lt; 0 -&gt; x &lt;= 0 the same at 0" in table
    assert "Changed since" not in table
    assert "合计 81 80 (98.8%)" in shown("zh", project)


def test_a_stale_row_is_grey_and_told(project: Path) -> None:
    save(project, made(project))
    (project / "tests/b.py").write_text("b = 2\n")
    told = "Changed since then, or their tests: masking."
    assert told in shown("en", project)
    html = status.render("mutation", "zh", project)
    assert html.count('class="stale"') == 1
    assert '<tr class="stale"><th scope="row"><code>masking' in html


def test_every_module_of_floors_1_to_3_has_its_tests_told() -> None:
    floor_of = floors(ppo_ref.__doc__)
    wanted = [m for m in MODULES if 1 <= floor_of[m.partition(".")[0]] <= 3]
    table = own_tests(ROOT)
    assert sorted(table) == wanted
    named = {ROOT / test for tests in table.values() for test in tests}
    assert [path for path in named if not path.is_file()] == []


def test_a_module_that_was_not_counted_is_told(project: Path) -> None:
    save(project, {"kl": made(project)["kl"]})
    assert "Not counted yet: masking." in shown("en", project)
    assert "还没有数过：masking。" in shown("zh", project)


def test_the_committed_record_is_above_90_percent() -> None:
    """Stale scores are told on the page."""
    record = load(ROOT)
    assert record.keys() == own_tests(ROOT).keys()
    assert {name: s.share for name, s in record.items() if s.share <= 0.9} == {}
    survivors = [s for score in record.values() for s in score.survivors]
    assert [s for s in survivors if s.reason == "no reason given"] == []
    assert sum(score.tried for score in record.values()) > 2500
