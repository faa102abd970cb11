"""A page as readers get it: with lists, tables and facts made from data."""

from bs4 import BeautifulSoup

from site_tools.compile.lists import derived, fill_lists
from site_tools.messages import Problems
from site_tools.page.page import Page
from site_tools.page.rendered import parse_shown
from site_tools.source.blocks import Kind


def shown_tree(page: Page) -> BeautifulSoup:
    """The tree of a page with its lists; a Refusal where one cannot be made."""
    return parse_shown(fill_lists(page.html, page.root))


def check_lists(page: Page) -> Problems:
    """A problem for each fence whose list, table or facts cannot be made."""
    for block in page.blocks:
        if block.kind is not Kind.DERIVED:
            continue
        name, lang = block.language, block.options.get("data-language", "")
        try:
            derived(name, block.text, lang, page.root)
        except ValueError as error:
            line, fence = block.fence.line, f"```{name} {block.text}"
            if block.lines and (lang or name == "fact"):
                line = block.lines[0].page_line
            yield page.problem(line, "list_unmade", fence=fence, why=error)
