"""A page set running, and the page that has run.

The code of both languages of a page is the same. Where nothing in it draws random
numbers, it does the same under any seed: one language then runs, and the other takes
over what it did.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from site_tools.messages import LANGUAGES
from site_tools.page.figures import Figure
from site_tools.page.page import Page
from site_tools.page.pictures import is_notebook
from site_tools.run.results import SECONDS_PER_BLOCK, PageToRun, Run, Source
from site_tools.run.standing import places
from site_tools.run.worker import Running
from site_tools.source.blocks import Block, Copy

CPU = "cpu"
# At module level.
DEVICE = re.compile(r'^(?P<start>device = )"cpu"(?=[ ]*(?:#.*)?$)', re.M)


@dataclass(frozen=True)
class Verified:
    """A page that has run: a result per block, a value per figure."""

    page: Page
    run: Run

    @property
    def running(self) -> list[Block]:
        """The blocks that ran, in order."""
        return [block for block in self.page.blocks if block.runs]

    @cached_property
    def copies(self) -> list[Copy]:
        """The copies that ran, functions of ``ppo_ref`` on the page among them."""
        return running_copies(self.page)

    @cached_property
    def figures(self) -> list[tuple[str, Figure]]:
        """The figures of the prose and of the pictures, with the file of each."""
        return all_figures(self.page)

    def number(self, block: Block) -> int:
        """The place of a block among those that ran."""
        return [copy.block for copy in self.copies].index(block)


class RunningPage:
    """A page under way.

    ``twin`` is the same page in the other language, if that is under way too. Where
    both ask for the same, this one waits for what the twin's run gives, and runs itself
    only if random numbers were drawn, for a second seed.
    """

    def __init__(
        self,
        page: Page,
        seconds: float = SECONDS_PER_BLOCK,
        device: str = CPU,
        twin: "RunningPage | None" = None,
    ) -> None:
        self.page = page
        self.asked = page_to_run(page, seconds, device)
        self._twin: RunningPage | None = None
        self._running: Running | None = None
        if twin and replace(twin.asked, seed=self.asked.seed) == self.asked:
            self._twin = twin
        else:
            self._running = Running(self.asked)

    @cached_property
    def verified(self) -> Verified:
        """The page that has run; this waits for it."""
        if self._twin:
            shared = self._twin.verified.run
            if not shared.drew:
                return Verified(self.page, shared)
            self._running = Running(self.asked)
        assert self._running
        return Verified(self.page, self._running.wait())


def run_page(page: Page, seconds: float = SECONDS_PER_BLOCK) -> Verified:
    """Run the blocks of a page and evaluate the expressions of its figures."""
    return RunningPage(page, seconds).verified


def start_pages(pages: Sequence[Page]) -> list[RunningPage]:
    """Set pages running, the two languages of one together."""
    started: dict[str, RunningPage] = {}
    running = []
    for page in pages:
        running.append(RunningPage(page, twin=started.get(page.id)))
        started.setdefault(page.id, running[-1])
    return running


def page_to_run(page: Page, seconds: float, device: str) -> PageToRun:
    """The blocks and expressions of a page, to run on a device as in ``cuda:1``."""
    once = is_notebook(page.id)
    sources = []
    for copy in running_copies(page):
        classes, lines = copy.block.classes, copy.block.lines
        alone = f"{copy.text}\n" if copy.lines != lines else ""
        text = "\n".join(line.text for line in lines) + "\n"
        source = Source(
            on_device(text, device),
            continues=once or "cont" in classes,
            raises="raises" in classes,
            copied=on_device(alone, device),
        )
        sources.append(source)
    expressions = sorted({figure.expression for _, figure in all_figures(page)})
    after = [] if once else places(running_copies(page), expressions)
    return PageToRun(
        sources,
        expressions,
        after,
        seed=LANGUAGES.index(page.language),
        seconds=seconds,
        once=once,
        cuda=device_type(device) == "cuda",
    )


def all_figures(page: Page) -> list[tuple[str, Figure]]:
    """The figures of a page and of its pictures, with the file of each."""
    found = []
    for path, figures in [(page.path, page.figures), *page.pictures.items()]:
        for figure in figures:
            found.append((path, figure))
    return found


def running_copies(page: Page) -> list[Copy]:
    """The copies of the blocks that run."""
    return [copy for copy in page.copies if copy.block.runs]


def on_device(code: str, device: str) -> str:
    """The code of a block, for a device; its lines stay where they are."""
    return DEVICE.sub(rf'\g<start>"{device}"', code)


def device_type(device: str) -> str:
    """A device without its number: ``cuda`` of ``cuda:1``."""
    return device.partition(":")[0]
