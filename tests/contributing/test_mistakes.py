"""What goes wrong for contributors, replayed: each is told where it is, and how to mend
it, in their language."""

import io
import re
import shutil
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

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


@dataclass(frozen=True)
class Mistake:
    """What is changed, in which files, and what must be said of it, and where."""

    name: str
    changes: tuple[tuple[str, str, str], ...]
    path: str
    at: str  # the line named begins so
    en: tuple[str, ...]
    zh: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = field(default=())


def both(old: str, new: str) -> tuple[tuple[str, str, str], ...]:
    return ((ZH, old, new), (EN, old, new))


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


BOUND = '`0.5`{ data-is="float(advantage)" }'
PYTHON = '```python\n--8<-- "gae/trial.py:last"\n```'
OUTPUT = "```output\n0.5\n```"
SECOND = OUTPUT + "\n\n```python\nprint(advantage.item())\n```\n\n" + OUTPUT
DRAWN = """```{ .python }
import torch

print(f"{torch.rand(()).item():.4f}")
```

```output
0.4963
```"""
WIDE = "print(advantage.item())  # what is left of the score, less the value"
OWN = '```python\n--8<-- "gae/trial.py:last"\nprint(reward)\n```'
MISTAKES = [
    Mistake(
        "a figure that nothing binds",
        both(BOUND, "0.5"),
        EN,
        "**Yes.**",
        ("0.5 (a decimal)", 'write `0.5`{ data-is="'),
        ("0.5（小数）", '写成 `0.5`{ data-is="'),
    ),
    Mistake(
        "a figure that is wrong",
        both("`0.5`{", "`0.6`{"),
        ZH,
        "**对。**",
        ("0.6", "float(advantage) = 0.5, within half a unit", "correct the figure"),
        ("0.6", "float(advantage) = 0.5", "改"),
    ),
    Mistake(
        "an output that is wrong",
        both(OUTPUT, "```output\n0.6\n```"),
        EN,
        "0.6",
        ("0.6", "0.5", "replace the shown lines by the printed ones"),
        ("0.6", "0.5", "换"),
    ),
    Mistake(
        "an odd fence",
        both("```python\n", "```{python}\n"),
        ZH,
        "```{python}",
        ("info string '{python}'", "write ```python"),
        ("'{python}'", "写成 ```python"),
    ),
    Mistake(
        "a fence that is spelled wrong",
        both("```python\n", "```pyhton\n"),
        EN,
        "```pyhton",
        ("'pyhton'", "write ```python for code that runs"),
        ("'pyhton'", "```python"),
    ),
    Mistake(
        "a block that needs another",
        both(OUTPUT, SECOND),
        EN,
        "print(advantage.item())",
        ("NameError: name 'advantage' is not defined", "mark it { .python .cont }"),
        ("NameError: name 'advantage' is not defined", "{ .python .cont }"),
    ),
    Mistake(
        "a draw without a seed",
        both(OUTPUT, f"{OUTPUT}\n\n{DRAWN}"),
        EN,
        "```{ .python }",
        ("with another seed it prints", "begin the block with a seed"),
        ("换一个种子", "torch.manual_seed(0)"),
    ),
    Mistake(
        "a dead anchor",
        both("before_token.md#answer", "before_token.md#nowhere"),
        ZH,
        "- [V 在",
        ("value_before_token.md#nowhere", "#answer"),
        ("value_before_token.md#nowhere", "#answer"),
    ),
    Mistake(
        "a dead link",
        both("value_before_token.md#answer", "value_befor_token.md"),
        EN,
        "- [Does",
        ("value_befor_token.md", "link to ../alignment/value_before_token.md"),
        ("value_befor_token.md", "../alignment/value_before_token.md"),
    ),
    Mistake(
        "an id that is there twice",
        both("- [", "### Again { #code }\n\n- ["),
        EN,
        "### Again",
        ("the id code twice", "rename one"),
        ("id code 出现两次", "改名"),
    ),
    Mistake(
        "front matter that is no YAML",
        both("aliases: []", "aliases: ["),
        ZH,
        "answers",
        ("front matter in YAML", "put texts with : or # between quotes"),
        ("YAML", "引号"),
    ),
    Mistake(
        "a key that no page has",
        both("aliases: []", "tags: []"),
        EN,
        "tags",
        ("key 'tags'", "one of question, aliases", "remove it"),
        ("'tags'", "aliases", "删"),
    ),
    Mistake(
        "code that differs between the languages",
        ((EN, PYTHON, OWN), (EN, OUTPUT, "```output\n0.5\ntensor(1.)\n```")),
        ZH,
        "--8<--",
        ("print(reward)", "make this code block equal in both languages"),
        ("print(reward)", "两种语言"),
    ),
    Mistake(
        "a word that the glossary rejects",
        ((ZH, "的优势是得分", "的优势值是得分"),),
        ZH,
        "**对。**",
        ("优势值", "as the glossary says", "write 优势"),
        ("优势值", "术语表", "写"),
    ),
    Mistake(
        "a skip without a reason",
        both("```python\n", "```{ .python .norun }\n"),
        EN,
        "```{ .python .norun }",
        ("a .norun block without a reason", 'data-reason="needs four GPUs"'),
        (".norun", 'data-reason="'),
    ),
    Mistake(
        "a section that is missing",
        both("{ #next }", "{ #numbers }"),
        ZH,
        "---",
        ("no section #next", "add ## ... { #next }"),
        ("缺小节 #next", "{ #next }"),
    ),
    Mistake(
        "an answer without its verdict",
        ((EN, "**Yes.** ", ""),),
        EN,
        "The last token's",
        ("the verdict first, in bold", "write **Yes.** ..."),
        ("先写结论，加粗", "**对。**"),
    ),
    Mistake(
        "a line too wide for a phone",
        ((SNIPPET, "print(advantage.item())", WIDE),),
        EN,
        "--8<--",
        (f"{len(WIDE)} columns", "at most 52 (a phone)", "snippets/gae/trial.py:8"),
        ("52", "snippets/gae/trial.py:8"),
    ),
    Mistake(
        "an include that leads nowhere",
        both("gae/trial.py:last", "gae/trail.py:last"),
        EN,
        "```python",
        ("gae/trail.py", "correct the path below snippets/"),
        ("gae/trail.py", "snippets/"),
    ),
    Mistake(
        "a claim that nothing asserts",
        ((SNIPPET, "assert advantage == 0.5\n", ""),),
        ZH,
        "## 算一遍",
        ("no assertion in section #code", "assert what the answer claims"),
        ("小节 #code 里没有断言", "assert"),
    ),
]


