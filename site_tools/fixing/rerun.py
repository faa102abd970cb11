"""What is mended by running a page: figures bound to what gives them, outputs."""

from dataclasses import dataclass, replace
from pathlib import Path

from site_tools.fixing.binding import Loose, bound, loose, of_twin
from site_tools.fixing.mechanical import mended
from site_tools.fixing.namespace import candidates, gives, probing
from site_tools.fixing.outputs import Printed, renewed, stale
from site_tools.page.figures import Figure
from site_tools.page.page import LANGUAGES, Page, read_page
from site_tools.problems import Problem
from site_tools.running import verdict
from site_tools.running.verdict import Verified, check_block


@dataclass(frozen=True)
class Rerun:
    """What running a page of one language gave.

    Args:
        text: The page with its figures bound.
        renewed: The same with its outputs renewed.
        problems: What fails, and what only the author can decide.
    """

    text: str
    renewed: str
    problems: tuple[Problem, ...]


def rerun(root: Path, texts: dict[str, str]) -> dict[str, Rerun]:
    """Run the languages of a page, and mend what that shows.

    Args:
        root: The project's folder.
        texts: The text of each file of the page, mechanically mended.
    """
    pages = {path: read_page(root, path, text) for path, text in texts.items()}
    running = [
        _Started(page, next((p for p in pages.values() if p != page), None))
        for page in pages.values()
        if any(block.runs for block in page.blocks)
    ]
    return {started.page.path: _finish(root, started) for started in running}


class _Started:
    """A page under way, with what is asked of it."""

    def __init__(self, page: Page, twin: Page | None) -> None:
        self.page, self.loose = page, loose(page)
        self.shown = sorted({figure.shown for figure in self.loose})
        found = {figure: of_twin(figure, page, twin) for figure in self.loose}
        self.of_twin = {figure: e for figure, e in found.items() if e}
        asked = [Figure(f.start, 0, f.shown, e) for f, e in self.of_twin.items()]
        probed = probing(page, self.shown)
        self.probed = replace(probed, figures=(*page.figures, *asked))
        self.child = verdict.start(self.probed)


def _finish(root: Path, started: _Started) -> Rerun:
    run = Verified(started.probed, started.child.wait())
    text, problems = started.page.text, list[Problem]()
    if not stale(Verified(started.page, run.run))[1]:
        text, problems = _bound(root, started.page, _known(started, run))
    after = Verified(read_page(root, started.page.path, text), run.run)
    outputs, failing = stale(after)
    kept, doubtful = _certain(after, outputs, root)
    new = renewed(after.page, kept)
    return Rerun(text, new, tuple([*problems, *failing, *doubtful]))


def _known(started: _Started, run: Verified) -> dict[Loose, list[str]]:
    """The expressions that give each figure; that of the twin alone where it holds."""
    found = candidates(run, started.shown)
    known = {figure: found[figure.shown] for figure in started.loose}
    values = run.run.values[len(started.page.figures) :]
    for (figure, expression), value in zip(
        started.of_twin.items(), values, strict=False
    ):
        if isinstance(value, int | float) and gives(expression, value, figure.shown):
            known[figure] = [expression]
    return known


def _bound(
    root: Path, page: Page, known: dict[Loose, list[str]]
) -> tuple[str, list[Problem]]:
    text, problems = bound(page, known)
    text, _ = mended(text, page.id, page.path)
    after = read_page(root, page.path, text)
    more = len(after.figures) - len(page.figures)
    if more != len(page.problems) - len(after.problems):
        return page.text, problems  # bound where Markdown does not see it
    return text, problems


def _certain(
    verified: Verified, outputs: list[Printed], root: Path
) -> tuple[list[Printed], list[Problem]]:
    """Those outputs that another seed gives too, and that mend what is wrong."""
    if not outputs:
        return [], []
    page = verified.page
    other = LANGUAGES[1 - LANGUAGES.index(page.language)]
    again = verdict.run(replace(page, language=other))
    same = {(o.place, o.text) for o in stale(Verified(page, again.run))[0]}
    kept = [output for output in outputs if (output.place, output.text) in same]
    after = read_page(root, page.path, renewed(page, kept))
    told = Verified(after, verified.run)
    right = [o for o in kept if not check_block(told, told.running[o.place])]
    chance = [_by_chance(o.problem) for o in outputs if o not in kept]
    return right, [*chance, *(o.problem for o in kept if o not in right)]


def _by_chance(problem: Problem) -> Problem:
    return replace(
        problem,
        found="a block that prints something else with another seed",
        expected="an output that does not depend on chance",
        fix="seed what it draws, as in torch.manual_seed(0)",
    )
