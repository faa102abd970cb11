"""Releases compared: every row stands on places, and says what it may say."""

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from site_tools.compile import navigation
from site_tools.data import frameworks
from site_tools.data.dialogues import read_dialogues
from site_tools.data.facts import concepts, reread
from site_tools.data.frameworks import RELEASES
from tests.differential.wheels import WHEELS, find, requires, source
from tests.layout import ROOT
from tests.site.rows import as_yaml
from tests.site.trial_site import write_files

pytestmark = pytest.mark.pages

NOW, OLD, OPEN, TRL, GRPO = RELEASES
PLACE = {"path": "a/b.py", "lines": "3", "quote": "a < b"}
OTHER_LINES = {"quote": "a <= b"}


def places(*releases: str) -> list[dict[str, str]]:
    return [{"release": release} | PLACE for release in releases]


MASK = {
    "zh": "甲",
    "en": "The `mask`",
    "entries": [
        *places(NOW, OLD, OPEN),
        *(place | {"quote": "default=2"} for place in places(OPEN)),
        *(place | OTHER_LINES for place in places("verl 0.5.0")),
        *places("verl 0.4.1", "verl 0.4.0"),
    ],
}
SAID = {"zh": "跳过", "en": "it is skipped"}
NOTHING = {"kind": "none", "zh": "没有", "en": "it has no tools"}
CELLS: dict[str, Any] = {
    NOW: SAID,
    OLD: "same",
    OPEN: {"zh": "乘 {2}", "en": "times {2}"},
    TRL: NOTHING,
    GRPO: NOTHING,
}
CHANGE = {
    "release": "verl 0.5.0",
    "before": "verl 0.4.1",
    "facts": "mask",
    "zh": "跳过",
    "en": "It `skips`",
    "zh_why": "变了",
    "en_why": "Advantages change",
    "page": "gae/b",
}


