"""Sybil over ``docs/``: every fence and every figure of every page is an example.

A pytest plugin (``-p tests.pages``), because a conftest in ``tests/`` is not asked
about files in ``docs/``. All judgements are in ``site_tools``; this module only
hands Sybil's regions to them. Without the option ``--device`` pages run on the CPU,
whatever the machine has; there the pages that passed are noted, for the site.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.typing import Parser
from xdist.scheduler import LoadFileScheduling

from site_tools.judge.all import check_pair, check_written, unreadable
from site_tools.judge.census import collect
from site_tools.judge.figures import check_figures, check_plots
from site_tools.judge.languages import twin_path
from site_tools.judge.outputs import check_block
from site_tools.messages import Problem
from site_tools.page.page import Page, read_page
from site_tools.run.execution import CPU, RunningPage, Verified
from site_tools.run.passed import tell
from site_tools.source.blocks import Block, Kind, blocks_of
from site_tools.source.files import text_of
from tests.devices import refuse
from tests.layout import ROOT
from tests.verdicts import Verdicts


class PageDocument(Document):
    """A page: read once, run once, when its first example is evaluated."""

    data: bytes = b""
    device: ClassVar[str] = CPU
    started: ClassVar[dict[str, RunningPage]] = {}  # a language of each page

    @classmethod
    def parse(
        cls, path: str, *parsers: Parser, encoding: str = "utf-8"
    ) -> "PageDocument":
        """Like Sybil's own; a character that is no text is left to the checks."""
        document = cls(text_of(Path(path)), path)
        document.data = Path(path).read_bytes()
        for region in chain.from_iterable(parser(document) for parser in parsers):
            document.add(region)
        return document

    @property
    def name(self) -> str:
        """The path within the project."""
        return Path(self.path).relative_to(ROOT).as_posix()

    @cached_property
    def page(self) -> Page:
        return read_page(ROOT, self.name, self.text)

    @cached_property
    def running(self) -> RunningPage:
        twin = self.started.get(self.page.id)
        running = RunningPage(self.page, device=self.device, twin=twin)
        self.started.setdefault(self.page.id, running)
        return running

    @cached_property
    def verified(self) -> Verified:
        return self.running.verified

    def examples(self) -> Iterator[Example]:
        """Like Sybil's own, whose column is wrong for the second example on a line."""
        for start, region in self.regions:
            line = self.text.count("\n", 0, start) + 1
            column = start - self.text.rfind("\n", 0, start)
            yield Example(self, line, column, region, self.namespace)


def whole_page(document: PageDocument) -> Iterable[Region]:
    """What concerns the page as a whole: its shape, the census, its twin."""
    yield Region(0, 0, "page", judge_page)
    # A pair is compared once, at its Chinese page, so that a slip is told once.
    zh = document.name.startswith("docs/zh/")
    if zh or not (ROOT / twin_path(document.name)).is_file():
        yield Region(0, 0, "languages", judge_languages)


def fences(document: PageDocument) -> Iterable[Region]:
    """Every fence that Sybil's lexer finds, of which those that run are examples."""
    # Each worker collects every page: what takes long is left to the run.
    found, _ = blocks_of(ROOT, document.name, document.text)
    blocks = {block.fence.line: block for block in found}
    for start, end, fence in collect(document.text):
        block = blocks.get(fence.line)
        if block and (block.runs or block.kind is Kind.NORUN):
            yield Region(start, end, block, judge_block)


def figures(document: PageDocument) -> Iterable[Region]:
    """All figures, in the prose and in its pictures."""
    if "data-is" in document.text or ".svg" in document.text:
        yield Region(0, 0, "figures", judge_figures)


def judge_page(example: Example) -> None:
    page, document = example.document.page, example.document
    _ = document.running  # in its child, while this process reads on
    _fail(unreadable(page, document.data))
    _fail([*check_written(page), *check_plots(document.verified)])


def judge_languages(example: Example) -> None:
    page = example.document.page
    twin = twin_path(page.path)
    if not (ROOT / twin).is_file():
        pytest.skip(f"{twin} is not written yet: the languages are not compared")
    _fail(check_pair(page))


def judge_block(example: Example) -> None:
    block: Block = example.parsed
    if block.reason is not None:
        pytest.skip(block.reason)
    problem = check_block(example.document.verified, block)
    _fail([problem] if problem else [])


def judge_figures(example: Example) -> None:
    _fail(check_figures(example.document.verified))


def _fail(problems: list[Problem]) -> None:
    """In the words of the problems alone, without where Sybil or pytest was."""
    if problems:
        pytest.fail("\n".join(map(str, problems)), pytrace=False)


class Pages(Sybil):
    """Names an example by what it is, in place of a line and a column."""

    def identify(self, example: Example) -> str:
        match example.parsed:
            case Block():
                return f"block at line {example.line}"
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        default=CPU,
        help="where the blocks of the pages run: cpu, or a GPU as cuda or cuda:1",
    )


def pytest_configure(config: pytest.Config) -> None:
    device = config.getoption("device")
    if device != CPU and (refusal := refuse(device)):
        raise pytest.UsageError(f"{refusal}; without --device pages run on the CPU")
    PageDocument.device = device
    hears_all = not hasattr(config, "workerinput")
    runs_pages = any(Path(name).parts[:1] == ("docs",) for name in config.args)
    if hears_all and runs_pages and device == CPU:
        config.pluginmanager.register(Verdicts(ROOT), "verdicts")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell of a page that has run, with the report of its judge."""
    report = yield
    example = getattr(item, "example", None)
    if call.when == "call" and example and example.parsed == "page":
        document = example.document
        if "verified" in vars(document):
            examples = sum(1 for _ in document.examples())
            told = {"examples": examples, "verified": tell(document.verified)}
            report.user_properties.append(("page", told))
    return report


class ByPage(LoadFileScheduling):
    """Of several processes one runs a whole file, and both languages of a page."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return re.sub(r"^docs/(zh|en)/", "docs/", file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByPage | None:
    return ByPage(config, log) if config.getvalue("dist") == "loadfile" else None


def pages_of(root: Path) -> set[Path]:
    return {p for lang in ("zh", "en") for p in (root / "docs" / lang).rglob("*.md")}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """In a run of the whole project, no page may have been left out."""
    if "docs" not in config.args:
        return
    pages = pages_of(ROOT)
    left_out = pages - {item.path for item in items}
    if left_out or not pages:
        names = sorted(str(p.relative_to(ROOT)) for p in left_out)
        raise pytest.UsageError(f"pages that no example was collected from: {names}")
