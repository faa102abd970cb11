"""agree: what it shows, what it writes, what it refuses."""

import re
from pathlib import Path

import pytest

from site_tools.source.content import columns
from tests.contributing.trial import EN, LOCK, PAGE, ZH, command, put, state
from tests.site.sample import broken


def run(root: Path, *pages: str) -> tuple[int, str]:
    """Agree, and what is said once it has been asked."""
    code, said = command(root, "agree", *pages, says="yyy")
    return code, said.rpartition("[y/N] ")[2]


LONG = "优势是回报减去估计，" * 30 + "完。"
WORDS = "The advantage is what came, less what was expected. " * 20


@pytest.mark.parametrize(("wide", "beside"), [(80, False), (99, False), (100, True)])
def test_both_languages_are_shown_in_full_and_fit_the_terminal(
    project, monkeypatch, wide, beside
):
    monkeypatch.setenv("COLUMNS", str(wide))
    run(project, PAGE)
    zh = broken("**对。** 和是", f"{LONG}\n\n**对。** 和是", ZH)
    put(project, zh, broken("**Yes.** The sum", f"{WORDS}\n\n**Yes.** The sum", EN))
    _, said = command(project, "agree", PAGE, says="n")
    rows = said.partition(": answer\n")[2].partition("\n*")[0].splitlines()
    assert all(columns(row) <= wide for row in rows) and len(rows) > 10
    both = [row for row in rows if "优势" in row and "advantage" in row]
    assert bool(both) is beside
    zh = "".join(re.sub("[^一-鿿，。]", "", row) for row in rows)
    assert LONG in zh, "nothing is cut, and no blank stands within it"
    assert not [row for row in rows if row.strip()[:1] in "，。"]
    assert said.count("expected.") == 20


def files(root: Path) -> list[str]:
    return sorted(path for path in state(root) if not path.endswith(".md"))


def test_a_page_is_recorded_and_what_is_recorded_is_said(project):
    sections = "(front-matter), answer, code, why, next"
    assert run(project, PAGE) == (0, f"{PAGE}: {sections} ({LOCK})\n")
    assert files(project) == [LOCK]
    nothing = "nothing new, it was recorded as it stands"
    assert run(project, f"docs/en/{PAGE}.md") == (0, f"{PAGE}: {nothing} ({LOCK})\n")
    put(project, broken("一样", "也一样", ZH), EN)
    assert run(project, PAGE) == (0, f"{PAGE}: answer ({LOCK})\n")


def test_what_changed_is_shown_in_both_languages_and_asked_about(project):
    run(project, PAGE)
    lock = (project / LOCK).read_bytes()
    put(project, broken("一样", "也一样", ZH), EN)
    for says in ("n", ""):
        code, said = command(project, "agree", PAGE, says=says)
        assert code == 1 and said.endswith("Nothing was recorded.\n")
        assert (project / LOCK).read_bytes() == lock
        shown = said.splitlines()
        assert shown[0] == f"{PAGE}: answer"
        assert shown[1].startswith("  zh* ## ") and shown[2].startswith("  en  ## ")
        assert "也一样" in said, "no blanks between Chinese characters"
        assert "`2.00`" in said and "data-is" not in said, "as a reader sees it"
        assert "\n* is new or changed" in said and "the same there? [y/N]" in said
    assert command(project, "agree", PAGE, says="y")[0] == 0
    assert "[y/N]" not in command(project, "agree", PAGE)[1]


@pytest.mark.parametrize("missing", ["zh", "en"])
def test_a_page_of_one_language_is_not_recorded(project, missing):
    (project / f"docs/{missing}/{PAGE}.md").unlink()
    there = "en" if missing == "zh" else "zh"
    code, said = run(project, PAGE)
    assert code == 1 and f"docs/{missing}/{PAGE}.md is not written yet" in said
    assert f"docs/{there}/{PAGE}.md may stand alone until it is\n" in said
    assert files(project) == []


def test_a_page_whose_structure_differs_is_not_recorded(project):
    put(project, ZH, broken("## Why { #why }", "## Why { #reason }", EN))
    code, said = run(project, PAGE)
    assert code == 1 and "## { #reason }" in said
    assert said.splitlines()[-1].startswith("Not recorded: mend the problems of")
    assert files(project) == []


def test_it_takes_pages_by_name_only(project):
    code, said = run(project)
    assert code == 1 and said.startswith("No page given; as in: make agree PAGE=")
