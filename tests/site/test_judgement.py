"""The judgement of whole pages, which the tests and the contributor's check share."""

from pathlib import Path

import pytest

from site_tools.running.judgement import judge
from tests.site import sample
from tests.site.sample import ROOT, broken, line_of

PAGE = "alignment/sample"
PATHS = [f"docs/zh/{PAGE}.md", f"docs/en/{PAGE}.md"]
EN, ZH = (
    text.replace('["004·2"]', "[]").partition("## Wrong")[0] + "## Next { #next }\n"
    for text in (sample.EN, sample.ZH)
)
SHARED = ("mkdocs.yml", "docs/dialogues.yml", "docs/names.yml", "snippets", "tests")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The sample in both languages, in a project that has what the checks read."""
    for name in (*SHARED, "docs/zh/reference", "docs/en/reference"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    put(tmp_path, ZH, EN)
    return tmp_path


def put(root: Path, *texts: str) -> None:
    for path, text in zip(PATHS, texts, strict=True):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


def found(root: Path, *paths: str) -> list[str]:
    return [f"{p.path}:{p.line} {p.found}" for p in judge(root, paths or PATHS)]


def test_a_sound_pair_has_no_problem_nor_has_one_language_alone(project: Path) -> None:
    assert found(project) == []
    (project / PATHS[0]).unlink()
    assert found(project, PATHS[1]) == []


def test_all_kinds_of_problems_are_told_by_line(project: Path) -> None:
    code = broken('print("total", total)', 'print("total", total, "!")', EN)
    text = broken("`2.00`", "`2.10`", code)
    put(project, ZH, f"{text}\n<b>now</b>\n")
    lock = project / f"docs/locks/{PAGE}.txt"
    lock.parent.mkdir(parents=True)
    lock.write_text("garbage\n")
    figure, printed = line_of("`2.10`", text), line_of("total 2\n```", text)
    assert found(project) == [
        f"{PATHS[0]}:{figure} 2.00 = total",
        f"{PATHS[0]}:{line_of('print(', ZH)} " + 'print("total", total)',
        f"{PATHS[1]}:{figure} 2.10",
        f"{PATHS[1]}:{printed} shown\ntotal 2",
        f"{PATHS[1]}:{line_of('## Next', text) + 2} <b>",
        f"{PATHS[1]}:{line_of('## Next', text) + 2} </b>",
        f"docs/locks/{PAGE}.txt:1 garbage",
    ]


def test_a_pair_is_compared_also_where_one_language_is_named(project: Path) -> None:
    put(project, broken("{ #why }", "{ #reason }", ZH), EN)
    (told,) = found(project, PATHS[1])
    assert told == f"{PATHS[1]}:{line_of('## Why', EN)} ## {{ #why }}"
