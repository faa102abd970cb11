"""What the book has of one page, as a tree in which nothing moves or folds."""

import re
from pathlib import Path

from bs4 import Tag

from site_tools.booklet.solutions import move_solutions
from site_tools.compile.resolved import resolved
from site_tools.finish.article import (
    Article,
    of_class,
    parsed,
    tags,
)
from site_tools.finish.reading import mark_figures
from site_tools.page.page import read_page
from site_tools.page.rendered import render
from site_tools.source.content import read_content

FRONT_SECTIONS = (
    "answer",
    "picture",
)  # the sections of a question page that the book has
TO_THE_BOOK = re.compile(r"about/offline\.md#booklet$")
# Words of code that book.css gives no colour: half of all tags.
COLOURLESS = re.compile(
    r'<span class="(?!(?:k|kn|kc|ow|nf|nc|mi|mf|s|s1|s2|sa|c1|sd)")\w{1,3}">'
    r"([^<]*)</span>"
)


def excerpt(root: Path, lang: str, page_id: str, *, whole: bool) -> Article:
    """A page as it is compiled; of a question page, its front alone."""
    page = read_page(root, f"docs/{lang}/{page_id}.md")
    text = resolved(page, root)
    html = COLOURLESS.sub(r"\1", render(text if whole else _front(text), root))
    soup = parsed(f"<section>{html}</section>")
    content = soup.section
    assert content
    article = Article(soup, content, content, lang, page_id, "", page)
    for link in of_class(content, "headerlink"):
        link.decompose()
    for line in content.find_all("p", attrs={"data-lab": True}):
        line.decompose()  # it says what to try in a widget, which no book has
    for link in content.find_all("a", href=TO_THE_BOOK):
        if paragraph := link.find_parent("p"):
            paragraph.decompose()
    if not whole:
        for fold in tags(content, "details"):
            fold.decompose()
    mark_figures(article)
    move_solutions(article)
    _open_folds(content)
    _drop_data(content)
    return article


def _front(text: str) -> str:
    """The verdict of a question page, what makes it understood, and the picture."""
    sections = read_content(text)
    return "\n".join(sections.text_below(name) for name in FRONT_SECTIONS)


def _open_folds(content: Tag) -> None:
    """Show what is folded, in a box with its title."""
    for details in tags(content, "details"):
        details.name = "div"
        kind = " ".join(details.get_attribute_list("class"))
        details["class"] = f"admonition {kind}"
        summary = details.find("summary", recursive=False)
        if isinstance(summary, Tag):
            summary.name = "p"
            summary["class"] = "admonition-title"


def _drop_data(content: Tag) -> None:
    """Take away the attributes that only the site's scripts and checks read."""
    for tag in content.find_all(True):
        for name in [name for name in tag.attrs if name.startswith("data-")]:
            del tag[name]
