"""The table of mutants on "How this is verified", from the record of a run."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from site_tools.mutants.record import FILE, Record, Score, load

CODE = "ppo_ref"
KINDS = {
    CODE: {
        "zh": "代码：ppo_ref（和两处页面代码）",
        "en": "code: ppo_ref, and two places in code of the pages",
    },
    "figures in the text": {"zh": "正文里的数字", "en": "figures in the text"},
    "figures in pictures": {"zh": "图里的数字", "en": "figures in pictures"},
    "displayed formulas": {"zh": "单独成行的公式", "en": "displayed formulas"},
    "outputs": {"zh": "输出", "en": "outputs"},
    "formulas in a line": {"zh": "行内公式", "en": "formulas in a line"},
    "symbols in a line": {
        "zh": "行内符号：名字、位置、取值",
        "en": "symbols in a line: names, positions, settings",
    },
    "ids": {"zh": "标题的 id", "en": "ids of headings"},
    "links": {"zh": "站内链接", "en": "links within the site"},
    "links that lead out": {"zh": "站外链接", "en": "links that lead out"},
}
HEADS = {
    "zh": ("改了什么", "一共", "试了", "被发现"),
    "en": ("what was changed", "there are", "tried", "noticed"),
}
CHANGED = {
    "package": {"zh": "ppo_ref", "en": "ppo_ref"},
    "pages": {"zh": "页面", "en": "the pages"},
    "checks": {"zh": "检查", "en": "the checks"},
}
MADE = {
    "zh": "{date} 在 {commit} 上跑出来的；没被发现的逐个列在 <code>{file}</code> 里，"
    "附原因。",
    "en": "Run on {date} at {commit}. Those that were not noticed are listed in "
    "<code>{file}</code>, each with the reason.",
}
STALE = {
    "zh": "之后改过：{changed}。这些数字是那一次的。",
    "en": "Changed since then: {changed}. The figures are those of that run.",
}
NONE = {"zh": "还没有跑过。", "en": "Not run yet."}


def render(lang: str, root: Path) -> Iterator[str]:
    """The lines of the table, and when it was made.

    Args:
        lang: The language of the words.
        root: The project's folder.

    Raises:
        ValueError: if the record cannot be read.
    """
    record = load(root)
    if record is None:
        yield f"<p>{NONE[lang]}</p>"
        return
    changed = [CHANGED[name][lang] for name in record.changed(root)]
    state = " stale" if changed else ""
    yield f'<table class="counts mutants{state}"><thead><tr>'
    yield "".join(f'<th scope="col">{head}</th>' for head in HEADS[lang])
    yield "</tr></thead><tbody>"
    yield from (_row(words[lang], record, kind) for kind, words in KINDS.items())
    yield "</tbody></table>"
    values = {"date": record.date, "commit": record.commit[:7], "file": FILE}
    yield f"<p>{MADE[lang].format(**{k: escape(v) for k, v in values.items()})}"
    if changed:
        comma = "、" if lang == "zh" else ", "
        yield STALE[lang].format(changed=comma.join(changed))
    yield "</p>"


def _row(name: str, record: Record, kind: str) -> str:
    score = record.scores.get(kind, Score(0, 0, 0))
    share = f"{100 * score.noticed / score.tried:.0f}%" if score.tried else "-"
    cells = (*score[:2], f"{score.noticed} ({share})")
    shown = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{name}</th>{shown}</tr>'
