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
from tests.layout import ROOT

ZH, EN = "docs/zh/gae/trial.md", "docs/en/gae/trial.md"
SNIPPET = "snippets/gae/trial.py"
PAGE = """---
question: {question}
aliases: []
needs: [alignment/value_before_token]
answers: []
refs: []
---

## {title} {{ #answer }}

**{verdict}** {text} `0.5`{{ data-is="float(advantage)" }}.

## {code} {{ #code }}

```python
--8<-- "gae/trial.py:last"
```

```output
0.5
```

## {next} {{ #next }}

- [{link}](../alignment/value_before_token.md#answer)
"""
WORDS = {
    ZH: {
        "question": "最后一个 token 的优势是多少？",
        "title": "终局减估计",
        "verdict": "对。",
        "text": "最后一个 token 的优势是得分减估计：",
        "code": "算一遍",
        "next": "接着问",
        "link": "V 在 token 之前吗？",
    },
    EN: {
        "question": "What is the advantage of the last token?",
        "title": "Score minus forecast",
        "verdict": "Yes.",
        "text": "The last token's advantage is its score minus its value:",
        "code": "Compute it",
        "next": "Next",
        "link": "Does the value come before the token?",
    },
}
CODE = """# --8<-- [start:last]
import torch

reward = torch.tensor(1.0)
value = torch.tensor(0.5)
advantage = reward - value
assert advantage == 0.5
print(advantage.item())
# --8<-- [end:last]
"""


FILES = {
    **{"both": (ZH, EN), "code": (SNIPPET,), "zh-page": (ZH,)},
    **{"en-page": (EN,), "en-page-too": (EN,)},
}
ROWS = yaml.safe_load(Path(__file__).with_name("mistakes.yml").read_text("utf-8"))
MISTAKES = {name: row for each in ROWS for name, row in each.items()}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, their code and their data, without anybody's cache."""
    root = tmp_path_factory.mktemp("project")
    for name in ("docs", "snippets", "ppo_ref", "tests/properties"):
        hidden = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, root / name, ignore=hidden)
    for name in ("mkdocs.yml", "mkdocs.en.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    return root


@pytest.fixture
def trial(project: Path) -> Iterator[Path]:
    """With one more page, which is right."""
    texts = {path: PAGE.format(**words) for path, words in WORDS.items()}
    for path, text in {**texts, SNIPPET: CODE}.items():
        (project / path).write_text(text, "utf-8")
    yield project
    for path in (ZH, EN, SNIPPET):
        (project / path).unlink(missing_ok=True)


def said(root: Path, lang: str) -> tuple[int, str]:
    out = io.StringIO()
    options = Namespace(pages=["gae/trial"])
    return check.run(options, root, Talk(lang, out=out)), out.getvalue()


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
