"""What proves a correction or a wrong answer is guarded, and not its heading alone."""

import pytest

from site_tools.data import corrections
from site_tools.data.corrections import PROOFS, read_corrections
from site_tools.judge.proofs import check_corrections, check_wrong_answers, unshown
from site_tools.page.page import read_page
from site_tools.source.files import page_ids
from tests.layout import ROOT
from tests.site.rows import as_yaml
from tests.site.sample import broken, line_of
from tests.site.trial_site import write_files

pytestmark = pytest.mark.pages

LANGS = pytest.mark.parametrize("lang", ["zh", "en"])
PAGE = """---
question: Is two the sum?
refs: ["arXiv:1712.00378", "verl 0.9.1"]
---

## Wrong { #wrong-answers }

### Three { #wrong-three }

!!! quote "verl 0.9.1"

    Three.

```python
total = 1 + 1
print("total   ", total, " exactly")
assert total == 2
```

```output
total    2  exactly
```

```{ .python .cont .raises }
assert total  ==  3, "it is two"
```

```output
AssertionError: it is two
```

See [Pardo](https://arxiv.org/abs/1712.00378).

```fact
values  verl 0.9.1
```

## Why { #why }

It is.
"""
AT = "alignment/sum#wrong-three"
PROVED = {
    "fails": 'total == 3, "it is two"',
    "holds": "total == 2",
    "prints": "total 2 exactly",
    "fact": "values verl 0.9.1",
    "cites": "arXiv:1712.00378",
}


def lost(root, text, **proof):
    """What the check says of one proof on a page."""
    row = {"id": "7", "about": "two", "held": [{"at": AT} | proof]}
    write_files(root, {corrections.CORRECTIONS_FILE: as_yaml([row])})
    return [*check_corrections(read_page(root, "docs/en/alignment/sum.md", text))]


@LANGS
def test_the_48_corrections_have_their_proofs(lang):
    rows = read_corrections(ROOT)
    assert [row.id for row in rows] == [str(n) for n in range(1, 49)]
    names = {proof.at.partition("#")[0] for row in rows for proof in row.held}
    pages = {name: read_page(ROOT, f"docs/{lang}/{name}.md") for name in names}
    anchors = {proof.at for row in rows for proof in row.held}
    for page, _, anchor in (at.partition("#") for at in anchors):
        assert f"#{anchor}" in pages[page].body, (page, anchor)
    wrong = [p for page in pages.values() for p in check_corrections(page)]
    assert [*map(str, wrong)] == []


@LANGS
@pytest.mark.parametrize("instead", ["a sentence", "another failing block", "no words"])
def test_correction_17_is_more_than_its_heading(lang, instead):
    path, proof = f"docs/{lang}/gae/variance.md", '--8<-- "gae/variance.py:lower"'
    text = read_page(ROOT, path).text
    start = text.rindex("```{", 0, text.index(proof))
    end = text.index("\n```\n", text.index("```output", start)) + 5
    was = text[start:end]
    assert "AssertionError: lambda < 1 raised the variance" in was
    other = '```{ .python .raises }\nassert 1 > 2, "no"\n```\n'
    made = {
        "a sentence": "The variance went up. 方差变大了。\n",
        "another failing block": other + "\n```output\nAssertionError: no\n```\n",
        "no words": was.replace("raised the variance", "did something"),
    }
    page = read_page(ROOT, path, text.replace(was, made[instead]))
    (problem,) = check_corrections(page)
    assert problem.found.startswith("correction 17 (lower variance needs a decent V)")
    assert f"{path}#wrong-lower" in problem.found
    expected = 'assert var < mc, "lambda < 1 raised the variance"'
    assert problem.expected == f"a block that fails on {expected}"


@pytest.mark.parametrize("kind", PROOFS)
def test_each_kind_of_proof_is_found(tmp_path, kind):
    assert lost(tmp_path, PAGE, **{kind: PROVED[kind]}) == []


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("fails", "total  ==  3", "total > 3"),  # the same words, another claim
        ("fails", "AssertionError: it is two", "AssertionError: it is not"),
        ("fails", ".cont .raises", ".cont"),
        ("holds", "assert total == 2", "assert total > 0"),
        ("holds", "assert total == 2", "total == 2"),
        ("prints", "total    2  exactly", "total 2"),
        ("fact", "values  verl 0.9.1", "values verl 0.7.1"),
        ("cites", "https://arxiv.org/abs/1712.00378", "https://example.org"),
        ("cites", '"arXiv:1712.00378", ', ""),
    ],
)
def test_a_proof_that_is_gone_is_named(tmp_path, kind, old, new):
    (problem,) = lost(tmp_path, broken(old, new, PAGE), **{kind: PROVED[kind]})
    assert problem.path == corrections.CORRECTIONS_FILE
    assert "under docs/en/alignment/sum.md#wrong-three" in problem.found
    assert PROVED[kind] in problem.expected


