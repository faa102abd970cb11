"""Sybil over ``docs/``: every fence and every figure of every page is an example.

A pytest plugin (``-p tests.pages``), because a conftest in ``tests/`` is not asked
about files in ``docs/``. All judgements are in ``site_tools``; this module only
hands Sybil's regions to them.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import ClassVar

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.example import SybilFailure
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer
from sybil.typing import Parser

from site_tools.checks.census import check_boxes, check_collected
from site_tools.checks.identities import check_identities
from site_tools.checks.indexed import check_indexed
from site_tools.checks.languages import compare, twin_path
from site_tools.checks.shown import check_shown
from site_tools.checks.structure import check_structure
from site_tools.checks.terms import check_terms
from site_tools.data.derived import all_names
from site_tools.html.rendering import render
from site_tools.problems import Problem
from site_tools.running import verification
from site_tools.running.devices import CPU
from site_tools.running.execution import Running
from site_tools.running.plot_check import check_plots
from site_tools.source.blocks import Block, Kind
from site_tools.source.fences import Fence
from site_tools.source.figures import Figure, check_figure
from site_tools.source.page import Page, read_page

ROOT = Path(__file__).resolve().parent.parent
LEXER = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)(?:\n|\Z)"))


class PageDocument(Document):
    """A page: read once, run once, when its first example is evaluated."""

    collected: list[Fence]
    following: "PageDocument | None" = None
    latest: ClassVar["PageDocument | None"] = None
    device: ClassVar[str] = CPU

    @classmethod
    def parse(
        cls, path: str, *parsers: Parser, encoding: str = "utf-8"
    ) -> "PageDocument":
        """Like Sybil's own; a character that is no text is left to the checks."""
        text = Path(path).read_bytes().decode(encoding, errors="replace")
        document = cls(text.replace("\r\n", "\n"), path)
        for region in chain.from_iterable(parser(document) for parser in parsers):
            document.add(region)
        if cls.latest is not None:
            cls.latest.following = document
        PageDocument.latest = document
        return document

    @cached_property
    def page(self) -> Page:
        relative = Path(self.path).relative_to(ROOT).as_posix()
        return read_page(ROOT, relative, self.text)

    @cached_property
    def running(self) -> Running:
        return verification.start(self.page, device=self.device)

    @cached_property
    def verified(self) -> verification.Verified:
        return verification.Verified(self.page, self.running.wait())

    def examples(self) -> Iterator[Example]:
        """Like Sybil's own, whose column is wrong for the second example on a line."""
        for start, region in self.regions:
            line = self.text.count("\n", 0, start) + 1
            column = start - self.text.rfind("\n", 0, start)
            yield Example(self, line, column, region, self.namespace)


class PageFailure(SybilFailure):
    """Says what the problems say, and nothing of where Sybil keeps its files."""

    def __init__(self, example: Example, problems: list[Problem]) -> None:
        AssertionError.__init__(self, "\n".join(map(str, problems)))
        self.example, self.result = example, str(self)


def whole_page(document: PageDocument) -> Iterable[Region]:
    """What concerns the page as a whole: its shape, the census, its twin."""
    yield Region(0, 0, "page", judge_page)
    # A pair is compared once, at its Chinese page, so that a slip is told once.
    if (
        document.page.language == "zh"
        or not (ROOT / twin_path(document.page.path)).is_file()
    ):
        yield Region(0, 0, "languages", judge_languages)


def fences(document: PageDocument) -> Iterable[Region]:
    """Every fence that Sybil's lexer finds; those shown inside another are not one."""
    document.collected = []
    end = 0
    for region in sorted(LEXER(document), key=lambda region: region.start):
        if region.start < end:
            continue
        end = region.end
        fence = _fence(document, region)
        document.collected.append(fence)
        block = next((b for b in document.page.blocks if b.fence.line == fence.line), 0)
        if block and (block.runs_copied or block.kind is Kind.NORUN):
            yield Region(region.start, region.end, block, judge_block)


def _fence(document: PageDocument, region: Region) -> Fence:
    line = document.text.count("\n", 0, region.start) + 1
    source = textwrap.dedent(region.lexemes["source"])
    return Fence(line, region.lexemes["info"].strip(), tuple(source.splitlines()))


def figures(document: PageDocument) -> Iterable[Region]:
    """Every figure in the prose."""
    for figure in document.page.figures:
        yield Region(figure.start, figure.start + 1, figure, judge_figure)


def judge_page(example: Example) -> None:
    page, document = example.document.page, example.document
    # Both in their children, while this process reads on.
    _ = document.running, document.following and document.following.running
    problems = [*page.problems, *check_structure(page, ROOT)]
    problems += check_collected(page, document.collected)
    problems += check_identities(page, ROOT)
    problems += check_indexed(page, ROOT)
    problems += check_terms(page, all_names(), ROOT)
    if not problems:  # else a fence that could not be read would be named twice
        html = render(page.text, ROOT)
        problems += [*check_boxes(page, html), *check_shown(page, html)]
    problems += verification.check_pictures(document.verified)
    problems += check_plots(document.verified)
    _raise(example, problems)


def judge_languages(example: Example) -> None:
    page = example.document.page
    twin = twin_path(page.path)
    if not (ROOT / twin).is_file():
        pytest.skip(f"{twin} is not written yet: the languages are not compared")
    _raise(example, compare(page, read_page(ROOT, twin)))


def judge_block(example: Example) -> None:
    block: Block = example.parsed
    if block.reason is not None:
        pytest.skip(block.reason)
    problem = verification.check_block(example.document.verified, block)
    _raise(example, [problem] if problem else [])


def judge_figure(example: Example) -> None:
    figure: Figure = example.parsed
    verified = example.document.verified
    value = verified.run.values[verified.page.figures.index(figure)]
    problem = check_figure(figure, value, verified.page.path)
    _raise(example, [problem] if problem else [])


def _raise(example: Example, problems: list[Problem]) -> None:
    if problems:
        raise PageFailure(example, problems)


class Pages(Sybil):
    """Names an example by what it is, in place of a line and a column."""

    def identify(self, example: Example) -> str:
        match example.parsed:
            case Block():
                return f"block at line {example.line}"
            case Figure(shown=shown):
                return f"{shown} at line {example.line}, column {example.column}"
        return str(example.parsed)


# `**` in a pattern does not reach every depth on Python 3.11; a bare name does.
SYBILS = [
    Pages(
        [whole_page, fences, figures],
        path=str(ROOT / "docs" / language),
        pattern="*.md",
        document_types={".md": PageDocument},
    )
    for language in ("zh", "en")
]
pytest_collect_file = (SYBILS[0] + SYBILS[1]).pytest()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """In a run of the whole project, no page may have been left out."""
    if "docs" not in config.args:
        return
    pages = {p for lang in ("zh", "en") for p in (ROOT / "docs" / lang).rglob("*.md")}
    left_out = pages - {item.path for item in items}
    if left_out or not pages:
        names = sorted(str(p.relative_to(ROOT)) for p in left_out)
        raise pytest.UsageError(f"pages that no example was collected from: {names}")
