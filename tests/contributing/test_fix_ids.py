"""Ids of headings, locks and patches: what fix writes without running anything."""

import subprocess
from pathlib import Path

import pytest

from site_tools.data.locks import Pair, digest
from site_tools.fixing.heading_ids import with_ids
from site_tools.fixing.locks import relocked
from site_tools.fixing.patch import patch

ALL = ["answer", "picture", "code", "numbers"]
ALL += ["why", "wrong-answers", "in-verl", "next"]
THREE = "## 对\n\n字\n\n## 跑\n\n## 再问\n"
THREE_IDS = "## 对 { #answer }\n\n字\n\n## 跑 { #code }\n\n## 再问 { #next }\n"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (THREE, THREE_IDS),
        (
            "## a\n## b\n## c { #why }\n## d { #next }\n",
            "## a { #answer }\n## b { #code }\n## c { #why }\n## d { #next }\n",
        ),
        ("## a\n" * 8, "".join(f"## a {{ #{name} }}\n" for name in ALL)),
    ],
)
def test_sections_in_their_order_give_the_ids(text: str, right: str) -> None:
    assert with_ids(text, "gae/x", "x.md") == (right, [])
    assert with_ids(right, "gae/x", "x.md") == (right, [])


@pytest.mark.parametrize(
    "text",
    [
        "## a\n## b { #why }\n## c { #next }\n## d\n",  # nothing follows next
        "## a\n" * 9,
        "## a\n## b\n",
        "### a\n# b\n```text\n## c\n```\n",
        "## a { .wide }\n## b { #code }\n## c { #next }\n",
    ],
)
def test_where_no_order_fits_nothing_is_given(text: str) -> None:
    assert with_ids(text, "gae/x", "x.md") == (text, [])


def test_only_a_page_that_answers_a_question_has_these_sections() -> None:
    for page in ("gae/index", "index", "debug/symptoms"):
        assert with_ids(THREE, page, "x.md") == (THREE, [])


def test_several_ids_are_listed_and_none_is_taken() -> None:
    text = "## a { #answer }\n## b\n## c\n## d { #next }\n"
    mended, problems = with_ids(text, "gae/x", "x.md")
    assert mended == text
    assert [problem.line for problem in problems] == [2, 3]
    first = "{ #picture } or { #code }"
    assert problems[0].fix == f"write {first} behind it"


def test_the_twin_gives_ids_in_its_order() -> None:
    zh = "## 对\n\n### 小\n\n## 跑 { #code }\n"
    en = "## Yes { #answer }\n\n### Small { #part }\n\n## Run { #code }\n"
    right = "## 对 { #answer }\n\n### 小 { #part }\n\n## 跑 { #code }\n"
    assert with_ids(zh, "index", "x.md", en) == (right, [])
    other = en.replace("#code", "#why")
    fewer = en.replace("### Small { #part }\n", "")
    deeper = en.replace("### Small", "#### Small")
    for twin in (other, fewer, deeper, None):
        assert with_ids(zh, "index", "x.md", twin) == (zh, [])


ZH, EN = {"why": "是,", "next": "问"}, {"why": "So", "next": "Ask"}
LOCK = {name: Pair(digest(ZH[name]), digest(EN[name])) for name in ZH}
MENDED = {"why": "是，", "next": "问"}


def test_what_agreed_agrees_after_a_mechanical_change() -> None:
    new = relocked(LOCK, (ZH, EN), (MENDED, EN))
    assert new == LOCK | {"why": Pair(digest("是，"), digest("So"))}
    assert relocked(LOCK, (ZH, EN), (ZH, EN)) == LOCK


def test_what_somebody_changed_stays_as_it_was_recorded() -> None:
    for zh, en in ((ZH | {"why": "也,"}, EN), (ZH, EN | {"why": "Also"})):
        assert relocked(LOCK, (zh, en), (zh | {"why": "x"}, en)) == LOCK
    other = ZH | {"next": "再问"}  # one section waits, the other is recorded anew
    new = relocked(LOCK, (other, EN), (MENDED | {"next": "再问，"}, EN))
    assert new == LOCK | {"why": Pair(digest("是，"), digest("So"))}


def test_a_section_that_got_its_id_is_recorded_if_all_agreed() -> None:
    parted = MENDED | {"code": "跑"}, EN | {"code": "Run"}
    assert relocked(LOCK, (ZH, EN), parted)["code"] == Pair(digest("跑"), digest("Run"))
    waiting = ZH | {"next": "再问"}
    assert "code" not in relocked(LOCK, (waiting, EN), parted)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("一\r\n二\r\n", "一\n二\n"),
        ("\ufeff一\n\n二", "一\n\n二\n"),
        (
            "一\n" * 30 + "二 \n" + "三\n" * 30 + "四",
            "一\n" * 30 + "二\n" + "三\n" * 30,
        ),
        ("一\u2028二 \n三\x0c\n", "一\u2028二\n三\x0c\n"),
    ],
)
def test_git_applies_the_patch(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "a.md").write_bytes(before.encode())
    (tmp_path / "fix.diff").write_bytes(patch("a.md", before, after).encode())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "fix.diff"], cwd=tmp_path, check=True)
    assert (tmp_path / "a.md").read_bytes().decode() == after
    assert patch("a.md", after, after) == ""
