"""agree: what it shows, what it writes, what it refuses."""

import re
from pathlib import Path

import pytest

from site_tools.contributing.agree import restamp
from site_tools.page.twins import agreed_hash, with_agreed, words_hash
from site_tools.source.content import columns
from tests.contributing.trial import EN, PAGE, PATHS, ZH, command, git, put, state
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


def agreed_lines(root: Path) -> list[str]:
    """The hashes in the front matter of the Chinese and of the English page."""
    return [agreed_hash((root / path).read_text("utf-8")) for path in PATHS]


def test_a_page_gets_one_line_in_each_language(project):
    assert run(project, PAGE) == (0, f"{PAGE}: agreed, in a line of both files\n")
    hashes = [words_hash(EN), words_hash(ZH)]
    assert agreed_lines(project) == hashes
    for path, text, hashed in zip(PATHS, (ZH, EN), hashes, strict=True):
        line = f"agreed: {hashed}\n"
        now = (project / path).read_text("utf-8")
        assert now.count(line) == 1 and now.replace(line, "") == text
    before = state(project)
    nothing = f"{PAGE}: nothing new, it was agreed as it stands\n"
    assert run(project, f"docs/en/{PAGE}.md") == (0, nothing)
    assert state(project) == before


def test_a_line_is_written_anew_and_all_else_stays(project):
    zh = broken("aliases:", "agreed: 0\naliases:", ZH)
    put(project, zh.replace("\n", "\r\n"), EN)
    assert run(project, PAGE)[0] == 0
    now = (project / PATHS[0]).read_bytes().decode()
    due = zh.replace("agreed: 0", f"agreed: {words_hash(EN)}")
    assert now == due.replace("\n", "\r\n")


def test_a_file_that_changes_while_it_is_compared_stops_everything(project):
    def meanwhile() -> str:
        put(project, ZH, f"{EN}\nMore.\n")
        return "y"

    code, said = command(project, "agree", PAGE, answer=meanwhile)
    assert code == 1 and f"{PATHS[1]} has changed meanwhile" in said
    assert agreed_lines(project) == ["", ""]


def test_what_changed_is_shown_in_both_languages_and_asked_about(project):
    run(project, PAGE)
    git(project, "init", "-q")
    git(project, "add", "docs/zh/alignment", "docs/en/alignment")
    git(project, "commit", "-qm", "x")
    recorded = agreed_lines(project)
    zh, en = ((project / path).read_text("utf-8") for path in PATHS)
    put(project, broken("一样", "也一样", zh), en)
    for says in ("n", ""):
        code, said = command(project, "agree", PAGE, says=says)
        assert code == 1 and said.endswith("Nothing was recorded.\n")
        assert agreed_lines(project) == recorded
        shown = said.splitlines()
        assert shown[0] == f"{PAGE}: answer"
        assert shown[1].startswith("  zh* ## ") and shown[2].startswith("  en  ## ")
        assert "也一样" in said, "no blanks between Chinese characters"
        assert "`2.00`" in said and "data-is" not in said, "as a reader sees it"
        assert f"{PAGE}: why" not in said, "nothing changed there"
        assert "\n* is new or changed" in said and "the same there? [y/N]" in said
    assert command(project, "agree", PAGE, says="y")[0] == 0
    assert "[y/N]" not in command(project, "agree", PAGE)[1]


def test_without_the_words_of_then_every_section_is_shown(project):
    run(project, PAGE)
    zh, en = ((project / path).read_text("utf-8") for path in PATHS)
    put(project, broken("一样", "也一样", zh), en)
    _, said = command(project, "agree", PAGE, says="n")
    for section in ("(front-matter)", "answer", "code", "why", "next"):
        assert f"{PAGE}: {section}\n" in said


def test_another_idea_of_words_is_stamped_on_the_pages_that_were_agreed(project):
    run(project, PAGE)
    alone = project / "docs/en/alignment/alone.md"
    alone.write_text(EN, "utf-8")
    put(project, *(with_agreed(text, "0" * 12, "") for text in (ZH, EN)))
    stamped = restamp(project)
    assert PAGE in stamped and "alignment/alone" not in stamped
    assert agreed_lines(project) == [words_hash(EN), words_hash(ZH)]
    assert alone.read_text("utf-8") == EN


@pytest.mark.parametrize("missing", ["zh", "en"])
def test_a_page_of_one_language_is_not_recorded(project, missing):
    (project / f"docs/{missing}/{PAGE}.md").unlink()
    before = state(project)
    there = "en" if missing == "zh" else "zh"
    code, said = run(project, PAGE)
    assert code == 1 and f"docs/{missing}/{PAGE}.md is not written yet" in said
    assert f"docs/{there}/{PAGE}.md may stand alone until it is\n" in said
    assert state(project) == before


def test_a_page_whose_structure_differs_is_not_recorded(project):
    put(project, ZH, broken("## Why { #why }", "## Why { #reason }", EN))
    before = state(project)
    code, said = run(project, PAGE)
    assert code == 1 and "## { #reason }" in said
    assert said.splitlines()[-1].startswith("Not recorded: mend the problems of")
    assert state(project) == before


def test_it_takes_pages_by_name_only(project):
    code, said = run(project)
    assert code == 1 and said.startswith("No page given; as in: make agree PAGE=")
