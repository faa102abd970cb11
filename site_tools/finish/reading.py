"""Helps for readers around the text of a page: the answer box, terms, threads."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from bs4 import Tag
from bs4.element import NavigableString, PageElement
from markupsafe import Markup

from site_tools.compile import links, navigation
from site_tools.compile.navigation import Answer, Answered, read_answer
from site_tools.compile.templates import LINK, as_plain, fill, words
from site_tools.data.dialogues import Asked
from site_tools.data.names import Name, named, pattern, vocabulary
from site_tools.finish.article import (
    Article,
    Moved,
    fragment,
    having,
    of_class,
    parsed,
    section_after,
    tags,
)
from site_tools.messages import Refusal
from site_tools.page.pictures import plots
from site_tools.page.twins import Twins, TwinState
from site_tools.run.passed import VerdictLine
from site_tools.source.blocks import Block

DOLLARS = re.compile(r"\$([^$\n]+)\$")  # a formula, as notebooks have it
ROUND = re.compile(r"(\d{3}·\d+)[:：]\s*")  # before what a page says on a question
STEP = re.compile(r"\d+ · ")
HAN_CHARACTER, LATIN_LETTERS = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"[A-Za-z]+")
BINDING = re.compile(r'(?<=`)\{ *data-is="[^"]*" *\}')
SYMBOL = re.compile(r"\Appo_ref(?:\.\w+)+\Z")
NO_LINK = ["a", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "pre"]
# What JupyterLab has around a cell, and the site has not.
JUPYTER_ONLY = re.compile("Prompt|clipboard-copy|anchor-link")
MEANING = "about/verification/"  # what the line of a verdict leads to
FEW = 4  # threads that stand at the end of a page unfolded
# Where a word is a name, a heading, code, somebody else's, or linked already.
NOT_RUNNING = set(
    [
        "a",
        "button",
        "code",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "label",
        "nav",
        "pre",
        "script",
        "style",
        "summary",
        "svg",
        "th",
    ]
)
NOT_OURS = set(
    [
        "admonition-title",
        "aliases",
        "arithmatex",
        "derived",
        "fact",
        "highlight",
        "names",
        "quote",
    ]
)


def settle_notebook(article: Article, root: Path) -> None:
    """A notebook as mkdocs-jupyter shows it, and the way back to its page."""
    page, _, _ = article.id.rpartition("/")
    for tag in having(article.content, "tabindex"):
        del tag["tabindex"]
    for tag in article.content.find_all(class_=JUPYTER_ONLY):
        tag.extract()
    for pre in article.content.find_all("pre"):
        if pre.code is None:  # as the site has it, where long lines are scrolled
            code = article.soup.new_tag("code")
            code.extend(list(pre.contents))
            pre.append(code)
    for tag in article.content.find_all(id=""):  # a heading in Chinese
        del tag["id"]
    _lead_to_headings(article)
    _mark_formulas(article)
    text = (root / f"docs/{article.lang}/{page}.md").read_text("utf-8")
    images = article.content.find_all("img")
    for image, (_, plot) in zip(images, plots(text, page), strict=False):
        image["alt"] = plot["alt"]
    name = page.rpartition("/")[2]
    title = navigation.titles(root, article.lang)[page]
    article.prepend(fill("page.in_jupyter", article.lang, f"../{name}.ipynb", title))


def _lead_to_headings(article: Article) -> None:
    """Give the headings of a notebook the ids that its table of contents leads to."""
    waiting: dict[str, Tag] = {}
    for heading in article.content.find_all(["h2", "h3"], id=False):
        waiting[heading.get_text().strip()] = heading
    for contents in of_class(article.soup, "md-nav--secondary"):
        for link in contents.find_all("a", href=re.compile("^#")):
            led_to = waiting.get(link.get_text().strip())
            if led_to:
                led_to["id"] = str(link["href"]).removeprefix("#")


def _mark_formulas(article: Article) -> None:
    """Mark the formulas of a notebook, which Jupyter leaves to a script."""
    for contents in of_class(article.soup, "md-nav--secondary"):
        for text in contents.find_all(string=DOLLARS):
            text.replace_with(DOLLARS.sub(r"\\(\1\\)", text))
    for text in article.content.find_all(string=DOLLARS):
        if text.find_parent(["pre", "code"]):
            continue
        pieces: list[PageElement] = []
        for number, part in enumerate(DOLLARS.split(text)):
            if number % 2:  # what stood between dollars
                span = article.soup.new_tag("span", attrs={"class": "arithmatex"})
                span.string = rf"\({part}\)"
                pieces.append(span)
            else:
                pieces.append(NavigableString(part))
        text.replace_with(*pieces)


def settle_reference(article: Article) -> None:
    """Leave out what a reference page does not need.

    mkdocstrings gives the lines of every signature and example the same ids, and
    what is folded would be found by each word of the code.
    """
    for link in article.content.find_all("a", id=re.compile("__codelineno-")):
        link.decompose()
    for span in article.content.find_all("span", id=re.compile("__span-")):
        del span["id"]
    for details in article.content.find_all("details", class_="source"):
        details["data-unsearched"] = "1"


def link_symbols(article: Article, known: Mapping[str, str]) -> None:
    """Lead from inline code that is just a name of the package to its reference."""
    up = posixpath.relpath("/", posixpath.dirname(f"/{article.url}"))
    for code in tags(article.content, "code"):
        name = code.get_text()
        if code.attrs or not SYMBOL.match(name) or code.find_parent(NO_LINK):
            continue
        if name not in known:
            raise Refusal("symbol_unknown", name=name)
        code.wrap(article.soup.new_tag("a", attrs={"href": f"{up}/{known[name]}"}))


def mark_figures(article: Article) -> None:
    """Turn bound figures from inline code into figures that readers see as text."""
    for code in having(article.content, "data-is"):
        code.name = "span"
        code["class"] = "figure"


def link_dialogues(article: Article, asked: Collection[str]) -> None:
    """Lead from a quotation of a dialogue to the page that says what these are."""
    for title in of_class(article.content, "admonition-title"):
        name = title.get_text().rpartition(" ")[2]
        if name in asked:
            href = f"/questions/dialogues/#dialogue-{name[:3]}"
            link = article.soup.new_tag("a", attrs={"href": href})
            link.extend([node.extract() for node in list(title.children)])
            title.append(link)


def put_answer_in_box(article: Article, asked: Mapping[str, Asked], cited: str) -> None:
    """Put the section ``answer`` into a box with anchors and jump links.

    What the page answers, as 004·2, becomes the anchor q-004-2. ``cited`` is HTML:
    how others link to the page.
    """
    heading = article.content.find("h2", id="answer")
    if not isinstance(heading, Tag):
        article.prepend(cited)
        return
    answers = article.page.texts("answers") if article.page else ()
    sections = words(article.lang)["sections"]
    there = {str(h2.get("id")) for h2 in tags(article.content, "h2")}
    html = fill(
        "page.answer_box",
        article.lang,
        links.anchors(answers),
        Markup("<div></div>"),
        [name for name in sections if name in there],
        [asked[name] for name in answers if name in asked],
        Markup(cited),
    )
    body = section_after(heading, "h2")
    box = parsed(html).section
    assert box
    heading.insert_before(box.extract())
    place = box.div
    assert place
    for node in (heading, *body):
        place.insert_before(node.extract())
    place.decompose()
    _answer_each_round(box, words(article.lang)["as_asked"])


def _answer_each_round(box: Tag, title: str) -> None:
    """Put what a page says on each question of the dialogues below that question."""
    rounds = {str(p["data-round"]): p for p in having(box, "data-round")}
    for fold in tags(box, "details"):
        if not fold.find("summary", string=title, recursive=False):
            continue
        for line in tags(fold, "li"):
            begins = ROUND.match(line.get_text().strip())
            asked = rounds.get(begins[1]) if begins else None
            if asked:
                first = next(line.strings)
                said = ROUND.sub("", first.strip())
                rest = first[len(first.rstrip()) :]
                first.replace_with(said[:1].upper() + said[1:] + rest)
                line.name = "p"
                asked.insert_after(line.wrap(Tag(name="blockquote")).extract())
        if not fold.find(["p", "li"]):
            fold.decompose()
    for asked in rounds.values():
        del asked["data-round"]


def cited(root: Path, article: Article) -> str:
    """The line of the answer box on citing the page, as HTML."""
    page = article.page
    made, short = "", links.addresses(root).get(article.id, "")
    if page and ".comment" in page.text:
        answer = read_answer(page.text, page.path, page.path)
        made = comment(answer.title, answer.verdict, page.blocks, page.language)
    return fill("page.cited", article.lang, short, made) if short or made else ""


def comment(title: str, verdict: str, blocks: Sequence[Block], lang: str) -> str:
    """A verdict, the block that shows it and its output, as Markdown for a thread.

    Last comes what was asked, and its address, which is added where the page is read.
    """
    block = next((block for block in blocks if "comment" in block.classes), None)
    if block is None or not verdict:
        return ""
    said = LINK.sub(r"\1", BINDING.sub("", verdict))
    stop = "" if said.endswith(tuple("?!？！")) else words(lang)["stop"]
    code = f"```python\n{block.text}\n```\n\n```text\n{block.expects}\n```"
    return f"{said}{stop}\n\n{code}\n\n{title} "


def add_short_addresses(article: Article, root: Path) -> None:
    """Put the short addresses of its sections into their headings."""
    for place, short in links.addresses(root).items():
        page, _, anchor = place.partition("#")
        if anchor and page == article.id:
            heading = article.content.find(["h2", "h3"], id=anchor)
            if isinstance(heading, Tag):
                html = fill("page.short_section", article.lang, short)
                heading.extend(fragment(html))


def link_terms(article: Article, names: Sequence[Name]) -> None:
    """Make the first occurrence of each term in each ``##`` section a quiet link.

    It leads to the glossary, and its tooltip is the meaning. Only running text counts.
    """
    if names:
        _Terms(names, article.lang).walk(article.content)


class _Terms:
    def __init__(self, names: Sequence[Name], lang: str) -> None:
        self.lang = lang
        self.terms, _ = vocabulary(tuple(names), lang)
        self.written = pattern(tuple(self.terms), lang)
        self.seen: set[str] = set()

    def walk(self, tag: Tag) -> None:
        for node in list(tag.children):
            if isinstance(node, Tag):
                if node.name == "h2":
                    self.seen.clear()
                classes = NOT_OURS.intersection(node.get_attribute_list("class"))
                if node.name not in NOT_RUNNING and not classes:
                    self.walk(node)
            elif type(node) is NavigableString:
                self.link(node)

    def link(self, text: NavigableString) -> None:
        pieces: list[str | Tag] = []
        end = 0
        for match in self.written.finditer(text):
            name = named(match[0], self.terms)
            if name is None or name.id in self.seen:
                continue
            self.seen.add(name.id)
            link = Tag(name="a")
            link["class"] = "term"
            link["href"] = f"/reference/glossary/#{name.id}"
            link["title"] = as_plain(getattr(name, f"meaning_{self.lang}"))
            link.string = match[0]
            pieces += [text[end : match.start()], link]
            end = match.end()
        if pieces:
            text.replace_with(*pieces, text[end:])


def add_provenance_switch(article: Article) -> None:
    """Add the switch where a page has bound figures, hidden until a script wakes it.

    The figures themselves carry their expression; a picture has a list of them below.
    """
    content = article.content
    bound = having(content, "data-is") or of_class(content, "provenance")
    if bound:
        box = content.find("section", class_="answer")
        place = box if isinstance(box, Tag) else content
        place.extend(fragment(fill("page.provenance_switch", article.lang)))


def add_reading(article: Article, pages: Sequence[Answer]) -> None:
    """Begin a page with what to read first; a page of the course with all steps too.

    A step says how long it takes, besides.
    """
    known = {answer.page: answer for answer in pages}
    if article.id not in known:
        return
    here, steps = known[article.id], list[Answer]()
    if STEP.match(here.title):
        steps = [each for each in pages if STEP.match(each.title)]
    before = [known[need] for need in here.needs if need in known]
    time = minutes(article.content) if steps else 0
    if not (time or before):
        return
    html = fill("page.reading", article.lang, steps, article.id, before, time)
    article.prepend(html)


def minutes(content: Tag) -> int:
    """How long a page takes to read, without its code and what is folded.

    At 300 Chinese characters or 200 words a minute.
    """
    text = " ".join(_unfolded(content))
    characters = len(HAN_CHARACTER.findall(text))
    english = len(LATIN_LETTERS.findall(text))
    return max(1, round(characters / 300 + english / 200))


def _unfolded(tag: Tag) -> Iterator[str]:
    for node in tag.children:
        if isinstance(node, Tag) and node.name not in ("pre", "details"):
            yield from _unfolded(node)
        elif type(node) is NavigableString:
            yield node


def add_threads(article: Article, every: Sequence[Answered]) -> None:
    """End a page with the threads that it answers."""
    here = [each for each in every if each.page == article.id]
    if here:
        article.append(fill("page.threads", article.lang, here, FEW))


def add_aliases(article: Article, others: Sequence[str]) -> None:
    """The other wordings of a question; the search has them from the front matter."""
    if others:
        article.append(fill("page.aliases", article.lang, others))


def add_language_notice(article: Article, twins: Twins) -> None:
    """Say how the other language stands: above the text if behind, below if alone."""
    lang, url = article.lang, article.url
    there = links.other(lang)
    if twins.state in (TwinState.MISSING_ZH, TwinState.MISSING_EN):
        # Told to those who came for the other language, so written in that one.
        missing = words(there)["no_translation"]
        article.append(fill("page.notice", there, missing, there))
        return
    ahead = TwinState.ZH_AHEAD if there == "zh" else TwinState.EN_AHEAD
    if twins.state in (ahead, TwinState.BOTH_CHANGED):
        told = fill("page.newer", lang, links.link(lang, url, there, url), there)
        article.prepend(fill("page.notice", lang, Markup(told), ""))


def add_verdict(
    article: Article, line: VerdictLine | None, notebook: links.Notebook | None
) -> None:
    """End a page with what it was verified with, or that it was not; and its notebook.

    A page without code and figures says nothing of having passed.
    """
    if line and not (line.blocks or line.figures):
        return
    meaning = links.link(article.lang, article.url, article.lang, MEANING)
    article.append(fill("page.verdict", article.lang, line, meaning, notebook))


def add_moved(article: Article, moved: Sequence[Moved]) -> None:
    """Lead on from the ids that stood here, unseen unless a reader was sent to one."""
    for part in reversed(moved):
        article.prepend(fill("page.moved", article.lang, *part))


def make_relative(article: Article) -> None:
    """Make links that begin at the root of the language work at any address."""
    for link in tags(article.content, "a"):
        href = str(link.get("href"))
        if href.startswith("/"):
            link["href"] = links.relative(href, article.url)


def name_landmarks(soup: Tag) -> None:
    """Name a group of pages by its title.

    The theme does so by the label that opens it; where the group has a page of its own
    that label is an arrow without a word.
    """
    for nav in tags(soup, "nav"):
        if not str(nav.get("aria-labelledby")).endswith("_label"):
            continue
        title = nav.find("label", class_="md-nav__title", recursive=False)
        if isinstance(title, Tag):
            name = str(nav["aria-labelledby"]).removesuffix("_label") + "_title"
            nav["aria-labelledby"] = title["id"] = name
