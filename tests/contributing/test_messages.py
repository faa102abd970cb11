"""Whatever is said to a contributor is said in Chinese too."""

import importlib
import re
from pathlib import Path

import pytest

from site_tools.__main__ import COMMANDS, main
from site_tools.checks.accord import Accord, State
from site_tools.commands import check
from site_tools.messages import translation
from site_tools.messages.translation import Sentence, translate
from site_tools.page.blocks import Kind
from site_tools.problems import Problem
from tests.contributing.spoken import of_folder, sentences

ROOT = Path(__file__).resolve().parent.parent.parent
# What only who builds the site, or keeps its records, is told.
ELSEWHERE = (
    "html/code_boxes.py",
    "html/formulas.py",
    "html/katex.py",
    "html/navigation.py",
    "html/picture_rules.py",
    "html/pictures.py",
    "html/plots.py",
    "html/reference.py",
    "html/symbols.py",
    "messages/translation.py",
    "offline/links.py",
    "confinement/calls.py",
    "confinement/confine.py",
    "confinement/folders.py",
    "running/block.py",
    "running/results.py",
    "runs/chart.py",
    "runs/make.py",
    "watch/releases.py",
)
WORDS = re.compile(r"[A-Za-z]{3,}")


def known() -> set[str]:
    return {translation.VALUE.sub("{}", row.english) for row in translation.sentences()}


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (module, said)
        for module, said in of_folder(ROOT / "site_tools").items()
        if said and module not in ELSEWHERE
    ],
)
def test_every_sentence_of_the_code_has_a_chinese_row(
    module: str, said: set[str]
) -> None:
    assert sorted(said - known()) == []


def test_the_code_holds_the_modules_that_are_left_out() -> None:
    assert set(ELSEWHERE) <= of_folder(ROOT / "site_tools").keys()


PLANTED = """
FIX = "mend it"
HELP = "helps"
def check(page):
    found = f"{page} is odd"
    yield 1, found, "even" if page else "none", FIX
    yield Problem(page.path, 1, "a" + str(page), expected="b {} c".format(2), fix="d")
    talk.tell(f"{page} and {'not here' if page else 'here'}")
    raise Refusal("none of " f"{page}")
def unsaid():
    x = "never said", 2
    return dict(a="b")
"""


def test_a_sentence_is_found_wherever_it_comes_from() -> None:
    assert sentences(PLANTED) == {
        *("mend it", "helps", "{} is odd", "even", "none", "a{}", "b {} c", "d"),
        *("{} and {}", "not here", "none of {}"),
    }
    assert not sentences(PLANTED) & known()


def test_a_problem_is_told_in_chinese() -> None:
    problem = Problem("a.md", 3, "## section #odd", "one of why", "move them")
    assert problem.remarks(lambda text: translate(text, "zh")) == (
        "  现在：## 小节 #odd\n  应为：以下之一：why\n  改法：调整顺序"
    )
    assert str(problem) == (
        "a.md:3\n  found:    ## section #odd\n  expected: one of why\n"
        "  fix:      move them"
    )


# A value of each form that is not any text.
SAMPLES = {
    **dict.fromkeys(("number", "count", "size", "most", "wide", "line"), "7"),
    **{"file": "a/q.yml", "form": "a decimal", "side": "behind it"},
    **{"state": "named twice", "markup": "a comment", "kind": "figure"},
    "unit": "words",
}
# Rows that are several sentences, of which others are written out.
GENERAL = (
    "{number} with {what} {side}",
    "{where}: {field} {state}; write {fields}",
    "{where}: {field} must be {meant}, got {value}",
    "{expression} raises {type}: {message}",
    "{file}: {found}; {fix}",
    "{file}, row {number}",
    "{files} must be UTF-8, got {error}",
)


def filled(row: Sentence) -> str:
    return translation.VALUE.sub(lambda at: SAMPLES.get(at[1], "x"), row.english)


