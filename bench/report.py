"""A run of ``make bench`` as a reader sees it: Markdown in both languages, one plot.

``write`` leaves ``docs/verified/benchmarks.DEVICE.LANG.md``, whose ``## `` sections the
page about/benchmarks includes one by one, and the plot that its growth section shows.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import matplotlib
from matplotlib import pyplot

from bench.floors import FLOORS, Ceiling, Floor, measured
from bench.results import Result, Slope, about, slopes
from bench.whole_step import PRODUCTS
from bench.whole_step import SUBJECT as STEP
from site_tools.compile.plots import themed

FOLDER = "docs/verified"
COPY = "copy"
# English to Chinese: all that the tables say.
CHINESE = {
    "kernel": "不检查参数的内核",
    "copy": "复制同样多的字节",
    "together": "合在一起算",
    "apart": "分开算",
    "loss in chunks": "loss 也分块",
    "in chunks": "分块",
    "logits kept": "留着 logits",
    "compiled": "编译",
    "without padding": "不算填充",
    "thread": "个线程",
    "threads": "个线程",
    "forward and backward": "前向加反向",
    "forward": "只有前向",
    "padded": "只有填充",
    "masked": "有 mask",
    "dense": "没有 mask",
    "width": "宽度",
    "slots": "个位置",
    "no padding": "没有填充",
    "products alone": "只有矩阵乘法",
    "fused": "融合",
    "or": "或",
    "memory": "内存",
    "whole step": "一整步",
    "log-probs and entropy": "log-prob 和熵",
    "whole run": "整次训练",
    "imitation": "模仿",
    "PPO": "PPO",
    "rollout": "rollout",
    "CPU seconds an iteration": "每轮的 CPU 秒",
    "CPU seconds of each stage": "每一段的 CPU 秒",
    "peak memory": "内存峰值",
    "sampling": "采样",
    "log-probs of actor and reference": "actor 和 reference 的 log-prob",
    "values": "价值",
    "update of the critic": "更新 critic",
    "update of the actor": "更新 actor",
    "all": "一共",
    "update": "更新",
    "median (quartiles)": "中位数（四分位）",
    "÷ copy": "÷ 复制",
    "best peer ÷ it": "最快的同类 ÷ 它",
    "÷ it": "÷ 它",
    "implementation": "实现",
    "compared": "比什么",
    "verdict": "结论",
    "required": "要求",
    "measured": "测得",
    "met": "达到",
    "NOT met": "没达到",
    "every bound is met": "每一条都达到了",
    "not measured": "没测",
    "against": "对",
    "processor": "处理器",
    "cores": "核",
    "PyTorch's threads": "PyTorch 的线程",
    "versions": "版本",
    "run": "运行",
    "no commit": "没有提交号",
    "changed since the commit": "与提交不完全一样",
    "slope": "斜率",
}
TRANSLATED = re.compile(
    "|".join(
        rf"(?<!\w){re.escape(words)}(?!\w)" for words in sorted(CHINESE, key=len)[::-1]
    )
)
COLOURS = ("C0", "C1", "C3", "C4")  # which the site has by day and by night
UNITS = {
    "seconds": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
VIEWS = {
    "log_probs": ("log-probs and entropy", ""),
    "whole_step": ("whole step", "seconds"),
    "memory": ("whole step", "bytes"),
    "gae": ("gae", ""),
    "training": ("training", ""),
    "language_model": ("language model", ""),
}


def write(
    root: Path,
    device: str,
    results: Sequence[Result],
    machine: Mapping[str, object],
    versions: Mapping[str, str],
    made: str,
) -> list[Path]:
    """Write what a whole run gave; the paths of the files.

    Args:
        root: The project's folder.
        device: ``cpu`` or ``cuda``.
        results: All that was measured.
        machine: The processor and so on, by name; empty values are left out.
        versions: Releases by name, Python first.
        made: When, and of which commit.
    """
    files = {}
    for language in ("zh", "en"):
        sections = {"machine": _machine(machine, versions, made)}
        for view, (subject, unit) in VIEWS.items():
            found = about(results, subject, unit)
            sections[view] = (
                by_width(found) if subject == STEP else table(found, versions)
            )
        sections["growth"] = _growth(slopes(results), device)
        bounds = [*_bounds(results, device)]
        sections["floors"] = _verdicts(bounds)
        sections["missed"] = _verdicts([row for row in bounds if row[-1] == "NOT met"])
        text = "".join(
            f"## {view}\n\n" + "\n".join(lines) + "\n\n"
            for view, lines in ((view, [*part]) for view, part in sections.items())
            if lines
        )
        name = root / FOLDER / f"benchmarks.{device}.{language}.md"
        files[name] = in_chinese(text) if language == "zh" else text
    if grown := slopes(results):
        files[root / "snippets" / "about" / f"growth_{device}.svg"] = plot(grown)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.rstrip() + "\n", "utf-8")
    return [*files]


def in_chinese(text: str) -> str:
    """The words of the tables in Chinese; names and numbers as they are.

    Example:
        >>> in_chinese("| together, compiled | 3 threads |")
        '| 合在一起算，编译 | 3 个线程 |'
    """
    lines = (
        line
        if line.startswith("## ")
        else TRANSLATED.sub(lambda m: CHINESE[m[0]], line)
        for line in text.split("\n")
    )
    return re.sub(r"(?<=[^\x00-\x7f]), |, (?=[^\x00-\x7f])", "，", "\n".join(lines))


def table(results: Sequence[Result], versions: Mapping[str, str]) -> Iterator[str]:
    """One table of all settings of a subject, each contender a row."""
    if not results:
        return
    peers = {peer for result in results for peer in _peers(result, versions)}
    heads = ["implementation", "median (quartiles)"]
    if any(COPY in result.contenders for result in results):
        heads.append("÷ copy")
    if peers:
        only = f"{min(peers).partition(' ')[0]} ÷ it"
        heads.append(
            only if len({p.split()[0] for p in peers}) == 1 else "best peer ÷ it"
        )
    yield _row(heads)
    yield _row(["---", *["--:"] * (len(heads) - 1)])
    for result in results:
        yield _row([f"**{_setting(result.setting)}**", *[""] * (len(heads) - 1)])
        best = _peers(result, versions)[:1]
        for name, spread in result.contenders.items():
            low, high = spread.lower_quartile, spread.upper_quartile
            quartiles = f" ({_span(low, high, result.unit)})" if low != high else ""
            cells = [name, amount(spread.median, result.unit) + quartiles]
            if "÷ copy" in heads:
                there = COPY in result.contenders and name != COPY
                cells.append(times(result.ratio(COPY, name)) if there else "")
            if peers:
                counted = best and name not in (COPY, *best)
                cells.append(times(result.ratio(name, best[0])) if counted else "")
            yield _row(cells)


def by_width(results: Sequence[Result]) -> Iterator[str]:
    """A table for each width, a column for each setting, and a row for each contender.

    Beside seconds stands how many times as much as the products alone it takes.
    """
    widths: dict[str, dict[str, Result]] = {}
    for result in results:
        width, column = result.setting.removesuffix(", memory").split(": ")
        widths.setdefault(width, {})[column] = result
    for width, columns in widths.items():
        slots = (
            f"{name}, {result.sizes['tokens']} slots"
            for name, result in columns.items()
        )
        yield _row([width, *slots])
        yield _row(["---", *["--:"] * len(columns)])
        every = [list(result.contenders) for result in columns.values()]
        for name in max(every, key=len):
            cells = [_beside(result, name) for result in columns.values()]
            yield _row([name, *cells])
        yield ""


def _beside(result: Result, name: str) -> str:
    if name not in result.contenders:
        return ""
    found = amount(result.contenders[name].median, result.unit)
    if name == PRODUCTS or PRODUCTS not in result.contenders:
        return found
    return f"{found} ({times(result.ratio(PRODUCTS, name))})"


def _peers(result: Result, versions: Mapping[str, str]) -> list[str]:
    """The released packages among the contenders, the fastest first."""
    known = tuple(f"{name} {release}" for name, release in versions.items())
    peers = [name for name in result.contenders if name.startswith(known)]
    return sorted(peers, key=lambda name: result.contenders[name].median)


def _machine(
    machine: Mapping[str, object], versions: Mapping[str, str], made: str
) -> Iterator[str]:
    rows = {name: str(value) for name, value in machine.items() if value}
    rows["versions"] = ", ".join(f"{name} {of}" for name, of in versions.items())
    rows["run"] = made
    first, *others = (_row([name, value]) for name, value in rows.items())
    yield from (first, _row(["---", "---"]), *others)


def _growth(grown: Sequence[Slope], device: str) -> Iterator[str]:
    if grown:
        words = ", ".join(f"{s.contender}: slope {three(s.exponent)}" for s in grown)
        yield f"![{words}](growth_{device}.svg)"


def _verdicts(bounds: Sequence[Sequence[str]]) -> Iterator[str]:
    if not bounds:
        yield "every bound is met"
        return
    yield _row(["compared", "required", "measured", "verdict"])
    yield _row(["---", "--:", "--:", "---"])
    yield from map(_row, bounds)


def _bounds(results: Sequence[Result], device: str) -> Iterator[Sequence[str]]:
    """Each bound: what is compared, what is required and measured, the verdict."""
    for floor, result in measured(FLOORS, results, device):
        verdict, value = "not measured", ""
        if result is not None:
            verdict = "met" if floor.judge(result)[0] else "NOT met"
            value = _bound(floor, floor.value(result), result.unit)
        unit = "bytes" if floor.setting.endswith("memory") else "seconds"
        if isinstance(floor, Floor):
            least = f"≥ {_bound(floor, floor.least, unit)}"
        else:
            least = f"≤ {_bound(floor, floor.most, unit)}"
        where = f"{floor.subject}, {_setting(floor.setting)}"
        yield f"{floor.named} ({where})", least, value, verdict


def _bound(floor: Floor | Ceiling, value: float, unit: str) -> str:
    return times(value) if isinstance(floor, Floor) else amount(value, unit)


def _setting(text: str) -> str:
    """``masked 4x32768`` as ``4 × 32,768, masked``."""
    return re.sub(
        r"(?:(\w+) )?(\d+)x(\d+)",
        lambda m: f"{int(m[2]):,} × {int(m[3]):,}" + (f", {m[1]}" if m[1] else ""),
        text,
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def three(value: float) -> str:
    """Three significant digits, thousands apart, never in scientific notation.

    Example:
        >>> [three(x) for x in (0.012345, 1, 37.44, 999.6, 12345)]
        ['0.0123', '1.00', '37.4', '1,000', '12,300']
    """
    return format(Decimal(f"{value:.2e}"), ",f")


def times(value: float) -> str:
    """A ratio, as ``1,230×``."""
    return f"{three(value)}×"


def amount(value: float, unit: str) -> str:
    """A number with the unit that keeps it short.

    Example:
        >>> amount(0.0004567, "seconds"), amount(0.0009999, "seconds")
        ('457 µs', '1.00 ms')
        >>> amount(131072000, "bytes")
        '131 MB'
    """
    size, name = _unit(value, unit)
    return f"{three(value / size)} {name}"


def _span(low: float, high: float, unit: str) -> str:
    size, name = _unit(high, unit)
    return f"{three(low / size)}–{three(high / size)} {name}"


def _unit(value: float, unit: str) -> tuple[float, str]:
    rounded = float(f"{value:.2e}") * (1 + 1e-9)
    fitting = [known for known in UNITS[unit] if known[0] <= rounded]
    return fitting[0] if fitting else UNITS[unit][-1]


def plot(grown: Sequence[Slope]) -> str:
    """Seconds over the length of a response, both axes logarithmic, as SVG."""
    matplotlib.use("svg")
    settings = {"svg.fonttype": "none", "svg.hashsalt": "ppo", "font.size": 13}
    with matplotlib.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(5, 3.6))
        for slope, colour in zip(grown, COLOURS, strict=False):
            axes.loglog(
                *zip(*sorted(slope.points.items()), strict=True),
                label=slope.contender,
                color=colour,
            )
        axes.set_xticks(
            [2**n for n in range(7, 18, 2)], [f"{2**n:,}" for n in range(7, 18, 2)]
        )
        axes.minorticks_off()
        seconds = [10.0**n for n in range(-5, 1)]
        axes.set_yticks(
            seconds,
            [
                amount(s, "seconds").replace(".00", "").replace(".0", "")
                for s in seconds
            ],
        )
        axes.set_xlabel("T")
        axes.grid(True)
        axes.legend(frameon=False)
        written = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(
            written,
            format="svg",
            transparent=True,
            metadata=nothing,
            bbox_inches="tight",
        )
        pyplot.close(figure)
    return themed(written.getvalue(), "growth")
