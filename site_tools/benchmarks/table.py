"""Results as a table: medians and quartiles, and what to trust, ratios."""

from collections.abc import Iterator, Sequence

from site_tools.benchmarks import words
from site_tools.benchmarks.amounts import amount, span, three, times
from site_tools.benchmarks.record import Record, Result

COPY = "copy"


def peers(record: Record, result: Result) -> list[str]:
    """The contenders that are released packages, the fastest first."""
    known = tuple(f"{name} {release}" for name, release in record.versions.items())
    found = [name for name in result.contenders if name.startswith(known)]
    return sorted(found, key=lambda name: result.contenders[name].median)


def table(record: Record, results: Sequence[Result], lang: str) -> Iterator[str]:
    """The results in their order, a heading for each.

    Args:
        record: Says which contenders are released packages.
        results: One at least.
        lang: The language of the words.
    """
    heads = _heads(record, results, lang)
    yield '<table class="counts benchmarks"><thead><tr>'
    for head in heads.values():
        yield f'<th scope="col">{head}</th>' if head else "<td></td>"
    yield "</tr></thead>"
    for result in results:
        title = words.setting(result.setting, lang)
        span_all = f'<th scope="rowgroup" colspan="{len(heads)}">'
        yield f'<tbody><tr class="setting">{span_all}{title}</th></tr>'
        for name in result.contenders:
            cells = _cells(record, result, name, lang)
            shown = "".join(f"<td>{cells[column]}</td>" for column in [*heads][1:])
            head = words.contender(name, lang)
            yield f'<tr><th scope="row">{head}</th>{shown}</tr>'
        yield "</tbody>"
    yield "</table>"


def leading(
    record: Record, results: Sequence[Result], ours: Sequence[str], lang: str
) -> Iterator[str]:
    """A sentence: how many times as much the peers take as ours, over all settings."""
    parts = []
    for peer in dict.fromkeys(p for result in results for p in peers(record, result)):
        for name in ours:
            both = [r for r in results if {peer, name} <= r.contenders.keys()]
            ratios = [result.ratio(name, peer) for result in both]
            if ratios:
                low, high = three(min(ratios)), three(max(ratios))
                form = words.RANGE if low != high else words.ONE
                said = words.word(words.LEADING[both[0].unit], lang)
                count = words.word(form, lang).format(low=low, high=high)
                parts.append(said.format(peer=peer, name=_named(name, lang), low=count))
    if parts:
        yield (
            f"<p>{'；'.join(parts)}。</p>"
            if lang == "zh"
            else f"<p>{'; '.join(parts)}.</p>"
        )


def _heads(record: Record, results: Sequence[Result], lang: str) -> dict[str, str]:
    """Headings by column; a column without any number is left out."""
    heads = {name: words.word(words.HEADS[name], lang) for name in ("contender",)}
    heads["median"] = words.word(words.HEADS["median"], lang)
    if any(COPY in result.contenders for result in results):
        heads["copy"] = words.word(words.HEADS["copy"], lang)
    named = {peer for result in results for peer in peers(record, result)}
    if named:
        form = words.HEADS["peer" if len(named) == 1 else "best peer"]
        only = min(named).partition(" ")[0]
        heads["peer"] = words.word(form, lang).format(peer=only)
    return heads


def _cells(record: Record, result: Result, name: str, lang: str) -> dict[str, str]:
    spread = result.contenders[name]
    median = amount(spread.median, result.unit, lang)
    if spread.lower_quartile != spread.upper_quartile:
        ends = spread.lower_quartile, spread.upper_quartile
        median += f'<br><span class="detail">{span(*ends, result.unit, lang)}</span>'
    best = peers(record, result)
    counted = name != COPY and name not in best[:1]
    return {
        "median": median,
        "copy": times(result.ratio(COPY, name)) if COPY in result.contenders else "",
        "peer": times(result.ratio(name, best[0])) if best and counted else "",
    }


def _named(name: str, lang: str) -> str:
    """A contender within a sentence."""
    shown = words.contender(name, lang)
    if not shown.startswith("<"):
        return f"“{shown}”"
    return f" {shown} " if lang == "zh" else shown
