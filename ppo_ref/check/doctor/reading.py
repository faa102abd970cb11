"""Reading a training log: its text, its lines, and the figures in them.

The page with the symptoms reads the same in the browser (``doctor_reading.js``).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ppo_ref.check.doctor.figures import FIGURE_OF, KNOWN, PHRASES, is_known

TRAINERS = "verl, TRL, OpenRLHF, slime, ms-swift, Unsloth, SkyRL, NeMo-RL or prime-rl"
LONGEST = 200  # letters of a name; what is longer names no figure
NAMED = 12  # names that a refusal tells
HEAD = 50  # lines in which a table may begin
NARROWEST, BROADEST = 40, 300  # columns of a terminal that breaks lines
# A line with as few known figures as this, and less than this share of the fullest line
# with the same figure, tells it again, or is a sentence of an answer.
FEW = 3
POOR = 0.5
# Each place of a text is looked at a bounded number of times: a name begins where its
# word begins, and digits can be read in one way only. A megabyte in one word would
# otherwise take minutes. ASCII alone, as JavaScript reads it on the page.
NUMBER = r"[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)"
NAME = rf"[A-Za-z_][\w/@.-]{{0,{LONGEST - 1}}}"
PAIR = re.compile(
    # actor/kl:0.1, actor/kl:np.float64(0.1), "kl": 0.1, 'kl': '0.1', kl=tensor(0.1)
    rf"(?<![\w/@.-])({'|'.join(map(re.escape, PHRASES))}|{NAME})[\"']?[ \t]*[:=][ \t]*"
    rf"(?:[a-z_.]+\d*\()?[\"']?({NUMBER})(?![\w.])",
    re.IGNORECASE | re.ASCII,
)
WHOLE = re.compile(NUMBER, re.IGNORECASE | re.ASCII)
# A cell and what ends it; quotes may hold commas and ends of lines.
SEPARATORS = (",", "\t", "|", ";")
CELLS = {
    mark: re.compile(
        rf'(?:"([^"]*(?:""[^"]*)*)"|([^{mark}\n]*))({re.escape(mark)}|\n|\Z)'
    )
    for mark in SEPARATORS
}
STEP = re.compile(r"\b[Ss]tep (\d{1,15})\b", re.ASCII)  # Global step 12: {...}
BAR = re.compile(r"\d%\|")  # of tqdm
LINE_END = re.compile(r"\r\n|\r|\n")
COLORS = re.compile(r"\x1b\[[0-9;]*m")
WIDE = str.maketrans("：＝，", ":=,")  # as a Chinese keyboard types them
BROAD = re.compile(
    "[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6b"
    "\uff01-\uff60\uffe0-\uffe6]"
)
# Tokens of one response, as ppo_ref keeps them between the lines of figures.
RECORD = re.compile(r'\{"iteration": ?\d+, ?"record":')
PREFIX = re.compile(r"^train/")  # of TRL, slime and others where they log to a service
SPREAD = re.compile(r"__(?:MIN|MAX)$")  # a chart's band around a line
# The mean ratio of trainer to engine, which verl logs in two parts.
RATIO, K3, K1 = (
    "1 + rollout_corr/k3_kl - rollout_corr/kl",
    "rollout_corr/k3_kl",
    "rollout_corr/kl",
)

Log = dict[str, list[float]]
Step = dict[str, float]
Cells = Sequence[tuple[str, str]]  # of one step: a name and what stands beside it


class SeveralRuns(ValueError):
    """A table holds more runs than one; ``runs`` are their names."""

    def __init__(self, runs: Sequence[str]) -> None:
        """Name the runs in the message, too."""
        self.runs = tuple(runs)
        super().__init__(
            f"read_log: a log must hold one run, got {len(runs)}, so name one: "
            + ", ".join(runs)
        )


def decode(data: bytes) -> str:
    """Decode the bytes of a log: UTF-8, UTF-16 as PowerShell writes it, or GBK.

    Example:
        >>> decode("得分 score:1".encode("utf-16")), decode("得分".encode("gbk"))
        ('得分 score:1', '得分')
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030", errors="replace")


