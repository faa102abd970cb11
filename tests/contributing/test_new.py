"""new: a short page that passes, a wording where the answer is already."""

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from site_tools import ledger
from site_tools.contributing import new
from site_tools.data.rows import plain_yaml
from site_tools.judge.all import check_pair, check_written, judge
from site_tools.messages import Refusal
from site_tools.page import page
from site_tools.page.twins import TwinState, twins_of
from site_tools.source.files import read_front_matter
from tests.contributing.trial import command, state

ASKED = "Does weight decay belong in the actor's optimizer?"
ZH = "GRPO 的组大小怎么选？"
SHORT, NEWS = "docs/short.yml", "docs/news.yml"
KNOWN = "Does it help to add up later deltas in GAE?"


def run(root: Path, *words: str, code: int = 0, **how: str | Callable[[], str]) -> str:
    result, said = command(root, "new", *words, **how)
    assert result == code, said
    return said


def written(root: Path, before: dict[str, bytes]) -> list[str]:
    now = state(root)
    assert before.keys() <= now.keys()
    return sorted(name for name in now if now[name] != before.get(name))


@pytest.mark.parametrize(
    ("asked", "language"),
    [(ASKED, "en"), (ZH, "zh")],
)
def test_a_page_that_passes_in_the_language_of_its_question(root, asked, language):
    before = state(root)
    said = run(root, "gae/group_size", "--question", asked)
    path = f"docs/{language}/gae/group_size.md"
    code = "snippets/gae/group_size.py"
    assert written(root, before) == sorted([path, SHORT, NEWS, code])
    read = page.read_page(root, path)
    assert check_written(read) == [] == check_pair(read)
    assert read.meta["question"] == asked
    assert "near it: " in said and "1. Replace every TODO" in said
    assert "\n2. make check PAGE=gae/group_size " in said
    assert "To take it back: rm docs/" in said


def test_a_page_has_the_next_short_address(root):
    before = (root / SHORT).read_text("utf-8")
    places = plain_yaml(before, SHORT)
    due = f"q/{len(places) + 1}: gae/group_size\n"
    said = run(root, "gae/group_size", "--question", ASKED)
    assert (root / SHORT).read_text("utf-8") == before + due
    assert f"Its short address is q/{len(places) + 1}, as the last line" in said


@pytest.mark.parametrize(
    ("rows", "due"),
    [
        ("", "1, date: 2026-11-28"),
        ("- {id: 1, date: 2026-01-31, page: gae/a}", "2, date: 2026-11-28"),
        ("- {id: 1, date: 2027-01-31, page: gae/a}\n", "2, date: 2027-01-31"),
    ],
)
def test_a_page_is_told_as_news_of_the_day(root, monkeypatch, rows, due):
    class Day(date):
        @classmethod
        def today(cls):
            return cls(2026, 11, 28)

    monkeypatch.setattr(new, "date", Day)
    (root / NEWS).unlink(missing_ok=True)
    if rows:
        (root / NEWS).write_text(rows, "utf-8")
    said = run(root, "gae/group_size", "--question", ASKED)
    row = f"- {{id: {due}, page: gae/group_size}}\n"
    before = f"{rows.strip()}\n" if rows else ""
    assert (root / NEWS).read_text("utf-8") == before + row
    assert f"It is announced as new by row {due[0]}, the last of {NEWS}" in said


def test_where_the_short_address_cannot_be_written_nothing_is(root, monkeypatch):
    before, real = state(root), ledger.store

    def failing(target, content):
        if target.suffix == ".py":
            raise OSError(13, "Permission denied", str(target))
        real(target, content)

    monkeypatch.setattr(ledger, "store", failing)
    said = run(root, "gae/group_size", "--question", ASKED, code=1)
    assert "Permission denied; nothing was written" in said
    assert state(root) == before


@pytest.mark.parametrize("typed", ["{}", "../{}", r"C:\x\{}"])
def test_a_draft_gives_its_question(root, typed):
    draft = "drafts/my chat/question_01.md"
    (root / draft).parent.mkdir(parents=True, exist_ok=True)
    (root / draft).write_text(f'---\nquestion: "{ZH}"\n---\n', "utf-8")
    named = typed.format(draft if "\\" not in typed else draft.replace("/", "\\"))
    said = run(root, "gae/group_size", "--question", named)
    page_of = page.read_page(root, "docs/zh/gae/group_size.md")
    assert page_of.meta["question"] == ZH
    assert said.endswith(f"The chat lies in {named}: take over from it what holds.\n")
    said = run(root, "gae/other", "--question", "drafts/no.md", code=1)
    assert said.startswith("No draft drafts/no.md; make import writes them")


@pytest.mark.slow
def test_it_runs_and_its_output_is_what_it_prints(root):
    run(root, "critic/group_size", "--question", ZH)
    pages = ["docs/zh/critic/group_size.md"]
    assert judge(root, pages) == []
    text = (root / pages[0]).read_text("utf-8")
    (root / pages[0]).write_text(text.replace("A      0.70", "A      0.71"), "utf-8")
    assert judge(root, pages) != []


