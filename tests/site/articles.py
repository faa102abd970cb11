"""An article as finish has it in hand, made of the HTML that stands in it."""

from site_tools.finish.article import AS_IT_WAS, Article, parsed, take_content
from site_tools.page.page import Page


def article(
    html: str, lang: str = "en", page_id: str = "gae/a", page: Page | None = None
) -> Article:
    soup = parsed(f"<article><h1>Title</h1>{html}</article>")
    taken = take_content(soup)
    assert taken
    return Article(soup, *taken, lang, page_id, f"{page_id}/", page)


def inside(made: Article) -> str:
    """What stands in it now."""
    return made.content.decode_contents(formatter=AS_IT_WAS)
