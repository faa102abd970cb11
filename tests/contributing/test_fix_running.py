"""What fix does once the code has run: figures, outputs; and what it leaves alone."""

from pathlib import Path

import pytest

from site_tools.fixing.rerun import Rerun, rerun
from tests.site.sample import broken

TOP = "---\nquestion: Q\n---\n\n"
CODE = """## C { #code }

```python
import torch
from collections import namedtuple
gae_lambda = 0.95
values = torch.tensor([[0.82, 0.85], [0.4, 0.3]])
Batch = namedtuple("Batch", "scores")
batch = Batch(torch.tensor([0.625]))
names = {"half": 0.5}
same = [0.31, 7.25, 7.25]
rate = 0.651
print("lambda", gae_lambda)
assert gae_lambda < 1
```

```output
lambda 0.95
```

"""
LINE = (TOP + CODE).count("\n") + 1


def both(root: Path, zh: str, en: str | None = None) -> dict[str, Rerun]:
    texts = {"docs/zh/gae/x.md": TOP + CODE + zh}
    if en is not None:
        texts["docs/en/gae/x.md"] = TOP + CODE + en
    return rerun(root, texts)


def bound(root: Path, prose: str) -> tuple[str, list[str]]:
    """The prose after fix, and the remedies told."""
    (done,) = both(root, prose).values()
    assert done.text == done.renewed
    assert done.text.startswith(TOP + CODE)
    told = [f"{problem.line}: {problem.fix}" for problem in done.problems]
    return done.text.removeprefix(TOP + CODE), told


@pytest.mark.parametrize(
    ("prose", "right"),
    [
        ("取 0.95 的\n", '取 `0.95`{ data-is="gae_lambda" } 的\n'),
        ("取0.85，\n", '取 `0.85`{ data-is="values[0, 1]" }，\n'),
        ("得 0.625 分\n", '得 `0.625`{ data-is="batch.scores[0]" } 分\n'),
        ("占 65.1% 的\n", '占 `65.1%`{ data-is="rate" } 的\n'),
        ("取 `0.95` 的\n", '取 `0.95`{ data-is="gae_lambda" } 的\n'),
        (
            "0.82 和 0.85\n",
            '`0.82`{ data-is="values[0, 0]" } 和 `0.85`{ data-is="values[0, 1]" }\n',
        ),
        ("是 0.50 吗\n", "是 `0.50`{ data-is=\"names['half']\" } 吗\n"),
    ],
)
def test_a_figure_with_one_candidate_is_bound(
    tmp_path: Path, prose: str, right: str
) -> None:
    assert bound(tmp_path, prose) == (right, [])
    assert bound(tmp_path, right) == (right, [])


@pytest.mark.parametrize(
    "prose",
    [
        "取 0.96 的，0.949 的，1.02 的\n",
        '`0.95`{ data-is="rate" }\n',
        '!!! quote "001·4"\n\n    是 0.95，`0.95`\n',
        "$0.95$ 和 [0.95.md](0.95.md)\n",
        "<!-- 0.95 -->\n",
    ],
)
def test_what_has_no_candidate_or_is_no_loose_figure_stays(
    tmp_path: Path, prose: str
) -> None:
    prose = prose.replace("[0.95.md]", "[x]")
    assert bound(tmp_path, prose)[0] == prose


def test_several_candidates_are_listed_and_none_is_taken(tmp_path: Path) -> None:
    text, told = bound(tmp_path, "是 7.25 吗，0.3 呢\n")
    assert text == "是 7.25 吗，0.3 呢\n"
    mean = "write the one you mean behind it, as in"
    assert told == [
        f"{LINE}: 7.25 is each of same[1], same[2]: {mean} "
        '`7.25`{ data-is="same[1]" }',
        f"{LINE}: 0.3 is each of same[0], values[1, 1]: {mean} "
        '`0.3`{ data-is="same[0]" }',
    ]


@pytest.mark.parametrize(
    "prose",
    ["### 是 0.95 { #a }\n", '??? note "0.95"\n\n    对\n', "![0.95](x.svg)\n"],
)
def test_where_braces_would_be_seen_the_candidate_is_told(
    tmp_path: Path, prose: str
) -> None:
    text, told = bound(tmp_path, prose)
    assert text == prose
    assert told == [
        f"{LINE}: 0.95 is gae_lambda: move it into a sentence, where it can be bound"
    ]


