"""What goes wrong for contributors, replayed: each is told where it is, and how to mend
it, in their language."""

import io
import re
import shutil
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from site_tools.contributing import check
from site_tools.contributing.talk import Talk

ZH, EN = "docs/zh/gae/trial.md", "docs/en/gae/trial.md"
SNIPPET = "snippets/gae/trial.py"
# The page that each of them is made on, as it is without it.
RIGHT = {ZH: "zh.md", EN: "en.md", SNIPPET: "trial.py"}
PAGES = Path(__file__).with_name("pages")
FILES = {
    **{"both": (ZH, EN), "code": (SNIPPET,), "zh-page": (ZH,)},
    **{"en-page": (EN,), "en-page-too": (EN,)},
}
ROWS = yaml.safe_load(Path(__file__).with_name("mistakes.yml").read_text("utf-8"))
MISTAKES = {name: row for each in ROWS for name, row in each.items()}


@pytest.fixture
def trial(copied: Path) -> Iterator[Path]:
    """With one more page, which is right."""
    for path, name in RIGHT.items():
        shutil.copy(PAGES / name, copied / path)
    yield copied
    for path in RIGHT:
        (copied / path).unlink(missing_ok=True)


def said(root: Path, lang: str) -> tuple[int, str]:
    out = io.StringIO()
    options = Namespace(pages=["gae/trial"], annotate=False)
    return check.check_pages(options, root, Talk(lang, out=out)), out.getvalue()


def commit(root: Path, mistake: Mapping[str, Any]) -> None:
    for path in (ZH, EN) if "add" in mistake else ():
        text = (root / path).read_text("utf-8")
        (root / path).write_text(f"{text}\n{mistake['add']}\n", "utf-8")
    for key in FILES.keys() & mistake.keys():
        old, new = mistake[key]
        for path in FILES[key]:
            text = (root / path).read_bytes().decode()
            assert old in text, (path, old)
            (root / path).write_bytes(text.replace(old, new, 1).encode())


def place_of(mistake: Mapping[str, Any]) -> str:
    """The line that is named, of the Chinese page where both are wrong."""
    alone = "en-page" in mistake and "zh" not in str(mistake["at"])
    return f"{EN if alone else ZH}:{str(mistake['at']).removeprefix('zh:')}"


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_is_right_without_them(trial, lang):
    code, told = said(trial, lang)
    assert code == 0, told


def test_a_language_that_is_missing_is_told_and_fails_nothing(trial):
    (trial / EN).unlink()
    for lang, words in (("en", f"write {EN}"), ("zh", EN)):
        code, told = said(trial, lang)
        assert code == 0 and words in told, told


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_once_where_it_is(trial, name, monkeypatch):
    mistake = MISTAKES[name]
    commit(trial, mistake)
    problems = check.judge(trial, [ZH, EN])
    monkeypatch.setattr(check, "judge", lambda *_: problems)
    for lang, found in (("en", "\n  found:"), ("zh", "\n  现在：")):
        code, told = said(trial, lang)
        assert code == 1
        parts = re.split(r"\n(?=docs/|snippets/|gae/trial)", told)
        first = next((part for part in parts if found in part), told)
        assert first.startswith(place_of(mistake)), told
        assert all(word in first for word in mistake[lang]), told
        # A slip in both languages is two messages, and a line of the code's is one.
        alone = mistake.keys() & {"en-page", "zh-page"} or "(snippets/" in first
        assert "more" in mistake or told.count(found) == 2 - bool(alone), told


def test_the_table_is_long_and_its_rows_are_complete():
    assert len(MISTAKES) > 100
    for name, row in MISTAKES.items():
        assert (
            {"at", "en", "zh"}
            <= row.keys()
            <= {*FILES, "add", "at", "en", "zh", "more"}
        ), name