def read_log(text: str, run: str | None = None) -> Log:
    """Read the figures of a log, each in the order in which it was logged.

    The text is a console's, lines of JSON, or a table whose columns are separated by
    commas, tabs, bars or semicolons; names lose their ``train/``. Where verl's two KLs
    to the engine are there, so is the mean ratio that follows from them, by its
    formula. Of a table of several runs ``run`` names the one that is meant: without it
    that is :class:`SeveralRuns`. A log without a figure that is known is a ValueError.

    Example:
        >>> read_log("step:1 - actor/entropy:0.5 - perf/time:3\\nstep:2 - ...")
        {'step': [1.0], 'actor/entropy': [0.5], 'perf/time': [3.0]}
    """
    everything = LINE_END.split(COLORS.sub("", text.lstrip("\ufeff")).translate(WIDE))
    lines = [x for x in everything if x.strip(" \t") and not RECORD.match(x)]
    table = _table(lines, run)
    if table is None and run is not None:
        raise ValueError(f"read_log: run names one of several, got {run} and one run")
    if table is None:
        steps = _console(_joined(lines))
        log = _by_name(_without_sentences(list(filter(_has_figures, steps))))
    else:
        steps = [_numbers(cells) for cells in table]
        log = _by_name(list(filter(_has_figures, steps)))
    if not log:
        raise ValueError(_refusal(lines, steps))
    if K3 in log and K1 in log and len(log[K3]) == len(log[K1]):
        pairs = zip(log[K3], log[K1], strict=True)
        log[RATIO] = [1 + k3 - k1 for k3, k1 in pairs]
    return log


def _numbers(cells: Cells) -> Step:
    return {PREFIX.sub("", name): float(cell) for name, cell in cells}


def _console(lines: Iterable[str]) -> list[Step]:
    """The pairs of each line; a progress bar counts where nothing else has figures."""
    steps: list[Step] = []
    bars: list[Step] = []
    for line in lines:
        step = _numbers(PAIR.findall(line))
        if counted := STEP.search(line):
            step.setdefault("step", float(counted[1]))
        (bars if BAR.search(line) else steps).append(step)
    return steps if any(map(_has_figures, steps)) else steps + bars


def _has_figures(step: Step) -> bool:
    return any(map(is_known, step))


def _without_sentences(steps: Sequence[Step]) -> list[Step]:
    """Lines without what other lines tell, or tell better.

    A line with few figures loses those that a fuller line tells as well, be it under
    another name.
    """
    known = [len(KNOWN.intersection(step)) for step in steps]
    fullest: dict[str, int] = {}
    for step, number in zip(steps, known, strict=True):
        for name in step:
            figure = FIGURE_OF.get(name, name)
            fullest[figure] = max(fullest.get(figure, 0), number)
    return [
        {
            name: value
            for name, value in step.items()
            if not 0 < number <= FEW
            or number >= POOR * fullest[FIGURE_OF.get(name, name)]
        }
        for step, number in zip(steps, known, strict=True)
    ]


def _by_name(steps: Sequence[Step]) -> Log:
    log: Log = {}
    for step in steps:
        for name, value in step.items():
            log.setdefault(name, []).append(value)
    return log


