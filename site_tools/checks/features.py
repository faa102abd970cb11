"""What a page consists of besides its words, so that two languages can be compared."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from site_tools.source.page import Page
from site_tools.source.prose import line_of, parts

HEADING = re.compile(
    r"^(?P<level>#{1,6})[ ].*?(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?$", re.M
)
CONTAINER = re.compile(r'^[ ]*(?P<kind>(?:[!?]{3}\+?[ ]\w+|===))(?=[ \n"])', re.M)
IMAGE = re.compile(r"!\[[^\]]*\]\((?P<file>[^)\s]+)\)")
ROW = re.compile(r"^[ ]*\|.*\|[ ]*$", re.M)
PROSE_OPTIONS = re.compile(r'\s*(?:title|data-reason|data-language)="[^"]*"')


@dataclass(frozen=True)
class Feature:
    """Something that both languages must have: what it is, where, and its value."""

    kind: str
    line: int
    value: str
    section: str


def features(page: Page) -> Iterator[Feature]:
    """Everything on a page that its twin must have too."""
    starts = [(line_of(page.body, m.start()), m["id"]) for m in _sections(page.body)]

    def feature(kind: str, line: int, value: str) -> Feature:
        section = next((i for at, i in reversed(starts) if at <= line), None)
        return Feature(kind, line, value, section or "the top")

    for match in HEADING.finditer(page.body):
        line = line_of(page.body, match.start())
        yield feature("heading", line, f"{match['level']} {{ #{match['id']} }}")
    for block in page.blocks:
        info = PROSE_OPTIONS.sub("", block.fence.info)
        yield feature("code block", block.fence.line, f"```{info}\n{block.text}")
    for part in parts(page.body):
        line = line_of(page.body, part.start)
        if part.kind == "display":
            yield feature("displayed formula", line, " ".join(part.text.split()))
        elif part.kind == "inline":
            yield feature("formula", line, part.text.replace(" ", ""))
        elif part.kind == "target" and not _is_image(page.body, part.start):
            yield feature("link", line, part.text)
    for figure in page.figures:
        shown = figure.shown.replace(" ", "")
        yield feature("figure", figure.line, f"{shown} = {figure.expression}")
    for kind, pattern, group in (
        ("picture", IMAGE, "file"),
        ("box", CONTAINER, "kind"),
    ):
        for match in pattern.finditer(page.body):
            yield feature(kind, line_of(page.body, match.start()), match[group].strip())
    for match in ROW.finditer(page.body):
        cells = match[0].count("|") - 1
        yield feature("table row", line_of(page.body, match.start()), f"{cells} cells")


def _sections(body: str) -> list[re.Match[str]]:
    return [match for match in HEADING.finditer(body) if match["id"]]


def _is_image(body: str, start: int) -> bool:
    opening = body.rfind("[", 0, start)
    return opening > 0 and body[opening - 1] == "!"
