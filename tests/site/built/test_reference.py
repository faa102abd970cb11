"""The reference follows from the package, and pages lead to it."""

import pytest

from site_tools.compile import navigation, reference
from site_tools.finish import reading
from tests.site.articles import article

MAP = '''"""All of it.

A module sees only the floors below.

    2   sums  gone  folder
    1   shapes

Data flows.
"""'''
SOURCES = {
    "__init__": MAP,
    "shapes": '"""Shapes: each once."""\nTokens = 1\n_HIDDEN = 2\n',
    "sums": '"""Sums."""\ndef total(): ...\ndef _add(): ...\nclass Total: ...\n',
    "late": '"""Forgotten by the table."""',
    "folder.__init__": '"""A folder.\n\nIn which:"""',
    "folder.inner": '"""Inside."""\ndef f(): ...\n',
}


def test_the_map_shows_floors_in_their_order_and_forgets_no_module():
    text = reference.pages(SOURCES, "zh")["ppo_ref/index.md"]
    parts = [
        "A module sees only",
        "**第 2 层**\n\n- [`sums`](sums.md): Sums.",
        "- [`folder`](folder/index.md): A folder.\n",
        "**第 1 层**\n\n- [`shapes`](shapes.md): Shapes: each once.",
        "Data flows.",
        "- [`late`](late.md): Forgotten by the table.",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "gone" not in text and "inner" not in text


def test_folders_of_the_package_follow_its_modules_in_the_navigation():
    paths = ["index", "b", "a/index", "a/c", "z"]
    pages = {f"ppo_ref/{path}.md": {"title": path} for path in paths}
    (tab,) = navigation.build(pages, "en", list(pages))
    (package,) = tab["Reference"]
    *modules, folder = package["ppo_ref"]
    assert [*map(list, modules)] == [["index"], ["b"], ["z"]]
    (inside,) = folder.values()
    assert inside == [{"a/index": "ppo_ref/a/index.md"}, {"a/c": "ppo_ref/a/c.md"}]


KNOWN = reference.symbols(SOURCES)


@pytest.mark.parametrize("name", ["sums.totals", "shapes._HIDDEN", "inner.f"])
def test_a_name_that_the_package_has_not_is_refused(name):
    with pytest.raises(ValueError, match=f"`ppo_ref.{name}`: must be a name of the"):
        made = article(f"<code>ppo_ref.{name}</code>", "en", "gae/a")
        reading.link_symbols(made, KNOWN)
