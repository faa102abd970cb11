"""The record of a run: what it rests on, when it is stale, how it is shown."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from site_tools.html import status
from site_tools.mutants.record import FILE, Record, Score, load, rests_on, save
from tests.mutants.package import ROOT

FILES = {
    "ppo_ref/kl.py": "x = 1\n",
    "docs/zh/a.md": "一",
    "docs/en/a.md": "one",
    "snippets/a.py": "y = 1\n",
    "tests/mutants/texts.py": "z = 1\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def made(root: Path) -> Record:
    scores = {"ppo_ref": Score(50, 50, 48), "outputs": Score(900, 40, 40)}
    alive = {"ppo_ref": {"no clip": "no page shows it"}}
    return Record("0123456789", "2026-11-22", rests_on(root), scores, alive)


def shown(lang: str, root: Path) -> str:
    html = status.render("mutants", lang, root)
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_what_is_saved_is_loaded(project: Path) -> None:
    assert load(project) is None
    save(project, made(project))
    assert load(project) == made(project)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("ppo_ref/kl.py", "package"),
        ("docs/zh/a.md", "pages"),
        ("snippets/a.py", "pages"),
        ("tests/mutants/texts.py", "checks"),
    ],
)
def test_a_record_is_stale_once_what_it_rests_on_changes(
    project: Path, file: str, name: str
) -> None:
    record = made(project)
    assert record.changed(project) == []
    (project / file).write_text("x = 2\n", "utf-8")
    assert record.changed(project) == [name]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"scores": {"x": {"all": 1}}}'])
def test_a_file_that_is_no_record_is_refused(project: Path, text: str) -> None:
    save(project, made(project))
    (project / FILE).write_text(text)
    with pytest.raises(ValueError, match=r"docs/verified/mutants\.json: no record"):
        load(project)


def test_the_table_says_what_was_tried_and_when(project: Path) -> None:
    assert "Not run yet." in shown("en", project)
    save(project, made(project))
    table = shown("en", project)
    assert "code: ppo_ref, and two places in code of the pages 50 50 48 (96%)" in table
    assert "outputs 900 40 40 (100%)" in table
    assert "Run on 2026-11-22 at 0123456." in table
    assert "Changed since" not in table
    assert "输出 900 40 40 (100%)" in shown("zh", project)


def test_a_stale_table_says_what_changed(project: Path) -> None:
    old = {**rests_on(project), "package": "old", "pages": "old"}
    save(project, replace(made(project), rests_on=old))
    assert "Changed since then: ppo_ref, the pages." in shown("en", project)
    assert "之后改过：ppo_ref、页面。" in shown("zh", project)
    assert 'class="counts mutants stale"' in status.render("mutants", "en", project)


def test_the_committed_record_gives_each_survivor_a_reason() -> None:
    record = load(ROOT)
    assert record is not None
    for kind, score in record.scores.items():
        assert score.noticed <= score.tried <= score.all
        alive = record.survivors.get(kind, {})
        assert bool(alive) == (score.noticed < score.tried)
        assert "no reason given" not in alive.values()
    assert json.loads((ROOT / FILE).read_text("utf-8"))["commit"]
