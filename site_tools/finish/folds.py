"""Folds: the thing stands in front on a page, its proof waits one tap behind.

A fold is made from a heading and what follows it, or from a term and its meaning.
Headings keep their ids, so that whoever is led to one finds it; a script opens it.
"""

from collections.abc import Sequence

from bs4 import Tag
from bs4.element import PageElement

from site_tools.compile.templates import words
from site_tools.data.topics import is_question
from site_tools.finish.article import Article, of_class, section_after, tags

BEHIND = ("numbers", "wrong-answers", "in-verl")  # sections of a question that wait


def fold_refutations(article: Article) -> None:
    """Fold what refutes a claim; the claim and what holds instead stay in sight."""
    soup, said = article.soup, words(article.lang)
    entries = article.page.wrong_answers[0] if article.page else []
    cited = [entry.id for entry in entries if entry.cited]
    for heading in tags(article.content, "h3"):
        name = str(heading.get("id"))
        if not name.startswith("wrong-"):
            continue
        body = section_after(heading, "h2", "h3")
        holds = next(node for node in body if isinstance(node, Tag))
        details = soup.new_tag("details", attrs={"class": "refuted"})
        summary = soup.new_tag("summary")
        summary.string = said["refuted_sources" if name in cited else "refuted_run"]
        details.append(summary)
        for node in body[body.index(holds) + 1 :]:
            details.append(node.extract())
        holds.insert_after(details)


def fold_what_is_behind(article: Article) -> None:
    """Fold what proves an answer, each part under its heading, which stays in sight.

    On the page of a question these are the sections ``BEHIND``, wrong answers as one,
    and every part of another section; elsewhere, every heading of the class ``fold``.
    """
    for heading in tags(article.content, "h2", "h3"):
        ends = ("h2",) if heading.get("id") == "wrong-answers" else ("h2", "h3")
        body = section_after(heading, *ends)
        if _is_behind(heading, article) and any(isinstance(node, Tag) for node in body):
            links_to_it = of_class(heading, "headerlink")  # no link within a button
            _fold(heading, (*links_to_it, *body), article)


def _is_behind(heading: Tag, article: Article) -> bool:
    name = str(heading.get("id"))
    if "fold" in heading.get_attribute_list("class"):
        return True
    if not is_question(article.id):
        return False
    return name in BEHIND if heading.name == "h2" else name[:6] != "wrong-"


def fold_terms(article: Article) -> None:
    """Fold what a term means under the term: the glossary is a list to choose from."""
    for listed in tags(article.content, "dl"):
        pairs = zip(tags(listed, "dt"), tags(listed, "dd"), strict=True)
        for term, meaning in pairs:
            _fold(term, [meaning], article)
            term.name, meaning.name = "strong", "div"
        listed.name = "div"


def _fold(title: Tag, body: Sequence[PageElement], article: Article) -> None:
    """Put what is told under a title into a fold, which the title opens."""
    details = article.soup.new_tag("details", attrs={"class": "behind"})
    title.insert_before(details)
    details.append(title.wrap(article.soup.new_tag("summary")))
    details.extend([node.extract() for node in body])