def test_the_twin_says_what_is_meant(tmp_path: Path) -> None:
    en = 'It is `7.25`{ data-is="same[2]" }.\n'
    done = both(tmp_path, "是 7.25。\n", en)
    assert done["docs/zh/gae/x.md"].text.endswith('是 `7.25`{ data-is="same[2]" }。\n')
    assert done["docs/en/gae/x.md"].text == TOP + CODE + en


@pytest.mark.parametrize(
    "en",
    [
        'It is `7.25`{ data-is="same[2]" } or `7.25`{ data-is="same[1]" }.\n',
        '### Other { #other }\n\nIt is `7.25`{ data-is="same[2]" }.\n',
        'It is `7.25`{ data-is="values[0, 0]" }.\n',
        'It is `7.25`{ data-is="missing" }.\n',
    ],
)
def test_a_twin_that_says_it_elsewhere_or_wrongly_is_not_followed(
    tmp_path: Path, en: str
) -> None:
    done = both(tmp_path, "是 7.25。\n", en)["docs/zh/gae/x.md"]
    assert done.text.endswith("是 7.25。\n")
    assert "same[1], same[2]" in done.problems[0].fix


def test_nothing_is_bound_on_a_page_whose_code_fails(tmp_path: Path) -> None:
    text = broken("gae_lambda < 1", "gae_lambda > 1", TOP + CODE + "取 0.95 的\n")
    (done,) = rerun(tmp_path, {"docs/zh/gae/x.md": text}).values()
    assert done.text == done.renewed == text
    assert [problem.found for problem in done.problems] == [
        "AssertionError: assert gae_lambda > 1"
    ]


def outputs(root: Path, text: str, language: str = "zh") -> tuple[str, list[str]]:
    (done,) = rerun(root, {f"docs/{language}/gae/x.md": TOP + text}).values()
    assert done.text == TOP + text
    told = [f"{problem.line}: {problem.found}" for problem in done.problems]
    return done.renewed.removeprefix(TOP), told


RAISES = "{ .python .raises }"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (CODE.rstrip() + "\n", "lambda 0.95\n", "lambda 0.9\n"),
        (CODE.rstrip() + "\n", "lambda 0.95\n", "lambda 0.95\nmore\n"),
        (
            f'```{RAISES}\nprint("x")\nassert 0, "got 3"\n```\n\n```output\n'
            "x\nAssertionError: got 3\n```\n",
            "got 3\n```\n",
            "got 2\n```\n",
        ),
        (
            '    ```python\n    print("a\\n\\nb")\n    ```\n\n    ```output\n'
            "    a\n\n    b\n    ```\n",
            "    a\n\n    b\n",
            "    c\n",
        ),
        (
            "```python\nprint(1)\n```\n\n```output\n1\n```\n\n以后\n",
            "\n```output\n1\n```\n",
            "",
        ),
    ],
)
def test_an_output_is_renewed(tmp_path: Path, text: str, old: str, new: str) -> None:
    wrong = broken(old, new, text)
    if text.startswith("    "):
        wrong, text = f'!!! note "x"\n\n{wrong}', f'!!! note "x"\n\n{text}'
    assert outputs(tmp_path, wrong) == (text, [])
    assert outputs(tmp_path, text) == (text, [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('```python\nprint(1)\nassert 0, "no"\n```\n\n```output\n2\n```\n', "no"),
        (f"```{RAISES}\nprint(1)\n```\n\n```output\nKeyError: 2\n```\n", "without an"),
        (f"```{RAISES}\nboo\n```\n\n```output\nKeyError: 2\n```\n", "NameError"),
        (f"```{RAISES}\n1 / 0\n```\n\n```output\nKeyError: 2\n```\n", "KeyError: 2"),
        ("```pycon\n>>> 1 + 1\n3\n```\n", "AssertionError"),
        (
            "```python\nimport torch\nprint(torch.rand(1))\n```\n\n```output\n2\n```\n",
            "another seed",
        ),
        ('```python\nprint("`" * 3)\n```\n\n```output\n2\n```\n', "shown"),
    ],
)
def test_a_block_that_fails_or_is_left_to_chance_is_told(
    tmp_path: Path, text: str, told: str
) -> None:
    for language in ("zh", "en"):
        renewed, problems = outputs(tmp_path, text, language)
        assert renewed == text
        assert len(problems) == 1
        assert told in problems[0]


def test_one_block_that_fails_does_not_hide_behind_another(tmp_path: Path) -> None:
    fails = '```python\nassert 0, "no"\n```\n'
    wrong = broken("lambda 0.95\n", "lambda 0.9\n", CODE) + fails
    renewed, problems = outputs(tmp_path, wrong)
    assert renewed == CODE + fails
    assert len(problems) == 1
    assert "no" in problems[0]
