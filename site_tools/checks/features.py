"""What a page consists of besides its words, so that two languages can be compared."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from site_tools.numbers import find
from site_tools.page.notebooks import in_no_language, is_notebook
from site_tools.page.page import Page
from site_tools.page.prose import HEADING as HEADING
from site_tools.page.prose import line_of, parts

CONTAINER = re.compile(
    r'^(?P<indent>[ ]*)(?P<kind>(?:[!?]{3}\+?[ ]\w+|===))(?:[ ]"(?P<title>[^"\n]*)")?',
    re.M,
)
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
    rows: tuple[int, ...] = ()  # the lines of its value, where they are not in a row

    def at(self, row: int) -> int:
        """The line of the page on which a line of the value stands, or would."""
        if self.rows:
            return self.rows[min(row, len(self.rows) - 1)]
        return self.line + row


def features(page: Page) -> Iterator[Feature]:
    """Everything on a page that its twin must have too."""
    starts = [(line_of(page.body, m.start()), m["id"]) for m in _sections(page.body)]

    def feature(kind: str, line: int, value: str, *rows: int) -> Feature:
        section = next((i for at, i in reversed(starts) if at <= line), None)
        return Feature(kind, line, value, section or "the top", rows)

    for match in HEADING.finditer(page.body):
        line = line_of(page.body, match.start())
        yield feature("heading", line, f"{match['level']} {{ #{match['id']} }}")
    for block in page.blocks:
        info = PROSE_OPTIONS.sub("", block.fence.info)
        indent = _indent(page.text, block.fence.line)
        code = in_no_language(block.text) if is_notebook(page.id) else block.text
        value = f"{indent}```{info}\n{code}"
        first = block.fence.line
        rows = (line.page_line for line in block.lines)
        yield feature("code block", first, value, first, *rows)
    for part in parts(page.body):
        line = line_of(page.body, part.start)
        if part.kind == "display":
            yield feature("displayed formula", line, " ".join(part.text.split()))
        elif part.kind == "inline":
            yield feature("formula", line, part.text.replace(" ", ""))
        elif part.kind == "target" and not _is_image(page.body, part.start):
            yield feature("link", line, part.text)
        elif part.kind == "code" and not part.attributes:
            yield feature("inline code", line, f"`{part.text}`")
        elif part.kind == "quote":
            quoted = page.body[part.start : part.end]
            for number in find(quoted):
                yield feature("quoted figure", line, number.text)
    for figure in page.figures:
        shown = figure.shown.replace(" ", "")
        yield feature("figure", figure.line, f"{shown} = {figure.expression}")
    for match in IMAGE.finditer(page.body):
        yield feature("picture", line_of(page.body, match.start()), match["file"])
    for match in CONTAINER.finditer(page.body):
        known = [ref for ref in page.sources if (match["title"] or "").endswith(ref)]
        box = " ".join([match["indent"] + match["kind"], *known[:1]])
        yield feature("box", line_of(page.body, match.start()), box)
    for match in ROW.finditer(page.body):
        bound = ", ".join(re.findall(r"`[^`]+`\{[^}]*\}", match[0]))
        cells = f"{match[0].count('|') - 1} cells {bound}".strip()
        yield feature("table row", line_of(page.body, match.start()), cells)


def _indent(text: str, line: int) -> str:
    start = text.splitlines()[line - 1]
    return start[: len(start) - len(start.lstrip(" \t>"))]


def _sections(body: str) -> list[re.Match[str]]:
    return [match for match in HEADING.finditer(body) if match["id"]]


def _is_image(body: str, start: int) -> bool:
    opening = body.rfind("[", 0, start)
    return opening > 0 and body[opening - 1] == "!"
