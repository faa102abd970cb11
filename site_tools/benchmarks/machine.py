"""Where and with what a record was made, and whether the package has changed since."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from site_tools.benchmarks.record import Record
from site_tools.benchmarks.words import word
from site_tools.running.hashes import package_hash

ROWS = {
    "processor": ("处理器", "processor"),
    "cores": ("核", "cores"),
    "threads": ("PyTorch 的线程", "threads of PyTorch"),
    "gpu": ("GPU", "GPU"),
}
VERSIONS = ("版本", "versions")
RUN = ("运行", "run")
AT = ("{date}，{commit}", "{date}, {commit}")
UNKNOWN = ("没有提交号", "no commit")
DIRTY = (
    "运行时的代码和这个提交不完全一样。",
    "The sources were not quite those of the commit.",
)
STALE = (
    "之后 <code>ppo_ref</code> 改过：这些数字是改之前的。",
    "<code>ppo_ref</code> has changed since: the figures are older.",
)


def lines(record: Record, lang: str, root: Path) -> Iterator[str]:
    """A table, and a remark if the figures are not those of the package as it is.

    Args:
        record: What was measured.
        lang: The language of the words.
        root: The project's folder.
    """
    shown = {
        word(names, lang): str(record.machine[name])
        for name, names in ROWS.items()
        if record.machine.get(name)
    }
    named = [f"{name} {release}" for name, release in record.versions.items()]
    shown[word(VERSIONS, lang)] = ("、" if lang == "zh" else ", ").join(named)
    commit = record.commit[:7] or word(UNKNOWN, lang)
    shown[word(RUN, lang)] = word(AT, lang).format(date=record.date, commit=commit)
    yield '<table class="counts benchmarks machine"><tbody>'
    for name, value in shown.items():
        yield f'<tr><th scope="row">{name}</th><td>{escape(value)}</td></tr>'
    yield "</tbody></table>"
    remarks = [
        word(words, lang)
        for words, true in ((DIRTY, record.dirty), (STALE, _stale(record, root)))
        if true
    ]
    if remarks:
        yield f'<p class="stale">{("" if lang == "zh" else " ").join(remarks)}</p>'


def _stale(record: Record, root: Path) -> bool:
    return record.package != package_hash(root / "ppo_ref")
