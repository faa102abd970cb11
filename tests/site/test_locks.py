"""The lock files: their form, their pages, and what is said of a broken one."""

from pathlib import Path

import pytest

from site_tools.page import accord
from site_tools.page.accord import check_locks, lock_of, parse, write
from site_tools.page.prose import wording
from tests import states
from tests.site.sample import ROOT

pytestmark = pytest.mark.pages

# printf '## Why One.' | sha256sum, and the same of the Chinese words
LINE = "why zh:961006a60f4b en:0d6d8b513277\n"
PAGE_ZH = "## 为什么 { #why }\n\n一。\n"
PAGE_EN = "## Why { #why }\n\nOne.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one page and its lock."""
    put(tmp_path, "docs/zh/gae/inputs.md", PAGE_ZH)
    put(tmp_path, "docs/en/gae/inputs.md", PAGE_EN)
    put(tmp_path, "docs/locks/gae/inputs.txt", LINE)
    return tmp_path


def put(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, "utf-8")


def test_every_lock_of_the_project_can_be_read_and_has_its_page() -> None:
    assert check_locks(ROOT) == []


def test_a_lock_holds_the_hash_of_the_words_of_each_section(project: Path) -> None:
    assert write(lock_of(wording(PAGE_ZH), wording(PAGE_EN))) == LINE
    assert accord.read(project, "gae/inputs").state is accord.State.ACCORD
    assert check_locks(project) == []


def test_a_lock_is_sorted_whatever_the_order_of_the_sections() -> None:
    words = {"why": "a", "answer": "b", "(top)": "c"}
    lines = write(lock_of(words, words)).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["(top)", "answer", "why"]


GARBAGE = {
    "no lock": "garbage\n",
    "one language": "why zh:961006a60f4b\n",
    "a section twice": LINE + LINE,
    "a conflict": f"<<<<<<< HEAD\n{LINE}",
    "an empty line": f"\n{LINE}",
}


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE.keys())
def test_a_lock_that_cannot_be_read_is_named_with_its_remedy(
    project: Path, text: str
) -> None:
    put(project, "docs/locks/gae/inputs.txt", text)
    (problem,) = check_locks(project)
    assert problem.path == "docs/locks/gae/inputs.txt"
    assert problem.found == text.splitlines()[problem.line - 1]
    assert "make agree PAGE=gae/inputs" in problem.fix
    with pytest.raises(ValueError, match=r"docs/locks/gae/inputs\.txt:\d"):
        accord.read(project, "gae/inputs")


def test_a_section_that_no_page_has_is_a_state_and_no_fault(project: Path) -> None:
    put(project, "docs/locks/gae/inputs.txt", LINE + LINE.replace("why", "zzz"))
    assert check_locks(project) == []
    assert accord.read(project, "gae/inputs").unrecorded == ("zzz",)


def test_the_lock_of_a_page_that_is_gone_is_an_orphan(project: Path) -> None:
    (project / "docs/zh/gae/inputs.md").unlink()
    assert check_locks(project) == []
    (project / "docs/en/gae/inputs.md").unlink()
    (problem,) = check_locks(project)
    assert (problem.path, problem.line) == ("docs/locks/gae/inputs.txt", 1)
    assert problem.found == "the lock of a page that is not there"
    assert problem.fix.startswith("git rm docs/locks/gae/inputs.txt; or, if the page")


@pytest.mark.parametrize("name", ["gae/inputs.yml", "inputs.txt", ".index.txt.swp"])
def test_what_is_no_lock_does_not_lie_among_the_locks(project: Path, name: str) -> None:
    put(project, f"docs/locks/{name}", LINE)
    (problem,) = check_locks(project)
    assert problem.path == f"docs/locks/{name}"


class Reporter:
    """As much of pytest's as the summary asks for."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def test_the_summary_has_a_line_for_each_page_that_waits(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "ROOT", project)
    put(project, "docs/zh/gae/alone.md", PAGE_ZH)
    put(project, "docs/zh/gae/broken.md", PAGE_ZH)
    put(project, "docs/locks/gae/broken.txt", "garbage\n")
    pages = {"gae/inputs", "gae/alone", "gae/broken"}
    monkeypatch.setattr(states, "PAGES", pages)
    reporter = Reporter()
    states.pytest_terminal_summary(reporter)  # type: ignore[arg-type]
    alone, broken = reporter.lines
    assert alone == (
        "languages: gae/alone: no English; write docs/en/gae/alone.md, "
        "then make agree PAGE=gae/alone"
    )
    assert broken.startswith("docs/locks/gae/broken.txt:1\n")


def test_parsing_gives_what_was_written() -> None:
    lock = lock_of(wording(PAGE_ZH), wording(PAGE_EN))
    assert parse(write(lock), "gae/inputs") == lock