def test_whoever_asks_what_is_answered_adds_a_wording(root):
    before = state(root)
    said = run(root, "gae/later", "--question", KNOWN, says="1")
    assert (
        "1. perhaps answered at gae/why_sum_deltas: Why does GAE add up later" in said
    )
    assert "Its number (1 to 5) adds your wording there" in said
    path = "docs/en/gae/why_sum_deltas.md"
    assert said.endswith(f"{path}: added to aliases: {KNOWN}\n")
    assert written(root, before) == [path]
    row = f'  - "{KNOWN}"\n'.encode()
    now = (root / path).read_bytes()
    assert now.count(row) == 1 and now.replace(row, b"") == before[path]
    assert twins_of(root, "gae/why_sum_deltas").state is TwinState.IN_STEP
    assert check_written(page.read_page(root, path)) == []
    again = run(root, "gae/why_sum_deltas", "--alias", "--question", KNOWN.lower())
    assert again == f"{path} has this wording already; nothing to add\n"


def test_whoever_says_no_is_asked_before_a_page_is_written(root):
    before = state(root)
    for other in ("6", "0", "", "y"):  # it is a number, or a no to all
        said = run(root, "gae/later", "--question", KNOWN, says=[other], code=1)
        assert said.endswith("Nothing was written.\n") and written(root, before) == []
    said = run(root, "gae/later", "--question", KNOWN, says="n")
    assert said.index("perhaps answered") < said.index("n writes") < said.index("Writt")
    assert len(written(root, before)) == 4


def test_whoever_asks_in_other_words_is_asked_as_well(root):
    """Nothing is claimed of it, yet the page that answers it is among those shown."""
    before, asked = state(root), "cliprange_value 要不要开？"
    said = run(root, "critic/clip", "--question", asked, says=[""], code=1)
    assert "near it: critic/regression_target: " in said
    assert written(root, before) == []


@pytest.mark.parametrize("more", [[], ["--yes"]])
def test_where_nobody_decides_nothing_is_written(root, more):
    before = state(root)
    said = run(root, "gae/a", "--question", KNOWN, *more, code=1)
    assert re.search(r"ARGS=--alias, .* or ARGS=--anyway", said)
    assert written(root, before) == []
    said = run(root, "gae/a", "--question", KNOWN, "--anyway", *more)
    assert "perhaps answered at" in said and "Its number" not in said
    assert len(written(root, before)) == 4


@pytest.mark.parametrize(
    ("name", "asked", "more", "told"),
    [
        ("gae/variance", ASKED, [], "gae/variance is taken: docs/zh/gae/variance.md"),
        ("../gae/a", ASKED, [], "A page must be like topic/page, or"),
        ("GAE/Why-Sum", ASKED, [], "as in gae/why_sum; got GAE/Why-Sum"),
        ("gea/why", ASKED, [], "No topic gea; the nearest is gae"),
        ("gae/why", "?!", [], "must have words"),
        ("gae/why", "为" * 61, [], "at most 120 columns"),
        ("gae/variance"[:-1], "Why?", ["--alias"], "the nearest is gae/variance"),
    ],
)
def test_a_refusal_writes_nothing_and_is_in_the_language_asked_for(
    root, name, asked, more, told
):
    before = state(root)
    assert told in run(root, name, "--question", asked, *more, code=1)
    said = run(root, name, "--question", asked, *more, code=1, lang="zh")
    assert re.search("[㐀-鿿]", said.splitlines()[-1])
    assert written(root, before) == []


# One more way to ask, put into the list as it is written.

BODY = "---\n\n## So { #answer }\n\naliases: [no]\n\n---\n"


@pytest.mark.parametrize(
    "front",
    [
        "aliases:\n  - A?\n  - B?\nneeds: []\n",
        "aliases:\n- A? # why\n# needs\nneeds: []\n",
        'aliases: ["A?"]\nneeds: []\n',
        "aliases: []\n",
        "question: Q?\nneeds: []\n",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("asked", ['Is "a": b?', "!!python/x", "a\\b"])
def test_an_alias_is_added_and_nothing_else_changes(front, end, asked):
    text = f"---\n{front}{BODY}".replace("\n", end)
    changed = new.with_alias(text, asked, "a.md")
    before, _ = read_front_matter(text.replace(end, "\n"), "")
    after, _ = read_front_matter(changed.replace(end, "\n"), "")
    assert after == {**before, "aliases": [*(before.get("aliases") or []), asked]}
    start = next(
        n for n, (a, b) in enumerate(zip(text, changed, strict=False)) if a != b
    )
    assert changed.endswith(text[start:]), "something else changed"


def test_a_page_without_a_list_is_refused():
    with pytest.raises(Refusal, match=r"added to a\.md, which has none in a list"):
        new.with_alias(f"---\naliases: A?\n{BODY}", "C?", "a.md")
