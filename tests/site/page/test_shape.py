"""The anatomy of a question page; each rule is broken once."""

import pytest

from site_tools.judge import headings
from site_tools.judge.body import check_seen_marks
from site_tools.judge.identities import check_identities
from site_tools.page.page import read_page
from tests.site.sample import EN, ROOT, broken, line_of, page, shape_problems

LIST = '```{ .glossary data-language="zh" }\n```\n'


def test_the_sample_has_the_anatomy():
    assert shape_problems(page()) == []


# What contributors get wrong most is in tests/contributing/mistakes.yml.
@pytest.mark.parametrize(
    ("old", "new", "found", "fix"),
    [
        ("question: Is two the sum?\n", "", "no question", "add it"),
        ('"verl 0.9.1", "001', '"0.25", "001', "refs: '0.25'", "its version"),
        ('"verl 0.9.1", "001', '"", "001', "refs: ''", "its version"),
        ('["verl 0.9.1", "001·4"]', "[{a: 0.9}]", "refs: [{'a': '0.9'}]", "refs:"),
        ('quote "001·4"', 'quote "001·4 and more"', "quotation", "end the title"),
        ("## Next { #next }", "Next\n====", "Next\n====", "write ## ..."),
        ("## Next", f"{LIST}\n## Next", "data-language 'zh'", 'data-language="en"'),
        ("*verl's default*: the same.", "", "no line on verl's default", "paragraph"),
        ("as $G - V$ says", "<!-- x -->", "<!--", "write Markdown"),
        ("as $G - V$ says", "![](x.png)", "![](", "![what it shows]"),
        ("{ #wrong-answers }", "{ #picture }", "sections in the order", ""),
    ],
)
def test_each_rule_names_what_it_found(old, new, found, fix):
    text = broken(old, new)
    problems = shape_problems(page(text))
    assert [p for p in problems if found in p.found and fix in p.fix], problems


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("it is *so.", "*so."),
        ("see [this] (../gae/x.md).", "] (../gae/x.md)."),
        (r"\*\*kwargs, a \` and a \$x", ""),
        ("a * b costs $5, `**kwargs` and `a[0](b)`, $x$ too", ""),
    ],
)
def test_a_mark_that_readers_see_is_not_closed(said, seen):
    text = broken("the same.", f"the same; {said}")
    found = [(p.line, p.found) for p in check_seen_marks(page(text))]
    assert found == ([(line_of("the same;", text), seen)] if seen else [])


def test_a_page_that_answers_two_questions_has_a_line_on_each():
    text = broken('answers: ["004·2"]', 'answers: ["004·2", "004·3", "verl#1960"]')
    default = "*verl's default*: the same."
    fold = '??? info "As it was first asked"'
    text = broken(default, f"{default}\n\n{fold}\n\n    - 004·3: as above.", text)
    (problem,) = shape_problems(page(text))
    assert problem.found == "no line on question 004·2 in #answer"
    assert problem.line == line_of("**Yes.**", text)
    whole = broken("    - 004·3", "    - 004·2: yes.\n    - 004·3", text)
    assert shape_problems(page(whole)) == []


def test_a_page_on_contributing_has_nothing_to_say_on_verls_default():
    text = broken("*verl's default*: the same.", "")
    road = read_page(ROOT, "docs/en/contribute/sample.md", text)
    assert shape_problems(road) == []


@pytest.mark.parametrize(
    "heading", ["##Why { #why }", "!!! note\n\n    ## Why { #why }"]
)
def test_a_heading_that_only_readers_see_is_named(heading):
    text = broken("## Why { #why }", heading)
    (problem,) = headings.check_seen_headings(page(text))
    assert problem.found == heading.rpartition("\n")[2].strip()
    assert problem.expected.endswith("a space after its #")
    assert problem.line == line_of("## Why" if "\n" in heading else "##Why", text)


FORMULA = EN[EN.index("$$") : EN.rindex("$$") + 2]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("td-residual", "TD residual", r"\label{TD residual}, which is not an id"),
        (FORMULA, f"{FORMULA}\n\n{FORMULA}", "td-residual, the id of a formula above"),
        (r"\gamma V(s_{t+1})", "V", r"\delta_t = r_t + V - V(s_t)"),
    ],
)
def test_a_displayed_identity_is_the_one_that_its_test_states(old, new, found):
    assert [*check_identities(page())] == []
    (problem,) = check_identities(page(broken(old, new)))
    assert problem.found.startswith(found)
    if found.startswith(r"\delta"):
        stated = r"test_td_residual tests: \delta_t = r_t + \gamma"
        assert stated in problem.expected


def test_a_page_with_a_question_belongs_to_a_topic():
    stray = read_page(ROOT, "docs/en/nonsense/sample.md", EN)
    rows = [(p.found, p.fix) for p in shape_problems(stray)]
    found = "a page with a question in nonsense"
    assert rows == [(found, "move the page into one of them")]


def test_a_chinese_page_has_chinese():
    copied = read_page(ROOT, "docs/zh/alignment/sample.md", EN)
    found = [problem.found for problem in shape_problems(copied)]
    assert "no Chinese on the page" in found


COMMENT = """```{ .python .comment }
import torch
print("two", torch.ones(2).sum())
```

```output
two tensor(2.)
```

"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("import torch", "import torch\n" + "\n" * 6 + "x = 2", "block of 9 lines"),
        ("import torch", "import torch, ppo_ref.kl", "imports ppo_ref"),
        ("import torch", "from numpy import ones", "imports numpy"),
        (".comment }", ".comment .cont }", "block with .cont"),
        (".comment }", ".comment .raises }", "block with .raises"),
        ("```output\ntwo tensor(2.)\n```\n", "", "prints nothing"),
        ("## Why", COMMENT + "## Why", "a second .comment"),
    ],
)
def test_what_is_copied_as_a_comment_is_short_and_runs_alone(old, new, found):
    sound = broken("## Why", COMMENT + "## Why")
    assert shape_problems(page(sound)) == []
    (problem,) = shape_problems(page(broken(old, new, sound)))
    assert found in problem.found
    assert problem.line >= line_of("{ .python .comment", sound)
