"""A published page: one style sheet for all of them, and a policy of what may run.

The sheets of the theme and of the site become one, without the rules that no page can
need. What the first screen needs stands in every page; the sheet is linked behind the
first words, so that they are shown before it has come.
"""

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable

from bs4 import BeautifulSoup, Tag

CSS_BLANKS = re.compile(r"\s+(?=[{}])|(?<=[{};])\n\s*|(?<=[{}])\s+|/\*#.*?\*/")
FONT = re.compile(r"url\((?=fonts/)")
STYLE_RULE = re.compile(r"(?P<selectors>[^{}@]+)\{[^{}]*\}")
EMPTY = re.compile(r"@media[^{}]*\{\}")
COMMA = re.compile(r",(?![^(]*\))")  # between selectors, not within :is(...)
# Either of what stands in brackets will do, and none of what :not(...) holds is needed.
NOT_NEEDED = re.compile(r":[\w-]+\([^()]*(?:\([^()]*\)[^()]*)*\)|\"[^\"]*\"")
CLASS_NAME = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
# A quoted value may hold a semicolon, as the pictures do that a theme has in its sheet.
PROPERTY = re.compile(
    r"""(?<=[{;])\s*(--[\w-]+)\s*:(?:"[^"]*"|'[^']*'|[^{};"'])*(?:;|(?=\}))"""
)
PROPERTY_NAME = re.compile(r"--[\w-]+")
ASKED_FOR = re.compile(r"var\(\s*(--[\w-]+)")
# Both languages run from left to right, and a task list is shown as an exercise.
NEVER_SHOWN = ("[dir=rtl]", ".task-list")
CLASS_VALUES = re.compile(r'class="([^"]*)"')
WHOLE_PAGE = re.compile(r":root\{[^{}]*\}")
ANY_WORD = re.compile(r"[\w-]+")
# Colours of the theme, and what mkdocstrings has for every theme.
UNUSED = ("palette.", "_mkdocstrings.css")
# What stands before the sheet is shown before it has come: plain words alone.
NOT_PLAIN = ["code", "ol"]
CHOOSES_TAB = re.compile(r"\Avar (?:tabs|target)=")  # as the page is read
LINE_ENDS = re.compile(r"[ \t]*\n\s*")
SHEET = "assets/site.css"  # of which the published name has a digest
# Attributes of style are allowed: formulas and plots place their parts by them. A
# browser that does not know style-src-elem takes style-src for both.
POLICY = (
    "default-src 'none'; script-src 'self'{script}; style-src 'self' 'unsafe-inline'; "
    "style-src-elem 'self'{style}; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'"
)


