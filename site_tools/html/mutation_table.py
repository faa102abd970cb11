"""The table of make mutation on "How this is verified", from its record."""

from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from pathlib import Path

from site_tools.mutation.record import FILE, Score, Survivor, load, own_tests, stale

HEADS = {
    "zh": ("模块", "试了", "被发现"),
    "en": ("module", "tried", "noticed"),
}
ALL = {"zh": "合计", "en": "all"}
MADE = {
    "zh": "{tool}，最近一次 {date}；没被发现的 {count} 处在下面，附原因，"
    "也在 <code>{file}</code> 里。",
    "en": "{tool}, last run on {date}. The {count} that were not noticed are below, "
    "each with the reason, and in <code>{file}</code>.",
}
STALE = {
    "zh": "之后模块或它的测试改过：{modules}。那几行是改之前的数。",
    "en": "Changed since then, or their tests: {modules}. Their figures are older.",
}
PENDING = {
    "zh": "还没有数过：{modules}。",
    "en": "Not counted yet: {modules}.",
}
ALIVE = {"zh": "没被发现的", "en": "Those that were not noticed"}
NONE = {"zh": "还没有跑过。", "en": "Not run yet."}


def render(lang: str, root: Path) -> Iterator[str]:
    """The lines of the table, when it was made, and the survivors, folded.

    Args:
        lang: The language of the words.
        root: The project's folder.

    Raises:
        ValueError: if the record cannot be read.
    """
    scores = load(root)
    if not scores:
        yield f"<p>{NONE[lang]}</p>"
        return
    missing = [module for module in own_tests(root) if module not in scores]
    old = [module for module in stale(root, scores) if module in scores]
    yield '<table class="counts mutants"><thead><tr>'
    yield "".join(f'<th scope="col">{head}</th>' for head in HEADS[lang])
    yield "</tr></thead><tbody>"
    for module, score in scores.items():
        row = _row(f"<code>{escape(module)}</code>", score.tried, score.killed)
        yield row.replace("<tr>", '<tr class="stale">') if module in old else row
    tried = sum(score.tried for score in scores.values())
    yield _row(ALL[lang], tried, sum(score.killed for score in scores.values()))
    yield "</tbody></table>"
    yield from _made(lang, scores, old, missing)
    yield from _alive(lang, scores)


def _made(
    lang: str, scores: Mapping[str, Score], old: list[str], missing: list[str]
) -> Iterator[str]:
    last = max(scores.values(), key=lambda score: score.date)
    count = sum(len(score.survivors) for score in scores.values())
    words = {"tool": last.tool, "date": last.date, "count": count, "file": FILE}
    told = {name: escape(str(value)) for name, value in words.items()}
    yield f"<p>{MADE[lang].format(**told)}"
    comma = "、" if lang == "zh" else ", "
    for words_of, modules in ((STALE, old), (PENDING, missing)):
        if modules:
            yield words_of[lang].format(modules=comma.join(map(escape, modules)))
    yield "</p>"


def _alive(lang: str, scores: Mapping[str, Score]) -> Iterator[str]:
    yield f"<details><summary>{ALIVE[lang]}</summary><ul>"
    for module, score in scores.items():
        by_reason = sorted(score.survivors, key=lambda s: (s.reason, s.line))
        for reason, group in groupby(by_reason, key=lambda s: s.reason):
            places = "<br>".join(_place(module, survivor) for survivor in group)
            yield f'<li>{places}<br><span lang="en">{escape(reason)}</span></li>'
    yield "</ul></details>"


def _place(module: str, survivor: Survivor) -> str:
    return f"<code>{escape(f'{module}:{survivor.line}: {survivor.change}')}</code>"


def _row(name: str, tried: int, killed: int) -> str:
    share = f"{100 * killed / tried:.1f}%" if tried else "-"
    cells = f"<td>{tried}</td><td>{killed} ({share})</td>"
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'