def row(facts: str = "mask", topic: str = "gae", **cells: Any) -> dict[str, Any]:
    names = {"now": NOW, "old": OLD, "open": OPEN, "trl": TRL}
    changed = {names.get(name, name): value for name, value in cells.items()}
    return {"facts": facts, "topic": topic, "releases": CELLS | changed}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A concept of which the lists may say something."""
    write_files(tmp_path, {"docs/facts/mask.yml": as_yaml(MASK)})
    return tmp_path


def refused(root: Path, name: str, *rows: Any) -> str:
    """Why a list of these rows is refused."""
    write_files(root, {f"docs/{name}.yml": as_yaml([*rows])})
    with pytest.raises(ValueError) as refusal:
        getattr(frameworks, name)(root)
    return str(refusal.value)


def test_the_lists_of_the_site_cover_every_topic_and_lead_to_pages():
    rows = frameworks.comparison(ROOT)
    assert {row.topic for row in rows} == set(navigation.QUESTION_TOPICS)
    kinds = [cell.kind for row in rows for cell in row.releases.values()]
    assert len(rows) > 30
    assert min(map(kinds.count, ("same", "differs", "none"))) > 5
    homes = {q.page for d in read_dialogues(ROOT) for q in d.questions}
    homes |= {answer.page for answer in navigation.users(ROOT, "zh")}
    listed = frameworks.timeline(ROOT)
    assert [each.page for each in listed if each.page not in homes] == []


@requires(*RELEASES)
def test_the_name_of_a_default_stands_at_its_place():
    known = {concept.id: concept for concept in concepts(ROOT)}
    for compared in frameworks.comparison(ROOT):
        for release, cell in compared.releases.items():
            if not cell.switch:
                continue
            _, number, name = cell.by_default
            place = known[compared.facts].of(release)[number]
            lines = source(release, place.path).split("\n")
            begin, _, end = place.lines.partition("-")
            read = "\n".join(lines[int(begin) - 1 : int(end or begin)])
            assert name in read, (compared.facts, release)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("maks")], "comparison.yml:1: there is no docs/facts/maks.yml"),
        ([row(old={"zh": "甲"})], "write same alone, or zh and en, with kind: none"),
        ([row(trl=SAID)], "mask.yml has no entry of TRL 1.12.0; add the place"),
        ([row(old=NOTHING)], "none, yet mask.yml has verl 0.3.0.post1 · a"),
        ([row(open=SAID | {"zh": "{3}"})], "{3} must be one of the 2 places that"),
        ([row(now=SAID | {"switch": "off 4"})], "{4} must be one of the 1 places"),
        ([row(now=SAID | {"switch": "no 1"})], "switch must be on or off and"),
        ([row(), row()], "facts says mask, as the row at line"),
        ([row(**{"TorchRL 1": "same"})], "got verl 0.9.1, verl 0.3.0.post1, Open"),
        ([row() | {"releases": {NOW: SAID}}], "got verl 0.9.1"),
    ],
)
def test_a_row_that_cannot_be_true_is_refused(project, rows, message):
    assert message in refused(project, "comparison", *rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"facts": "maks"}, "there is no docs/facts/maks.yml"),
        (
            {"before": "verl 0.3.0"},
            "mask.yml has no entry of verl 0.3.0; add the place",
        ),
        (
            {"before": "verl 0.4.0", "release": "verl 0.4.1"},
            "mask.yml has the same lines of verl 0.4.0 and verl 0.4.1; add to one of",
        ),
    ],
)
def test_a_change_that_nothing_shows_is_refused(project, change, message):
    assert message in refused(project, "timeline", CHANGE | change)


METHODS = [
    row
    for projects in frameworks.shipped(ROOT).values()
    for rows in projects.values()
    for row in rows
]
NEWEST = dict(zip(frameworks.PROJECTS, (NOW, OPEN, GRPO), strict=True))
SHIPPED = {"method": "GSPO", "set": "mode=gspo", "since": places(NOW)[0]}
NOT_PINNED = "most old releases are not pinned: pip download --no-deps brings one"


@cache
def everything(release: str) -> str:
    """All code and configuration of a release."""
    with ZipFile(str(find(release))) as wheel:
        names = [n for n in wheel.namelist() if n.endswith((".py", ".yaml"))]
        return "\n".join(wheel.read(name).decode() for name in names)


def switch(row: frameworks.Shipped) -> str:
    return f"{row.method} {row.set}"


def test_a_method_is_there_today_or_has_a_last_release(project):
    both = SHIPPED | {"now": places(NOW)[0], "until": NOW}
    for row in SHIPPED, both:
        write_files(project, {"docs/methods.yml": as_yaml([row])})
        with pytest.raises(ValueError, match=r"methods.yml:1: write now, the line of"):
            frameworks.shipped(project)


@requires(*NEWEST.values())
@pytest.mark.parametrize("row", METHODS, ids=switch)
def test_a_method_stands_in_the_newest_release_or_is_gone(row):
    newest = NEWEST[row.project]
    if row.now:
        assert row.now.release == newest
        assert reread(row.now, WHEELS) == []
    else:
        assert row.set not in everything(newest)
        if not find(row.until):
            pytest.skip(NOT_PINNED)
        assert row.set in everything(row.until)


@pytest.mark.parametrize("row", METHODS, ids=switch)
def test_a_method_stands_in_its_first_release_and_not_before(row):
    if not all(map(find, filter(None, (row.since.release, row.before)))):
        pytest.skip(NOT_PINNED)
    assert reread(row.since, WHEELS) == []
    if row.before:
        assert frameworks.version(row.before) < frameworks.version(row.since.release)
        assert row.since.quote not in everything(row.before)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_table_of_methods_says_what_its_run_exchanges(lang):
    """A cell that leads somewhere is a part that the method's list holds."""
    text = (ROOT / f"docs/{lang}/debug/methods.md").read_text("utf-8")
    tables = re.findall(r"^\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE)
    columns = ["baseline", "mean", "ratio", "clip", "mask"]
    written = {}
    for row in "".join(tables).splitlines():
        name, *cells = row.strip("|").split("|")
        leading = (c for c, cell in zip(columns, cells, strict=True) if "](" in cell)
        parts = {*leading}
        if parts:  # else it was not run
            written[re.sub(r"\[(.*)\].*", r"\1", name).strip()] = parts
    assert written.pop("PPO") == {*columns}
    run = runpy.run_path(str(ROOT / "snippets/debug/methods.py"))["methods"]
    assert not run.pop("PPO")
    held = {name: {*" ".join(p[0] for p in run[name]).split()} for name in run}
    assert written == held
