"""The judgement of whole pages, which the tests and the contributor's check share."""

from pathlib import Path

import pytest

from site_tools.checks.all import judge
from tests.contributing.trial import EN, PAGE, PATHS, ZH, make, put
from tests.site.sample import broken, line_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path)


def found(root: Path, *paths: str) -> list[str]:
    return [f"{p.path}:{p.line} {p.found}" for p in judge(root, paths or PATHS)]


def test_all_kinds_of_problems_are_told_by_line(project):
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
        f"docs/locks/{PAGE}.txt:1 garbage",
    ]


def test_a_pair_is_compared_also_where_one_language_is_named(project):
    put(project, broken("{ #why }", "{ #reason }", ZH), EN)
    (told,) = found(project, PATHS[1])
    assert told == f"{PATHS[1]}:{line_of('## Why', EN)} ## {{ #why }}"


def test_a_picture_of_both_languages_is_judged_once(project):
    (project / "snippets").unlink()
    picture = "snippets/alignment/sample.svg"
    (project / picture).parent.mkdir(parents=True)
    figure = '<text><tspan data-is="total">3</tspan></text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{figure}</svg>'
    (project / picture).write_text(svg)
    shown = "## Why { #why }\n\n![A sum](sample.svg)\n"
    put(project, *(broken("## Why { #why }\n", shown, text) for text in (ZH, EN)))
    assert found(project) == [f"{picture}:1 3"]


def test_figures_that_lack_what_a_failing_block_defines_are_not_told(project):
    put(project, ZH, broken("total = 1 + 1", "total = one + 1", EN))
    told = [row for row in found(project, PATHS[1]) if row.startswith(PATHS[1])]
    assert not [row for row in told if "raises" in row]
    assert any("NameError: name 'one' is not defined" in row for row in told)


BROKEN = {
    "front matter that is not closed": ("---\n\n##", "\n##", 1, "front matter that no"),
    "front matter that is not YAML": (
        "needs: []",
        "needs: [",
        4,
        "a list [ that is not",
    ),
    "a fence that is not closed": ("== 2\n```\n", "== 2\n", 17, "a code fence ```"),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN.keys())
def test_what_cannot_be_read_is_told_once_and_nothing_that_follows(project, case):
    old, new, line, words = case
    put(project, ZH, broken(old, new, EN))
    (told,) = found(project)
    assert told.startswith(f"{PATHS[1]}:{line} ") and words in told, told


def test_an_id_that_another_page_leads_to_is_not_renamed(project):
    for lang in ("zh", "en"):
        other = project / f"docs/{lang}/alignment/other.md"
        list_ = "```{ .wrong_answers }\nalignment/sample#wrong-gone\n```"
        text = f"[a](sample.md#renamed) [b](sample.md#why)\n\n{list_}\n"
        other.write_text(f"---\ntitle: X\n---\n\n{text}", "utf-8")
    assert found(project) == [
        f"docs/{lang}/alignment/other.md:{line} a link to docs/{lang}/{PAGE}.md#{name}"
        for lang in ("en", "zh")
        for line, name in ((5, "renamed"), (8, "wrong-gone"))
    ]
