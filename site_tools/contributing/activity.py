"""Gemini as Google Takeout exports it: activities, each a prompt and its answer.

No activity says which conversation it belongs to; those that lie close together in time
are one. Answers are HTML, and become text whose code stands in fences.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

from site_tools.contributing.artifacts import block
from site_tools.contributing.log import Turn

# What stands before a prompt in the title of its activity.
ASKED = re.compile(r"(?:Prompted|Asked|Said)(?: with:| Gemini:| Bard:)?\s+")
ABOUT = ("Gemini Apps", "Gemini", "Bard")
ONE_TALK = timedelta(minutes=30)
OUTER = "outer-cell"
BREAKS = ("p", "div", "ul", "ol", "table", "tr", "blockquote", "section", "br", "hr")
HEADING = re.compile(r"h(?P<level>[1-6])")


class Activity(NamedTuple):
    """A prompt, its answer, and when it was, where the file says it."""

    asked: str
    answered: str
    time: datetime | None


class Activities(NamedTuple):
    """The conversations of a file, and how many of its activities asked nothing."""

    talks: list[list[Turn]]
    left: int


def is_activity_page(text: str) -> bool:
    """True for MyActivity.html, of whatever app."""
    return OUTER in text and "content-cell" in text


def of_json(rows: Sequence[Any]) -> Activities | None:
    """The conversations of MyActivity.json, newest first in the file; or nothing."""
    known = [
        row for row in rows if isinstance(row, dict) and row.get("header") in ABOUT
    ]
    if not known:
        return None
    found = list[Activity]()
    for row in known:
        title = str(row.get("title") or "")
        answer = "\n\n".join(_html_of(row.get("safeHtmlItem")))
        asked = ASKED.match(title)
        if asked or answer:
            time = _time(str(row.get("time") or ""))
            prompt = title[asked.end() :] if asked else title
            found.append(Activity(prompt, as_text(answer), time))
    return Activities(_talks(found[::-1]), len(rows) - len(found))


def _html_of(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield str(item.get("html") or item.get("htmlValue") or "")


def of_html(text: str) -> Activities:
    """The conversations of MyActivity.html."""
    soup = BeautifulSoup(text, "html.parser")
    found = list[Activity]()
    cells = soup.find_all("div", class_=OUTER)
    for cell in cells:
        header = cell.find(class_="header-cell")
        body = cell.find(class_="content-cell")
        about = header.get_text().strip() if header else ""
        if about in ABOUT and isinstance(body, Tag):
            activity = _of_cell(body)
            if activity:
                found.append(activity)
    return Activities(_talks(found[::-1]), len(cells) - len(found))


def _of_cell(body: Tag) -> Activity | None:
    """An activity of a cell: the prompt, a break, the time, a break, the answer."""
    before, rest = list[str](), list[str]()
    breaks = 0
    for node in body.children:
        if isinstance(node, Tag) and node.name == "br" and breaks < 2:
            breaks += 1
        elif breaks < 2 and not (isinstance(node, Tag) and node.name in BREAKS):
            before.append(f"\n{node}" if breaks else str(node))
        else:
            breaks = 2
            rest.append(str(node))
    title = as_text("".join(before)).partition("\n")[0].replace("\xa0", " ")
    asked = ASKED.match(title)
    answer = as_text("".join(rest))
    if not (asked or answer):
        return None
    return Activity(title[asked.end() :] if asked else title, answer, None)


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def _talks(activities: Sequence[Activity]) -> list[list[Turn]]:
    """Activities in their order as conversations; each its own without a time."""
    talks = list[list[Turn]]()
    before: datetime | None = None
    for activity in activities:
        if not (before and activity.time and _close(before, activity.time)):
            talks.append([])
        turns = [Turn(True, activity.asked), Turn(False, activity.answered)]
        talks[-1] += [turn for turn in turns if turn.text.strip()]
        before = activity.time
    return talks


def _close(before: datetime, now: datetime) -> bool:
    try:
        return abs(now - before) <= ONE_TALK
    except TypeError:  # one of them says its zone, the other does not
        return False


def as_text(html: str) -> str:
    """HTML as Markdown: code in fences, lists, tables by rows; no word is lost."""
    soup = BeautifulSoup(html, "html.parser")
    try:
        text = "".join(_texts_in(soup))
    except RecursionError:  # tags in tags by the thousand: their words alone
        text = soup.get_text("\n")
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _texts_in(node: Tag) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, Tag):
            yield from _text_of_tag(child)
        elif type(child) is NavigableString:
            yield str(child)


def _text_of_tag(tag: Tag) -> Iterator[str]:
    if tag.name in ("script", "style"):
        return
    if tag.name == "pre":
        yield f"\n\n{block(tag.get_text(), _language(tag))}\n\n"
        return
    inside = "".join(_texts_in(tag))
    heading = HEADING.fullmatch(tag.name)
    if heading:
        yield f"\n\n{'#' * int(heading['level'])} {inside.strip()}\n\n"
    elif tag.name == "code":
        yield f"`{inside}`"
    elif tag.name in ("b", "strong"):
        yield f"**{inside}**"
    elif tag.name in ("i", "em"):
        yield f"*{inside}*"
    elif tag.name == "img":
        yield f"![{tag.get('alt') or 'picture'}](not-fetched)"
    elif tag.name == "li":
        yield f"\n- {inside.strip()}"
    elif tag.name in ("td", "th"):
        yield f"| {inside.strip()} "
    elif tag.name == "tr":
        yield f"\n{inside.strip()} |"
    elif tag.name == "br":
        yield "\n"
    elif tag.name in BREAKS:
        yield f"\n\n{inside}\n\n"
    else:
        yield inside


def _language(tag: Tag) -> str:
    """The language of code, as its class says it."""
    for each in (tag, *tag.find_all("code")):
        for name in each.get_attribute_list("class"):
            if str(name).startswith("language-"):
                return str(name).removeprefix("language-")
    return ""
