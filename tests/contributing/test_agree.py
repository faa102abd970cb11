"""The command that records a page: what it takes, what it writes, what it refuses."""

from argparse import Namespace
from io import StringIO
from pathlib import Path

import pytest

from site_tools.commands import agree
from site_tools.commands.talk import Refusal, Talk
from site_tools.ledger import store
from tests.site.sample import EN, ZH, broken

PAGE = "alignment/sample"
LOCK = f"docs/locks/{PAGE}.txt"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one page in both languages, never recorded."""
    for language, text in (("zh", ZH), ("en", EN)):
        put(tmp_path, language, text)
    return tmp_path


def put(root: Path, language: str, text: str) -> None:
    file = root / "docs" / language / f"{PAGE}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def heard(root: Path, *pages: str, says: str | None = "y") -> tuple[int, str]:
    """Agree, as a terminal in English shows it."""
    out = StringIO()
    talk = Talk("en", out=out, answer=lambda: says)
    try:
        code = agree.run(Namespace(pages=pages), root, talk)
    except Refusal as refusal:
        return 1, f"{out.getvalue()}{refusal}\n"
    return code, out.getvalue()


def run(root: Path, *pages: str) -> tuple[int, str]:
    """The same without what is shown and asked before."""
    code, told = heard(root, *pages)
    return code, told.rpartition("[y/N] ")[2]


def files(root: Path) -> list[str]:
    found = [p for p in root.rglob("*") if p.is_file() and p.suffix != ".md"]
    return [p.relative_to(root).as_posix() for p in found]


def test_a_page_is_recorded_and_what_is_recorded_is_said(project: Path) -> None:
    sections = "(front-matter), answer, code, next, why, wrong-answers"
    assert run(project, PAGE) == (0, f"{PAGE}: {sections} ({LOCK})\n")
    assert files(project) == [LOCK]
    nothing = "nothing new, it was recorded as it stands"
    assert run(project, f"docs/en/{PAGE}.md") == (0, f"{PAGE}: {nothing} ({LOCK})\n")
    put(project, "zh", broken("一样", "也一样", ZH))
    assert run(project, PAGE) == (0, f"{PAGE}: answer ({LOCK})\n")


def test_what_changed_is_shown_in_both_languages_and_asked_about(project: Path) -> None:
    run(project, PAGE)
    lock = (project / LOCK).read_bytes()
    put(project, "zh", broken("一样", "也一样", ZH))
    for says in ("n", None):
        code, told = heard(project, PAGE, says=says)
        assert code == 1 and told.endswith("Nothing was recorded.\n")
        assert (project / LOCK).read_bytes() == lock
        shown = told.splitlines()
        assert shown[0] == f"{PAGE}: answer"
        assert shown[1].startswith("  zh* ## ") and shown[2].startswith("  en  ## ")
        assert "Do both languages say the same there? [y/N]" in shown[3]
    assert heard(project, PAGE)[0] == 0
    assert "[y/N]" not in heard(project, PAGE)[1]


def test_a_lock_that_cannot_be_read_is_written_anew(project: Path) -> None:
    run(project, PAGE)
    good = (project / LOCK).read_text()
    (project / LOCK).write_text("garbage")
    code, told = run(project, PAGE)
    assert (code, (project / LOCK).read_text()) == (0, good)
    assert "answer, code" in told


@pytest.mark.parametrize("missing", ["zh", "en"])
def test_a_page_of_one_language_is_not_recorded(project: Path, missing: str) -> None:
    (project / f"docs/{missing}/{PAGE}.md").unlink()
    there = "en" if missing == "zh" else "zh"
    assert run(project, PAGE) == (
        1,
        f"Not recorded: docs/{missing}/{PAGE}.md is not written yet, so there is "
        "nothing to compare with; "
        f"docs/{there}/{PAGE}.md may stand alone until it is\n",
    )
    assert files(project) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("total = 1 + 1", "total = 3", "total = 3"),
        ("## Why { #why }", "## Why { #reason }", "## { #reason }"),
        ("`2.00`", "`2.50`", "2.50 = total"),
        ("```python\n", "```pithon\n", "a fence in 'pithon'"),
    ],
)
def test_a_page_whose_structure_differs_is_not_recorded(
    project: Path, old: str, new: str, found: str
) -> None:
    put(project, "en", broken(old, new))
    code, told = run(project, PAGE)
    assert code == 1 and found in told
    wanted = (
        f"Not recorded: {PAGE} must have the same structure in both languages first"
    )
    assert told.splitlines()[-1] == wanted
    assert files(project) == []


def test_of_several_pages_none_is_recorded_if_one_cannot_be(project: Path) -> None:
    alone = project / "docs/zh/index.md"
    alone.write_text("---\ntitle: 首页\n---\n", "utf-8")
    code, _ = run(project, PAGE, "index")
    assert (code, files(project)) == (1, [])
    (project / "docs/en/index.md").write_text("---\ntitle: Home\n---\n", "utf-8")
    code, told = run(project, PAGE, "index")
    assert (code, len(told.splitlines())) == (0, 2)
    assert sorted(files(project)) == [LOCK, "docs/locks/index.txt"]


def test_without_a_page_it_names_those_that_wait(project: Path) -> None:
    (project / "docs/zh/index.md").write_text("---\ntitle: 首页\n---\n", "utf-8")
    asked = "No page given; as in: make agree PAGE=topic/page. Waiting: "
    assert run(project) == (1, f"{asked}{PAGE}\n")
    run(project, PAGE)
    none = "none, every pair is recorded as it stands"
    assert run(project) == (1, f"{asked}{none}\n")


def test_a_page_that_is_not_there_is_named_with_the_nearest(project: Path) -> None:
    told = f"No page alignment/simple; the nearest is {PAGE}\n"
    assert run(project, "alignment/simple") == (1, told)


def test_a_page_that_is_no_utf_8_is_not_recorded(project: Path) -> None:
    (project / f"docs/zh/{PAGE}.md").write_bytes("和".encode("gbk"))
    code, told = run(project, PAGE)
    assert code == 1
    assert told.startswith(f"Not recorded: both files of {PAGE} must be UTF-8, got")


def test_a_write_that_breaks_off_leaves_the_lock_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "locks" / "a.txt"
    store(file, b"old\n")

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space"):
        store(file, b"new\n")
    assert file.read_text() == "old\n"
    assert files(tmp_path) == ["locks/a.txt"]
