"""What counts as words, the lock that records them, and the state that follows."""

from pathlib import Path

import pytest

from site_tools.page import accord
from site_tools.page.accord import Accord, State, judge, lock_of, write
from site_tools.page.wording import wording
from site_tools.source.files import page_ids
from tests.site.sample import EN, ROOT, ZH, broken
from tests.site.trial_site import write_files

pytestmark = pytest.mark.pages

LOCK = lock_of(wording(ZH), wording(EN))
TABLE = "| term | value |\n|------|-------|\n| sum  |"
NARROW = "|term|value|\n|:-|-|\n|sum|"


def state(zh: str | None = ZH, en: str | None = EN, recorded: bool = True) -> Accord:
    words = [None if text is None else wording(text) for text in (zh, en)]
    return judge("alignment/sample", *words, LOCK if recorded else None)


def test_the_words_of_a_page_are_in_its_sections():
    sections = ["(front-matter)", "answer", "code", "why", "wrong-answers", "next"]
    assert [*wording(EN)] == sections
    assert wording(ZH)["(front-matter)"] == "和 是 二 吗 ？ 一 加 一 是 几 ？"
    said = '## It is, and exactly **Yes.** The sum is `data-is="total"` , as $G-V$'
    assert wording(EN)["answer"] == f"{said} says. *verl's default*: the same."


LAYOUT = [
    ("The sum is `2.00`", "The\nsum is\n`2.00`"),
    (TABLE, NARROW),
    ("total = 1 + 1", "total = 2"),
    (r"\delta_t = r_t", r"\delta_t = R_t"),
    ("$G - V$", "$G-V$"),
    ("`2.00`{", "`2.0`{"),
    ("../reference/notation.md", "../reference/glossary.md"),
    ("## Why {", "<!-- todo -->\n\n## Why {"),
]


@pytest.mark.parametrize(("old", "new"), LAYOUT)
def test_what_is_not_words_is_no_state(old, new):
    assert state(en=broken(old, new)).state is State.ACCORD


WORDS = [
    ("the same.", "no different.", "answer"),
    ("## One block", "## A block", "code"),
    ("| sum  |", "| Sum |", "code"),
    ("It is 2.5.", "It was 2.5.", "wrong-answers"),
    ("What is one and one?", "What is 1 + 1?", "(front-matter)"),
    ('"total" }, as', '"total + 0" }, as', "answer"),
    ("$G - V$", "$V - G$", "answer"),
    ("```python\n", '```python title="Sum"\n', "code"),
]


@pytest.mark.parametrize(("old", "new", "section"), WORDS)
def test_changed_words_are_found_in_their_section(old, new, section):
    found = state(en=broken(old, new))
    assert (found.state, found.zh, found.en) == (State.EN_AHEAD, (), (section,))


ZH_CHANGED = broken("一样", "也一样", ZH)
EN_CHANGED = broken("## Why {", "## The reason {")
MORE = "\n\n## More { #more }\n\nMore.\n"
SAY = "say the same in docs"
STATES = [
    (None, EN, State.MISSING_ZH, "no Chinese; write docs/zh/alignment/sample.md"),
    (ZH_CHANGED, EN, State.ZH_AHEAD, f"Chinese ahead (zh: answer); {SAY}/en/"),
    (ZH, EN_CHANGED, State.EN_AHEAD, f"English ahead (en: why); {SAY}/zh/"),
    (ZH_CHANGED, EN_CHANGED, State.BOTH_CHANGED, "both changed (zh: answer; en: why);"),
    (ZH + MORE, EN + MORE, State.UNRECORDED, "never recorded (new: more); compare"),
]


@pytest.mark.parametrize(("zh", "en", "expected", "told"), STATES)
def test_each_state_is_told_with_its_sections_and_its_remedy(zh, en, expected, told):
    assert state(zh, en).state is expected
    assert str(state(zh, en)).startswith(f"alignment/sample: {told}")
    assert str(state(zh, en)).endswith(", then make agree PAGE=alignment/sample")


def test_accord_and_a_page_without_a_lock_are_told():
    assert str(state()) == "alignment/sample: in accord"
    assert "never recorded; compare both" in str(state(recorded=False))


# printf '## Why One.' | sha256sum, and the same of the Chinese words
LINE = "why zh:961006a60f4b en:0d6d8b513277\n"
PAGE_ZH = "## 为什么 { #why }\n\n一。\n"
PAGE_EN = "## Why { #why }\n\nOne.\n"
FILE = "docs/locks/gae/inputs.txt"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one page and its lock."""
    pages = {"docs/zh/gae/inputs.md": PAGE_ZH, "docs/en/gae/inputs.md": PAGE_EN}
    write_files(tmp_path, pages | {FILE: LINE})
    return tmp_path


def test_every_lock_of_the_project_can_be_read_and_has_its_page():
    pages = page_ids(ROOT)
    assert not [page for page in pages if accord.check_lock(ROOT, page)]
    locks = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/locks/**/*.*")}
    assert locks <= {accord.lock_path(page) for page in pages}


def test_a_lock_holds_the_hash_of_the_words_of_each_section(project):
    assert write(lock_of(wording(PAGE_ZH), wording(PAGE_EN))) == LINE
    assert accord.read(project, "gae/inputs").state is State.ACCORD


@pytest.mark.parametrize(
    "text",
    ["garbage\n", "why zh:961006a60f4b\n", LINE + LINE, f"<<<<<<< HEAD\n{LINE}"],
)
def test_a_lock_that_cannot_be_read_is_named_with_its_remedy(project, text):
    write_files(project, {FILE: text})
    (problem,) = accord.check_lock(project, "gae/inputs")
    assert problem.path == FILE
    assert problem.found == text.splitlines()[problem.line - 1]
    assert "make agree PAGE=gae/inputs" in problem.fix
    with pytest.raises(ValueError, match=r"docs/locks/gae/inputs\.txt:\d"):
        accord.read(project, "gae/inputs")
