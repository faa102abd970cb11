"""Every code fence is accounted for: the page, Sybil and the built HTML agree."""

from html.parser import HTMLParser
from textwrap import dedent

from site_tools.page.blocks import Block, Kind
from site_tools.page.fences import Fence
from site_tools.page.page import Page
from site_tools.problems import Problem


class _Boxes(HTMLParser):
    """Collects the text of every code box."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("pre", "code"):
            if tag == "code" and self._open == ["pre"]:
                self.texts.append("")
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("pre", "code") and self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open == ["pre", "code"]:
            self.texts[-1] += data


def boxes(html: str) -> list[str]:
    """The text of every code box of a built page, in order."""
    parser = _Boxes()
    parser.feed(html)
    return parser.texts


def check_collected(page: Page, collected: list[Fence]) -> list[Problem]:
    """Compare the fences of the line scan with those that Sybil collected."""
    scanned = {fence.line: fence for fence in page.fences}
    lexed = {fence.line: fence for fence in collected}
    return [
        Problem(
            page.path,
            line,
            f"a fence that {'the line scan' if line in scanned else 'Sybil'} reads as "
            f"{_one(scanned.get(line) or lexed[line])}",
            f"the same from Sybil and the line scan, got {_one(lexed.get(line))}"
            if line in scanned
            else "the same from the line scan, got nothing",
            "close the fence with as many marks as it opens with, at the same indent",
        )
        for line in sorted(scanned.keys() | lexed.keys())
        if _read(scanned.get(line)) != _read(lexed.get(line))
    ]


def _read(fence: Fence | None) -> tuple[str, str] | None:
    if fence is None:
        return None
    return fence.info, dedent("\n".join(fence.lines)).strip("\n")


def _one(fence: Fence | None) -> str:
    return f"```{fence.info} with {len(fence.lines)} lines" if fence else "nothing"


def check_boxes(page: Page, html: str) -> list[Problem]:
    """Compare the blocks of a page with the code boxes that readers see."""
    shown = [text.strip("\n") for text in boxes(html)]
    pairs = zip(page.blocks, page.copies, strict=True)
    boxed = [(block, copy.text) for block, copy in pairs if block.has_box]
    for number, (block, copied) in enumerate(boxed):
        expected = copied if block.kind is Kind.SOURCE else block.text
        if number == len(shown):
            return [_not_shown(page, block, expected)]
        if _bare(shown[number]) != _bare(expected):
            return [_not_shown(page, block, expected, shown[number])]
    extra = shown[len(boxed) :]
    if not extra:
        return []
    return [
        Problem(
            page.path,
            _line_of(page, extra[0]),
            f"a code box that no fence makes: {extra[0].strip()[:60]}",
            "code in fences only",
            "write a ```python fence, or take the indentation of 4 spaces away",
        )
    ]


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def _line_of(page: Page, text: str) -> int:
    first = text.strip().splitlines()[0] if text.strip() else ""
    lines = enumerate(page.body.splitlines(), 1)
    return next((n for n, line in lines if first and first in line), 1)


def _not_shown(
    page: Page, block: Block, expected: str, shown: str | None = None
) -> Problem:
    return Problem(
        page.path,
        block.fence.line,
        "a fence that readers do not see as a code box"
        if shown is None
        else f"readers see\n{shown}",
        f"a code box with\n{expected}",
        "leave an empty line above the fence and indent it like its surroundings",
    )