def _refusal(lines: Sequence[str], steps: Sequence[Step]) -> str:
    seen = list(dict.fromkeys(name for step in steps for name in step))
    if len(seen) > NAMED:
        seen[NAMED:] = ["..."]
    names = ", ".join(seen) or "none"
    return (
        "read_log: a log must have lines with figures such as critic/score/mean:0.5, "
        f"in the names of {TRAINERS}; got {len(lines)} lines, and in them these names: "
        f"{names}"
    )


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """Lines as they were before a terminal of a fixed width broke them.

    What is as wide as the widest line goes on in the next, unless it ends as a dict or
    a list does, or the next begins like one that began a line before.
    """
    widths = [_width(line) for line in lines]
    widest = max(widths, default=0)
    if not NARROWEST <= widest <= BROADEST or widths.count(widest) < 3:
        yield from lines
        return
    begun: set[str] = set()
    pieces: list[str] = []
    full = False
    for line, width in zip(lines, widths, strict=True):
        beginning = re.sub(r"[0-9]", "0", line[:8])
        if not full or beginning in begun:
            yield "".join(pieces)
            begun.add(beginning)
            pieces = []
        pieces.append(line)
        full = width == widest and not line.endswith(("}", "]"))
    yield "".join(pieces)


def _width(line: str) -> int:
    """Columns of a terminal: a Chinese character takes two."""
    return len(line) + len(BROAD.findall(line))


def _table(lines: Sequence[str], run: str | None) -> list[Cells] | None:
    """Rows under a header whose columns are called "key" or "run - key"."""
    for number, (line, below) in enumerate(pairwise(lines[: HEAD + 1])):
        for separator in CELLS:
            if separator in line and separator in below and not PAIR.search(line):
                rows = _rows("\n".join(lines[number:]), separator)
                columns = [_column(cell) for cell in next(rows)]
                if any(is_known(name) for _, name in columns):
                    return _of_run(columns, rows, run)
    return None


def _column(cell: str) -> tuple[str, str]:
    """The run and the name that the head of a column names."""
    run, _, name = cell.strip(" \t").rpartition(" - ")
    name = PREFIX.sub("", name.replace(" / ", "/"))
    if len(name) > LONGEST or SPREAD.search(name):
        name = ""
    return run, name


def _of_run(
    columns: Sequence[tuple[str, str]], rows: Iterator[list[str]], run: str | None
) -> list[Cells]:
    """The cells of one run; two columns of one name are two runs."""
    seen: dict[str, int] = {}
    named = []
    for of_run, name in columns:
        if is_known(name):
            seen[f"{of_run} - {name}"] = seen.get(f"{of_run} - {name}", 0) + 1
            if seen[f"{of_run} - {name}"] > 1:
                of_run = f"{of_run or 'column'} {seen[f'{of_run} - {name}']}"
        named.append((of_run, name))
    runs = list(dict.fromkeys(of_run for of_run, name in named if is_known(name)))
    if run is None and len(runs) > 1:
        raise SeveralRuns([each or "column 1" for each in runs])
    if run is None or (run == "column 1" and run not in runs):
        run = runs[0]
    if run not in runs:
        raise ValueError(f"read_log: run must be one of {', '.join(runs)}, got {run}")
    names = [name if of_run in (run, "") else "" for of_run, name in named]
    return [_logged(names, row) for row in rows]


def _logged(names: Sequence[str], row: Sequence[str]) -> Cells:
    """The cells of a row that are numbers, each with the name of its column.

    A chart's export and a data frame have nan where nothing was logged: in a row that
    is mostly so, it is no value.
    """
    found = [
        (name, cell.strip(" \t"))
        for name, cell in zip(names, row, strict=False)
        if name
    ]
    known = [cell.lower() for name, cell in found if is_known(name)]
    missing = sum(not cell or cell == "nan" for cell in known)
    if missing > len(known) / 2:
        found = [(name, cell) for name, cell in found if cell.lower() != "nan"]
    return [(name, cell) for name, cell in found if WHOLE.fullmatch(cell)]


def _rows(table: str, separator: str) -> Iterator[list[str]]:
    """The cells of each row."""
    row = []
    for cell in CELLS[separator].finditer(table):
        quoted, plain, end = cell.groups("")
        row.append(quoted.replace('""', '"') or plain)
        if end != separator:
            yield row
            row = []