@pytest.mark.parametrize("kind", PROOFS)
def test_a_proof_under_another_heading_is_none(tmp_path, kind):
    moved = broken("### Three { #wrong-three }", "### Two { #wrong-two }", PAGE)
    moved = broken("It is.", "### Three { #wrong-three }\n\nIt is.", moved)
    (problem,) = lost(tmp_path, moved, **{kind: PROVED[kind]})
    assert PROVED[kind] in problem.expected


@pytest.mark.parametrize("proof", [{}, {"fact": "a verl 1", "cites": "b"}])
def test_a_proof_is_of_one_kind(tmp_path, proof):
    with pytest.raises(ValueError, match="a proof has at and one of fails, holds"):
        lost(tmp_path, PAGE, **proof)


@LANGS
def test_every_wrong_answer_has_a_run_or_a_citation(lang):
    paths = [f"docs/{lang}/{name}.md" for name in page_ids(ROOT)]
    pages = [read_page(ROOT, path) for path in paths if (ROOT / path).is_file()]
    wrong = [problem for page in pages for problem in check_wrong_answers(page)]
    assert [*map(str, wrong)] == []


FAILING = PAGE[PAGE.index("```{ .python .cont .raises }") : PAGE.index("See [Pardo]")]
MARKED = broken("#wrong-three }", "#wrong-three .cited }", PAGE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PAGE, ""),
        (broken(FAILING, "", PAGE), "without a block that fails"),
        (broken(FAILING, "", MARKED), ""),
        (MARKED, "is marked .cited and has a block that fails"),
    ],
)
def test_a_wrong_answer_without_a_run_must_say_so(text, found):
    page = read_page(ROOT, "docs/en/alignment/sum.md", text)
    problems = [problem.found for problem in check_wrong_answers(page)]
    assert problems == ([f"#wrong-three {found}"] if found else [])


def test_a_wrong_answer_that_is_cited_names_more_than_the_quoted_source():
    text = broken(FAILING, "", MARKED)
    text = broken("```fact\nvalues  verl 0.9.1\n```\n", "", text)
    page = read_page(ROOT, "docs/en/alignment/sum.md", text)
    assert [*check_wrong_answers(page)] == []
    text = broken("See [Pardo](https://arxiv.org/abs/1712.00378).", "See.", text)
    page = read_page(ROOT, "docs/en/alignment/sum.md", text)
    (problem,) = check_wrong_answers(page)
    assert problem.found == "#wrong-three is marked .cited and names no source"
    assert problem.line == line_of("### Three", text)


def test_every_section_of_a_snippet_is_shown():
    folder = ROOT / "snippets"
    names = [file.relative_to(folder).as_posix() for file in folder.rglob("*.py")]
    assert names
    assert [str(p) for name in sorted(names) for p in unshown(ROOT, name)] == []


SECTIONS = "# --8<-- [start:one]\na = 1\n# --8<-- [end:one]\n\n# --8<-- [start:two]\n"


def test_a_section_that_no_page_shows_is_named(tmp_path):
    include = '```python\n--8<-- "gae/a.py:{}"\n```\n'
    files = {"snippets/gae/a.py": SECTIONS, "docs/zh/gae/a.md": include.format("one")}
    write_files(tmp_path, files)
    (problem,) = unshown(tmp_path, "gae/a.py")
    assert problem.place == "snippets/gae/a.py:5"
    assert problem.found == "section two, which no page shows"
    # A page of another name will do, and so does the whole file.
    write_files(tmp_path, {"docs/en/course/b.md": include.format("two")})
    assert unshown(tmp_path, "gae/a.py") == []
    whole = '```python\n--8<-- "gae/a.py"\n```\n'
    write_files(tmp_path, {"docs/en/course/b.md": whole, "docs/zh/gae/a.md": ""})
    assert unshown(tmp_path, "gae/a.py") == []


@pytest.mark.parametrize(
    ("claim", "failure"),
    [
        ("[][0]", "IndexError: list index out of range"),
        ('raise AssertionError("it is two")', "AssertionError: it is two"),
        ('assert total == 3, "no"\nassert total', "AssertionError: it is two"),
    ],
)
def test_a_wrong_answer_fails_on_an_assertion_with_its_own_words(claim, failure):
    text = broken('assert total  ==  3, "it is two"', claim, PAGE)
    text = broken("AssertionError: it is two", failure, text)
    (problem,) = check_wrong_answers(read_page(ROOT, "docs/en/alignment/sum.md", text))
    assert f"fails with {failure}" in problem.found
    assert problem.line == line_of("### Three", text)
