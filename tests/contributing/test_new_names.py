"""What a new page may be called, and what a question may be; the remedy is named."""

from pathlib import Path

import pytest

from site_tools.contributing.new_names import (
    check_free,
    check_name,
    check_question,
    suggested,
)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (
            "GAE/Why-Sum",
            "small letters, digits and _, .*got GAE/Why-Sum; .*gae/why_sum",
        ),
        ("gae", "as in gae/short_name"),
        ("gae/", "as in gae/short_name"),
        ("gae/为什么", "as in gae/short_name"),
        ("gae/2_steps", "as in gae/steps"),
        ("gae/a/b", "as in gae/a_b"),
        ("gae/../a", r"got gae/\.\./a"),
        ("gae/a b", "as in gae/a_b"),
        ("gae/a\n", "small letters"),
        ("gae/ａ", "small letters"),
        ("", "as in gae/short_name"),
        ("gea/why", "No topic gea; the nearest is gae, all are pipeline, rewards, "),
        ("gae/index", "gae/index is the list of a topic"),
    ],
)
def test_a_malformed_name_is_refused_with_one_that_is_meant(
    page: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check_name(page)


@pytest.mark.parametrize("page", ["gae/why_sum", "on_policy/k3", "contribute/a"])
def test_a_name_is_taken_as_it_is(page: str) -> None:
    check_name(page)
    assert suggested(page) == page


def write(file: Path, text: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


@pytest.mark.parametrize(
    "file", ["docs/zh/gae/a.md", "docs/en/gae/a.md", "snippets/gae/a.py"]
)
def test_a_taken_name_is_refused_where_it_is(tmp_path: Path, file: str) -> None:
    write(tmp_path / "docs/zh/gae/b.md")
    write(tmp_path / "docs/zh/gae/index.md")
    write(tmp_path / file)
    with pytest.raises(ValueError) as refused:
        check_free("gae/a", tmp_path)
    told, _, hint = str(refused.value).partition("; to add a wording there: ")
    assert told == f"gae/a is taken: {file}; also in use in gae: b"
    alias = "make new PAGE=gae/a Q=... ARGS=--alias"
    assert hint == (alias if file.startswith("docs") else "")
    check_free("gae/c", tmp_path)


def test_a_name_that_a_redirect_uses_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "docs/zh/gae/b.md")
    write(tmp_path / "docs/redirects.yml", "gae/a: gae/b#why\n")
    with pytest.raises(ValueError, match=r"redirects\.yml leads it to gae/b#why"):
        check_free("gae/a", tmp_path)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "The question is empty"),
        (" 　\n", "The question is empty"),
        ("Why?\nHow?", r"on one line, got 'Why\?\\nHow\?'"),
        ("Why?\u2028How?", "on one line"),
        ("Why\u200b?", r"no invisible characters, got U\+200B"),
        ("Why\x1b[31m?", r"no invisible characters, got U\+001B"),
        ("Why \udcff?", r"no invisible characters, got U\+DCFF"),
        ("???", r"must have words, got \?\?\?"),
        ("w" * 121, "at most 120 columns .*got 121"),
        ("优" * 61, "at most 120 columns .*got 122"),
    ],
)
def test_what_is_no_question_is_refused(question: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_question(question)


def test_a_question_is_taken_with_single_blanks() -> None:
    assert check_question("  GAE　是   什么？") == "GAE 是 什么？"
    assert check_question("优" * 60) == "优" * 60
