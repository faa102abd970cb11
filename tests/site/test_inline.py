"""What is read by lines is what readers see: the signs of Markdown, on every page."""

from collections import Counter

import pytest

from site_tools.page.page import Page, read_page
from site_tools.page.tree import HEADING_TAG, formula_of
from site_tools.source.files import page_ids
from site_tools.source.inline import parts
from tests.layout import ROOT

pytestmark = pytest.mark.pages


def read_by_lines(page: Page) -> Counter[tuple[str, str]]:
    kinds = ("code", "inline", "display", "target")
    found = [part for part in parts(page.body) if part.kind in kinds]
    return Counter((part.kind, " ".join(part.text.split())) for part in found)


def seen_by_readers(page: Page) -> Counter[tuple[str, str]]:
    found = []
    for tag in page.tree.find_all(True):
        classes = tag.get_attribute_list("class")
        if "arithmatex" in classes:
            kind = "display" if tag.name == "div" else "inline"
            found.append((kind, formula_of(tag)))
        elif tag.name == "code" and not tag.find_parent("pre"):
            found.append(("code", tag.get_text()))
        elif tag.name == "a" and "headerlink" not in classes:
            found.append(("target", str(tag["href"])))
        elif tag.name == "img":
            found.append(("target", str(tag["src"])))
    return Counter((kind, " ".join(text.split())) for kind, text in found)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_lines_and_tree_agree_on_every_page(lang):
    for name in page_ids(ROOT):
        page = read_page(ROOT, f"docs/{lang}/{name}.md")
        assert read_by_lines(page) == seen_by_readers(page), page.path
        headings = [(h.level, h.id) for h in page.content.headings]
        tags = page.tree.find_all(HEADING_TAG)
        assert headings == [(int(tag.name[1]), tag.get("id")) for tag in tags], name


@pytest.mark.parametrize(
    "text", ["`` a ` b `` and `c`", "\\`a` $5 and $6", "[a](b(c).md)"]
)
def test_they_agree_on_what_is_hard_to_read(text):
    page = read_page(ROOT, "docs/en/gae/a.md", f"{text}\n")
    assert read_by_lines(page) == seen_by_readers(page)
    other = read_page(ROOT, "docs/en/gae/a.md", f"{text} `d`\n")
    assert read_by_lines(page) != seen_by_readers(other)
