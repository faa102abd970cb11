"""Runs the pages that should notice a mutant of ppo_ref, in a process that has it.

Every mutant has a process of its own, forked from one that has torch and not
ppo_ref. There all of the package is imported first: a mutant that breaks an import is
no mutant but a mistake, and told as one. Only then do the pages run, so that what
fails is a block or a figure of theirs; a block that ends for want of a name, a module
or time counts as a mistake too.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path

from site_tools.mutants.edits import Edit, apply, parse
from site_tools.running import verification
from site_tools.running.judgement import check_run
from site_tools.running.output_check import MISTAKES
from site_tools.source.page import Page, read_page
from tests.mutants.importing import fork_here, install

ROOT = Path(__file__).resolve().parents[2]
TABLE = "tests/mutants/package.yml"
FORK = multiprocessing.get_context("fork")
NO_KILL = {*MISTAKES, "NotRun", "TimeLimit", "ProcessEnded"}
AT_ONCE = 2


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: by page what failed first, or None.

    ``mistake`` says why it is no mutant at all.
    """

    name: str
    pages: dict[str, str | None]
    mistake: str | None = None

    @property
    def killed(self) -> bool:
        return any(self.pages.values())


def table() -> list[Edit]:
    return parse((ROOT / TABLE).read_text("utf-8"), TABLE)


def preload() -> None:
    """What takes seconds to import and does not know ppo_ref."""
    import matplotlib.pyplot  # noqa: F401
    import torch._dynamo

    torch.set_num_threads(1)


def judge_all(
    edits: Sequence[Edit], tell: Callable[[Verdict], None] = lambda _: None
) -> list[Verdict]:
    """The verdict on each mutant, some at once."""
    preload()
    verdicts: dict[str, Verdict] = {}
    waiting, running = list(edits), {}
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            edit = waiting.pop(0)
            results, theirs = FORK.Pipe(duplex=False)
            child = FORK.Process(target=_child, args=(edit, theirs))
            child.start()
            theirs.close()
            running[results] = edit, child
        for results in wait(running):
            edit, child = running.pop(results)
            verdicts[edit.name] = _received(edit, results)
            child.join()
            tell(verdicts[edit.name])
    return [verdicts[edit.name] for edit in edits]


def _received(edit: Edit, results) -> Verdict:
    try:
        return results.recv()
    except EOFError:
        return Verdict(edit.name, {}, "its process ended")


def _child(edit: Edit, results) -> None:
    try:
        in_package = edit.file.startswith("ppo_ref/")
        if in_package:
            install(edit)
        fork_here()

        found = {}
        for page_id in edit.pages:
            page = read_page(ROOT, f"docs/en/{page_id}.md")
            page = page if in_package else with_edit(page, edit)
            found[page_id] = noticed(page)
        results.send(Verdict(edit.name, found))
    except Exception as error:
        results.send(Verdict(edit.name, {}, f"{type(error).__name__}: {error}"))


def noticed(page: Page) -> str | None:
    """The first thing on a page that does not hold; None if all does.

    Raises:
        ValueError: if a block fails for a reason that says nothing of the mutant.
    """
    run = verification.start(page).wait()
    problems = check_run(verification.Verified(page, run))
    if not problems:
        return None
    for result in run.results:
        if result.failure and result.failure.type in NO_KILL:
            raise ValueError(f"{page.id}: {result.failure.type} is no verdict")
        if result.failure:
            break  # what comes after it lacks its names
    return " ".join(problems[0].found.split())[:100]


def with_edit(page: Page, edit: Edit) -> Page:
    """The page with the mutant in a block of its own."""
    blocks, changed = [], 0
    for block in page.blocks:
        code = "\n".join(line.text for line in block.lines)
        if block.runs and edit.old in code:
            texts = apply(edit, code).split("\n")
            lines = zip(block.lines, texts, strict=True)
            lines = tuple(replace(line, text=text) for line, text in lines)
            block, changed = replace(block, lines=lines), changed + 1
        blocks.append(block)
    if changed != 1:
        raise ValueError(f"{edit.name}: must change one block of {page.id}")
    return replace(page, blocks=tuple(blocks))
