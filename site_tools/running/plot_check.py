"""The plots that a notebook draws against those that it shows."""

from site_tools.page.notebooks import plots
from site_tools.page.prose import line_of
from site_tools.problems import Problem
from site_tools.running.verification import Verified


def check_plots(verified: Verified) -> list[Problem]:
    """A problem for each plot that is drawn and not shown, or shown and not drawn."""
    page, results = verified.page, verified.run.results
    if any(result.failure for result in results):
        return []  # which is told where it failed
    drawn = {
        name: block.fence.line
        for block, result in zip(verified.running, results, strict=False)
        for name, _ in result.plots
    }
    found = plots(page.body, page.id)
    shown = {name: line_of(page.body, place.start()) for name, place in found}
    folder = page.id.rpartition("/")[2]
    problems = [
        Problem(
            page.path,
            drawn[plot],
            f"a plot named {plot!r} that the page does not show",
            "every plot shown, with words that stand for it",
            'name it, as in plt.subplots(num="bias"), and write '
            f"![what it shows]({folder}/bias.svg)",
        )
        for plot in sorted(drawn.keys() - shown.keys())
    ]
    return problems + [
        Problem(
            page.path,
            shown[plot],
            f"{folder}/{plot}.svg, which no block draws",
            f"one of the plots {sorted(drawn)}",
            f'name a plot so, as in plt.subplots(num="{plot}")',
        )
        for plot in sorted(shown.keys() - drawn.keys())
    ]
