"""The parts of the page about/benchmarks, each made from the record of a run."""

from collections.abc import Callable, Iterator
from pathlib import Path

from site_tools.benchmarks import charts, machine, verdicts, words
from site_tools.benchmarks.costs import GAE, LOG_PROBS, STEP, lead
from site_tools.benchmarks.record import Record, Result, load
from site_tools.benchmarks.table import leading, table

FOLDER = "docs/verified"
FILES = {"cpu": "benchmarks.json", "cuda": "benchmarks.cuda.json"}
TRAINING = "training"
OURS = {
    LOG_PROBS: ("together", "together, compiled"),
    STEP: ("loss in chunks", "in chunks", "logits kept", "logits kept, compiled"),
    GAE: ("gae", "kernel"),
}
ON_A_GPU = ("machine", "log_probs", "memory", "whole_step", "gae", "growth")


def render(view: str, lang: str, root: Path) -> str:
    """One part of the page.

    Args:
        view: One of ``VIEWS``, or ``cuda`` for what was measured on a GPU.
        lang: The language of the words.
        root: The project's folder.

    Raises:
        ValueError: for another view or language, or a record that cannot be read.
    """
    known = [*VIEWS, "cuda"]
    if view not in known:
        raise ValueError(f"benchmarks: must be one of {known}, got {view!r}")
    if lang not in ("zh", "en"):
        raise ValueError(
            f'benchmarks: must say data-language="zh" or "en", got {lang!r}'
        )
    device, parts = ("cuda", ON_A_GPU) if view == "cuda" else ("cpu", (view,))
    none = [f"<p>{words.word(words.NOT_MEASURED, lang)}</p>"]
    try:
        record = load(root / FOLDER / FILES[device])
    except FileNotFoundError:
        inside = none
    else:
        inside = [
            x for part in parts for x in [*VIEWS[part](record, lang, root)] or none
        ]
    shown = "\n".join(inside)
    return f'<div class="status" data-search-exclude="1">\n{shown}\n</div>'


def picture(src: str, lang: str, root: Path) -> tuple[str, str] | None:
    """The file and the SVG of a chart that a view names; None for other pictures.

    Args:
        src: As in the page.
        lang: The language of the words.
        root: The project's folder.

    Raises:
        ValueError: if the record cannot be read.
    """
    named = charts.NAME.fullmatch(src)
    if named is None:
        return None
    file = f"{FOLDER}/{FILES[named['device']]}"
    return file, charts.CHARTS[named["chart"]](load(root / file), lang).svg


def _log_probs(record: Record, lang: str, root: Path) -> Iterator[str]:
    results = record.about(LOG_PROBS)
    if results:
        yield from lead(record, lang)
        yield charts.image("costs", record, lang)
        yield from _compared(record, results, lang)


def _whole_step(record: Record, lang: str, root: Path) -> Iterator[str]:
    yield from _compared(record, _step(record, "seconds"), lang)


def _memory(record: Record, lang: str, root: Path) -> Iterator[str]:
    yield from _compared(record, _step(record, "bytes"), lang)


def _gae(record: Record, lang: str, root: Path) -> Iterator[str]:
    yield from _compared(record, record.about(GAE), lang)


def _training(record: Record, lang: str, root: Path) -> Iterator[str]:
    yield from _compared(record, record.about(TRAINING), lang)


def _growth(record: Record, lang: str, root: Path) -> Iterator[str]:
    if any(slope.over == "time" for slope in record.slopes):
        yield charts.image("growth", record, lang)


def _step(record: Record, unit: str) -> list[Result]:
    return [result for result in record.about(STEP) if result.unit == unit]


def _compared(record: Record, results: list[Result], lang: str) -> Iterator[str]:
    if results:
        yield from table(record, results, lang)
        yield from leading(record, results, OURS.get(results[0].subject, ()), lang)


VIEWS: dict[str, Callable[[Record, str, Path], Iterator[str]]] = {
    "machine": machine.lines,
    "log_probs": _log_probs,
    "memory": _memory,
    "whole_step": _whole_step,
    "gae": _gae,
    "growth": _growth,
    "training": _training,
    "floors": verdicts.lines,
}