def test_no_row_that_begins_with_a_value_takes_the_sentence_of_another() -> None:
    rows = translation.sentences()
    texts = [(row.english, filled(row)) for row in rows]
    for name in COMMANDS.values():
        module = importlib.import_module(f"site_tools.commands.{name}")
        lines = f"{module.HELP}\n{module.EXAMPLES}".split("\n")
        texts += [(line.strip(), line.strip()) for line in lines]
    open_rows = [row for row in rows if row.parts[0] == "" and not row.exact]
    assert len(open_rows) > 50
    assert [
        (row.english, text)
        for row in open_rows
        if row.english not in GENERAL
        for english, text in texts
        if english != row.english and row.values(text) is not None
        if filled(row) != text
        and translation.VALUE.sub("", english) != translation.VALUE.sub("", row.english)
        and not english.startswith(GENERAL)
    ] == []


TOLD = {
    "begins with what import made of a chat": "从 import 由聊天记录生成的草稿写起",
    "begin the block with a seed, as in torch.manual_seed(0)": (
        "代码块开头先定种子，如 torch.manual_seed(0)"
    ),
    "at most 90 characters": "最多 90 字",
    "found:": "现在：",
    "Nothing was written: a.md: No such file or directory": (
        "什么都没有写：a.md：没有这个文件或文件夹"
    ),
}


@pytest.mark.parametrize(("english", "chinese"), TOLD.items())
def test_a_sentence_is_told_by_its_own_row(english: str, chinese: str) -> None:
    assert translate(english, "zh") == chinese


def test_what_argparse_says_is_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["new", "--lang", "zh"])
    said = capsys.readouterr().err
    assert said.startswith("用法：") and said.endswith("缺参数：TOPIC/ID\n")
    with pytest.raises(SystemExit):
        main(["new", "--lang", "en"])
    assert capsys.readouterr().err.startswith("usage: ")


def test_each_row_is_the_one_that_its_sentence_finds() -> None:
    for row in translation.sentences():
        if row.english in GENERAL:
            continue
        text = filled(row)
        first = next(r for r in translation.sentences() if r.values(text) is not None)
        assert translation.VALUE.sub("", first.chinese) == translation.VALUE.sub(
            "", row.chinese
        ), row.english


def test_values_that_are_sentences_are_told_in_chinese_too() -> None:
    told = "class .x on code that runs"
    assert translate(told, "zh") == "会运行的代码上的 .x"
    braces = 'write `2`{ data-is="expression" }'
    assert translate(f"put it in digits: {braces}", "zh") == (
        '用阿拉伯数字写：写成 `2`{ data-is="表达式" }'
    )


@pytest.mark.parametrize("kind", Kind)
def test_kinds_of_blocks_have_a_name(kind: Kind) -> None:
    assert not WORDS.search(translate(kind.value, "zh").replace("ppo_ref", ""))


@pytest.mark.parametrize("state", [s for s in State if s is not State.ACCORD])
def test_states_are_told_without_a_word_of_english(state: State) -> None:
    missing = state in (State.MISSING_ZH, State.MISSING_EN)
    changed = [(("why",), (), ()), (("why",), ("code",), ("next",))]
    for parts in [(), *changed] if not missing else [()]:
        told = translate(str(Accord("gae/inputs", state, *parts)), "zh")
        rest = re.sub(r"docs/\w+/|make agree PAGE=|gae/inputs|\.md", "", told)
        assert not set(WORDS.findall(rest)) - {"why", "code", "next"}


def test_what_help_says_is_in_chinese_line_by_line() -> None:
    told = translate(check.EXAMPLES, "zh").splitlines()
    assert told[:2] == [
        "例子：",
        "  make check                          你改过的页面",
    ]


def test_a_long_text_without_a_row_costs_nothing() -> None:
    text = "x y: " * 20_000
    assert translate(text, "zh") == text
