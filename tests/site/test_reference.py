"""The reference follows from the package, and pages lead to it."""

from pathlib import Path

import pytest

from site_tools.data import package_modules
from site_tools.html import docstrings, navigation, reference, symbols

MAP = '''"""All of it.

A module sees only the floors below.

    2   sums  gone
    1   shapes

Data flows.
"""'''
SOURCES = {
    "__init__": MAP,
    "shapes": '"""Shapes: each once."""\nTokens = 1\n_HIDDEN = 2\n',
    "sums": '"""Sums."""\ndef total(): ...\ndef _add(): ...\nclass Total: ...\n',
    "late": '"""Forgotten by the table."""',
}


def test_each_module_has_a_page_and_the_package_the_map() -> None:
    made = reference.pages(SOURCES, "en")
    assert list(made) == [
        "ppo_ref/index.md",
        "ppo_ref/shapes.md",
        "ppo_ref/sums.md",
        "ppo_ref/late.md",
    ]
    assert made["ppo_ref/sums.md"].endswith("\n\n::: ppo_ref.sums")
    assert '"title": "ppo_ref.sums", "description": "Sums."' in made["ppo_ref/sums.md"]


def test_the_map_shows_floors_in_their_order_and_forgets_no_module() -> None:
    text = reference.pages(SOURCES, "zh")["ppo_ref/index.md"]
    parts = [
        "A module sees only",
        "**第 2 层**\n\n- [`sums`](sums.md): Sums.",
        "**第 1 层**\n\n- [`shapes`](shapes.md): Shapes: each once.",
        "Data flows.",
        "- [`late`](late.md): Forgotten by the table.",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "gone" not in text


def test_chinese_readers_are_told_that_docstrings_are_english() -> None:
    for text in reference.pages(SOURCES, "zh").values():
        assert "docstring，只有英文" in text


def test_a_search_shows_question_pages_before_the_reference() -> None:
    for text in reference.pages(SOURCES, "en").values():
        assert '"search": {"boost": 0.1}' in text


FOLDER = SOURCES | {
    "checks": '"""Three checks."""',
    "checks.first": '"""One check."""\ndef check(): ...',
    "checks.second": '"""Two checks."""',
}


def test_a_folder_is_one_page_with_its_modules_under_headings() -> None:
    made = reference.pages(FOLDER, "en")
    assert made.keys() - reference.pages(SOURCES, "en").keys() == {"ppo_ref/checks.md"}
    page = made["ppo_ref/checks.md"]
    blocks = ["::: ppo_ref.checks\n", "::: ppo_ref.checks.first\n    options: {show"]
    places = [page.index(block) for block in [*blocks, "::: ppo_ref.checks.second\n"]]
    assert places == sorted(places)
    assert made["ppo_ref/index.md"].endswith("- [`checks`](checks.md): Three checks.")


def test_the_modules_of_a_package_are_read_with_those_of_its_folders(
    tmp_path: Path,
) -> None:
    for name in ("__init__", "__main__", "sums", "checks/__init__", "checks/first"):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(name)
    read = package_modules.read(tmp_path)
    assert read == {
        "__init__": "__init__",
        "sums": "sums",
        "checks": "checks/__init__",
        "checks.first": "checks/first",
    }
    assert package_modules.folders(read) == {"checks"}


def test_a_name_in_a_folder_leads_to_its_page() -> None:
    code = "<code>ppo_ref.checks.first.check</code>"
    href = "./ppo_ref/checks/#ppo_ref.checks.first.check"
    known = symbols.symbols(FOLDER)
    assert symbols.link(code, "", known) == f'<a href="{href}">{code}</a>'


def test_no_package_no_pages() -> None:
    assert reference.pages({}, "en") == {}


def test_a_module_without_a_docstring_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ppo_ref/sums\.py: must begin with a docs"):
        reference.pages(SOURCES | {"sums": "x = 1"}, "en")


def test_the_reference_stands_in_its_tab() -> None:
    pages = {"ppo_ref/index.md": {"title": "ppo_ref"}, "ppo_ref/b.md": {"title": "b"}}
    assert navigation.build(pages, "zh", list(pages)) == [
        {
            "查阅": [
                {"ppo_ref": [{"ppo_ref": "ppo_ref/index.md"}, {"b": "ppo_ref/b.md"}]}
            ]
        }
    ]


def test_what_is_folded_is_not_searched_and_lines_have_no_ids() -> None:
    line = '<span id="a.b--__span-0-1"><a id="a.b--__codelineno-0-1" href="#x"></a>y'
    html = reference.finish(f'<details class="source"><summary>s</summary>{line}')
    opening = '<details class="source" data-search-exclude="1"><summary>s</summary>'
    assert html == f"{opening}<span>y"


def test_a_paper_is_no_section() -> None:
    doc = "Sum.\n\nReturns:\n    x\n\nSource:\n    A (2016),\n    eq. 1.\n"
    read = docstrings.for_reading(doc)
    assert read == "Sum.\n\nReturns:\n    x\n\nA (2016),\neq. 1.\n"


KNOWN = symbols.symbols(SOURCES)


def test_symbols_are_modules_and_what_they_define_in_public() -> None:
    assert KNOWN - {"ppo_ref.__init__"} == {
        "ppo_ref.shapes",
        "ppo_ref.shapes.Tokens",
        "ppo_ref.sums",
        "ppo_ref.sums.total",
        "ppo_ref.sums.Total",
        "ppo_ref.late",
    }


@pytest.mark.parametrize(
    ("url", "name", "href"),
    [
        ("", "sums", "./ppo_ref/sums/"),
        ("gae/inputs/", "sums", "../../ppo_ref/sums/"),
        ("gae/inputs/", "sums.total", "../../ppo_ref/sums/#ppo_ref.sums.total"),
        ("notebooks/toy.html", "late", "../ppo_ref/late/"),
    ],
)
def test_a_name_leads_to_the_reference(url: str, name: str, href: str) -> None:
    code = f"<code>ppo_ref.{name}</code>"
    assert symbols.link(code, url, KNOWN) == f'<a href="{href}">{code}</a>'


@pytest.mark.parametrize(
    "inert",
    [
        '<a href="x"><code>ppo_ref.sums</code></a>',
        '<h2 id="x"><code>ppo_ref.sums</code></h2>',
        "<pre><code>ppo_ref.sums</code></pre>",
        "<code>ppo_ref.sums.total()</code>",
        "<code>ppo_ref</code>",
    ],
)
def test_links_headings_and_code_are_left_as_they_are(inert: str) -> None:
    assert symbols.link(inert, "", KNOWN) == inert


@pytest.mark.parametrize("name", ["sum", "sums.totals", "sums._add", "shapes._HIDDEN"])
def test_a_name_that_the_package_has_not_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"`ppo_ref.{name}`: must be a name of the"):
        symbols.link(f"<code>ppo_ref.{name}</code>", "", KNOWN)
