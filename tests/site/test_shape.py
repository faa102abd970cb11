"""The anatomy of a question page; each rule is broken once."""

import pytest

from site_tools.checks.shape import check_identities, check_shape
from site_tools.page.page import read_page
from tests.site.sample import EN, ROOT, broken, line_of, page


def test_the_sample_has_the_anatomy():
    assert check_shape(page(), ROOT) == []


@pytest.mark.parametrize(
    ("old", "new", "found", "fix"),
    [
        ("needs: []", "need: []", "key 'need'", "write needs:"),
        ("question: Is two the sum?\n", "", "no question", "add it"),
        ('"verl 0.9.1", "001', '"0.25", "001', "refs: '0.25'", "its version"),
        ('"verl 0.9.1", "001', '"", "001', "refs: ''", "its version"),
        ("needs: []", "needs: [gae/none]", "needs gae/none", "correct the name"),
        ('quote "001·4"', 'quote "001·4 and more"', "quotation", "end the title"),
        ('and one?"]', 'and one? #gone"]', "alias ends in #gone", "correct the id"),
        ("## Next { #next }", "Next\n====", "Next\n====", "write ## ..."),
        ("as $G - V$ says", '\n--8<-- "x.md"\n', '--8<-- "x.md"', "```python fence"),
        ("as $G - V$ says", "如 $G - V$ 所说", "如", "write it in English"),
        ("assert total == 2\n", "assert True\n", "no assertion in section", "assert"),
        (
            "## Next",
            '```{ .glossary data-language="zh" }\n```\n\n## Next',
            "data-language 'zh'",
            'data-language="en"',
        ),
        ("needs: []", "needs: gae", "needs: 'gae'", 'write needs: ["gae"]'),
        ("## Why { #why }", "# Why { #why }", "# Why { #why }", "start at ##"),
        ("## Why { #why }", "## Why", "## Why", "write ## Why { #short-id }"),
        ("{ #why }", "{ #proof }", "section #proof", "if that is meant"),
        ("{ #next }", "{ #numbers }", "no section #next", "add ## ... { #next }"),
        ("**Yes.** The", "The", "The sum is", "**Yes.**"),
        ("*verl's default*: the same.", "", "no line on verl's default", "paragraph"),
        ("as $G - V$ says", "<b>as</b>", "<b>", "write Markdown"),
        ("as $G - V$ says", "<!-- x -->", "<!--", "write Markdown"),
        ("as $G - V$ says", "![](x.png)", "![](", "![what it shows]"),
        ('quote "001·4"', 'quote "somebody"', "quotation of 'somebody'", "refs"),
        ("1 + 1", "1 + " * 20 + "1", "89 columns", "break the line"),
    ],
)
def test_each_rule_names_what_it_found(old, new, found, fix):
    text = broken(old, new)
    problems = check_shape(page(text), ROOT)
    assert [p for p in problems if found in p.found and fix in p.fix], problems


def test_sections_out_of_order_are_named():
    text = broken("{ #why }", "{ #swap }").replace("{ #wrong-answers }", "{ #why }")
    (problem,) = check_shape(page(text.replace("#swap", "#wrong-answers")), ROOT)
    assert problem.found.startswith("sections in the order answer, code, wrong")


def test_a_page_on_contributing_has_nothing_to_say_on_verls_default():
    text = broken("*verl's default*: the same.", "")
    road = read_page(ROOT, "docs/en/contribute/sample.md", text)
    assert check_shape(road, ROOT) == []


def test_a_displayed_identity_needs_an_id_and_a_property_test():
    assert check_identities(page(), ROOT) == []
    (problem,) = check_identities(page(broken(r"\label{td-residual}", "")), ROOT)
    assert problem.found == "a displayed formula without an id"
    (problem,) = check_identities(page(broken("td-residual", "TD residual")), ROOT)
    assert problem.found == r"\label{TD residual}, which is not an id"
    formula = EN[EN.index("$$") : EN.rindex("$$") + 2]
    twice = page(broken(formula, f"{formula}\n\n{formula}"))
    (problem,) = check_identities(twice, ROOT)
    assert problem.found == "td-residual, the id of a formula above"
    text = broken("td-residual", "no-such-test")
    (problem,) = check_identities(page(text), ROOT)
    assert problem.line == line_of(r"\delta_t", text)
    assert problem.expected == "def test_no_such_test in tests/properties"


def test_a_page_with_a_question_belongs_to_a_topic():
    stray = read_page(ROOT, "docs/en/nonsense/sample.md", EN)
    rows = [(p.found, p.fix) for p in check_shape(stray, ROOT)]
    found = "a page with a question in nonsense"
    assert rows == [(found, "move the page into one of them")]


def test_a_chinese_page_has_chinese():
    copied = read_page(ROOT, "docs/zh/alignment/sample.md", EN)
    found = [problem.found for problem in check_shape(copied, ROOT)]
    assert "no Chinese on the page" in found


def test_front_matter_of_the_wrong_kind_does_not_stop_the_reading():
    text = broken('refs: ["verl 0.9.1", "001·4"]', "refs: [{a: 0.9}]")
    found = [problem.found for problem in check_shape(page(text), ROOT)]
    assert "refs: [{'a': '0.9'}]" in found


def test_a_displayed_identity_is_the_one_that_its_test_states():
    text = broken(r"+ \gamma V(s_{t+1}) - V", r"- \gamma V(s_{t+1}) + V")
    (problem,) = check_identities(page(text), ROOT)
    assert problem.found.startswith(r"\delta_t = r_t - \gamma V(s_{t+1}) + V(s_t)")
    assert r"test_td_residual tests: \delta_t = r_t + \gamma" in problem.expected


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
    assert check_shape(page(sound), ROOT) == []
    (problem,) = check_shape(page(broken(old, new, sound)), ROOT)
    assert found in problem.found
    assert problem.line >= line_of("{ .python .comment", sound)