def class_names(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """The classes of pages, and every word that may name a class or a property."""
    found = {word for text in scripts for word in ANY_WORD.findall(text)}
    for text in pages:
        found.update(
            *map(str.split, CLASS_VALUES.findall(text)), PROPERTY_NAME.findall(text)
        )
    return found


def sheet(styles: Iterable[tuple[str, str]], known: Collection[str]) -> str:
    """One sheet of many, each with the way to its fonts.

    It has no rules for unknown classes, and no properties that nothing asks for.
    """

    def needed(match: re.Match[str]) -> str:
        selectors = COMMA.split(match["selectors"])
        ours = [one for one in selectors if _is_needed(one, known)]
        return match[0].replace(match["selectors"], ",".join(ours)) if ours else ""

    whole = "".join(FONT.sub(f"url({way}", squeeze(css)) for way, css in styles)
    return _asked_for(_last_said(EMPTY.sub("", STYLE_RULE.sub(needed, whole))), known)


def _last_said(css: str) -> str:
    """The sheet without properties of the whole page that it sets once more below."""
    last: dict[str, int] = {}  # by property, where the rule begins
    for rule in WHOLE_PAGE.finditer(css):
        last |= {one[1]: rule.start() for one in PROPERTY.finditer(rule[0])}

    def lean(rule: re.Match[str]) -> str:
        begun = rule.start()
        return PROPERTY.sub(
            lambda one: one[0] if last[one[1]] == begun else "", rule[0]
        )

    return WHOLE_PAGE.sub(lean, css)


def _asked_for(css: str, known: Collection[str]) -> str:
    """The sheet without properties of its own that neither it nor a page asks for.

    One that is left out may have been the only one to ask for another.
    """
    asked = {*ASKED_FOR.findall(css), *known}
    lean = PROPERTY.sub(lambda one: one[0] if one[1] in asked else "", css)
    return css if lean == css else _asked_for(lean, known)


def squeeze(css: str) -> str:
    return CSS_BLANKS.sub("", css.strip())


def _is_needed(selector: str, known: Collection[str]) -> bool:
    if any(part in selector for part in NEVER_SHOWN):
        return False
    classes = CLASS_NAME.findall(NOT_NEEDED.sub("", selector))
    return all(name in known for name in classes)


def sheets(soup: BeautifulSoup) -> list[Tag]:
    """The links of a page to style sheets of the site."""
    found = soup.find_all("link", rel="stylesheet", href=True)
    return [link for link in found if ":" not in str(link["href"])]


def drop_unused(soup: BeautifulSoup) -> None:
    """Leave out sheets of the theme: site.css has what pages show of them."""
    for link in sheets(soup):
        if any(name in str(link["href"]) for name in UNUSED):
            link.decompose()


def trim(soup: BeautifulSoup) -> None:
    """Leave out what no reader sees: blanks around the article, the generator's name.

    In an article blanks may be code.
    """
    for meta in soup.find_all("meta", attrs={"name": "generator"}):
        meta.decompose()
    if not soup.find(class_="tabbed-set"):
        for script in soup.find_all("script", string=CHOOSES_TAB):
            script.decompose()
    for span in soup.select("pre span[class=n], pre span[class=w]"):
        span.unwrap()  # names and blanks have the colour of all the rest
    settings = soup.find(id="__config")
    if isinstance(settings, Tag):
        known = json.loads("".join(map(str, settings.contents)))
        text = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
        settings.string = text.replace("<", r"\u003c")  # it may end no tag
    for text in soup.find_all(string=LINE_ENDS):
        if not text.find_parent(["article", "pre"]):
            text.replace_with(type(text)(LINE_ENDS.sub("\n", text)))


def link_formulas(soup: BeautifulSoup) -> None:
    """Link the styles of formulas as KaTeX is published, while the site is written."""
    linked = sheets(soup)
    if linked and soup.find(class_="arithmatex"):
        root = str(linked[0]["href"]).partition("assets/")[0]
        href = f"{root}assets/katex/katex.css"
        link = soup.new_tag("link", attrs={"rel": "stylesheet", "href": href})
        linked[-1].insert_after(link)


def link_sheet(soup: BeautifulSoup, first: str) -> None:
    """Put the first styles into a page, and the link to the sheet behind its beginning.

    The sheet lies in the folder ``assets`` of the page's language.
    """
    linked, title = sheets(soup), soup.select_one("article > h1")
    if not linked:
        return
    root = str(linked[0]["href"]).partition("assets/")[0]
    link = soup.new_tag("link", attrs={"rel": "stylesheet", "href": root + SHEET})
    if title is None or not _is_plain(title):
        linked[0].insert_before(link)
    else:
        styles = soup.new_tag("style")
        styles.string = first
        linked[0].insert_before(styles)
        _beginning(title).insert_after(link)
    for each in linked:
        each.decompose()


def _beginning(title: Tag) -> Tag:
    """The last of the plain paragraphs that a page begins with."""
    last = title
    following = _next(title)
    begins = following and "reading" in following.get_attribute_list("class")
    if following and begins and _is_plain(following):
        last, following = following, _next(following)
    if following and "answer" in following.get_attribute_list("class"):
        heading = following.find("h2", recursive=False)
        if not isinstance(heading, Tag) or not _is_plain(heading):
            return last
        last, following = heading, _next(heading)
    while following and following.name == "p" and _is_plain(following):
        if following.attrs:
            break
        last, following = following, _next(following)
    return last


def _next(tag: Tag) -> Tag | None:
    found = tag.find_next_sibling(True)
    return found if isinstance(found, Tag) else None


def _is_plain(tag: Tag) -> bool:
    return not tag.find(NOT_PLAIN) and not tag.find(class_="arithmatex")


def add_policy(soup: BeautifulSoup) -> None:
    """Say in a page what it may load and run: the inline scripts of the theme alone.

    What stands in an article was written on a page, and none of it may run.
    """
    hashes: dict[str, dict[str, None]] = {"script": {}, "style": {}}
    for tag in soup.find_all(["script", "style"]):
        if tag.find_parent("article") or tag.get("src") or tag.get("type"):
            continue
        # Not its strings: a style that has been put in is none of those.
        content = "".join(map(str, tag.contents))
        digest = hashlib.sha256(content.encode()).digest()
        hashes[tag.name][f" 'sha256-{base64.b64encode(digest).decode()}'"] = None
    charset = soup.find("meta", charset=True)
    if not isinstance(charset, Tag):
        raise ValueError(f"a page must say its charset, got {str(soup)[:80]!r}")
    policy = POLICY.format(**{kind: "".join(found) for kind, found in hashes.items()})
    attributes = {"http-equiv": "Content-Security-Policy", "content": policy}
    charset.insert_after("\n", soup.new_tag("meta", attrs=attributes))


def describe(soup: BeautifulSoup, about: str) -> None:
    """Say in the head what a search result and a share card say of the page."""
    title = soup.find("meta", property="og:title")
    if isinstance(title, Tag) and about:
        for key, name in (("property", "og:description"), ("name", "description")):
            title.insert_after(
                "\n", soup.new_tag("meta", attrs={key: name, "content": about})
            )