def line_of(root: Path, mistake: Mistake) -> int:
    lines = (root / mistake.path).read_text("utf-8").splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.startswith(mistake.at))


def commit(root: Path, mistake: Mistake) -> None:
    for path, old, new in mistake.changes:
        text = (root / path).read_text("utf-8")
        assert old in text, (path, old)
        (root / path).write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_is_right_without_them(trial, lang):
    code, told = said(trial, lang)
    assert code == 0, told


def test_a_language_that_is_missing_is_told_and_fails_nothing(trial):
    (trial / EN).unlink()
    for lang, words in (("en", f"write {EN}"), ("zh", EN)):
        code, told = said(trial, lang)
        assert code == 0 and words in told, told


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told_where_it_is(trial, mistake, monkeypatch):
    commit(trial, mistake)
    problems = check.judge(trial, [ZH, EN])
    monkeypatch.setattr(check, "judge", lambda *_: problems)
    place = f"{mistake.path}:{line_of(trial, mistake)}"
    for lang, words in (("en", mistake.en), ("zh", mistake.zh)):
        code, told = said(trial, lang)
        assert code == 1
        # A slip in both languages is two messages, and one in the code is no more.
        assert lang == "zh" or told.count("\n  found:") <= 2, told
        parts = re.split(r"\n(?=docs/)", told)
        assert any(
            part.startswith(place) and all(word in part for word in words)
            for part in parts
        ), f"no {place} with {words} in:\n{told}"
