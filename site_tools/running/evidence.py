"""Which blocks have been verified, with what, and what the notebooks drew.

A run of the pages leaves a ledger for each kind of device in ``.cache/verified``; that
of a GPU can be committed as ``docs/verified/cuda.txt``. A line is a page, made from the
package; its content are the hashes of the blocks that passed.
"""

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

from site_tools.ledger import Damaged, Entry, Ledger, digest, fresh, read, update
from site_tools.page.blocks import Block, read_blocks
from site_tools.page.fences import scan
from site_tools.page.pictures import is_notebook
from site_tools.problems import Problem, problem
from site_tools.running.results import Result
from site_tools.running.verdict import Verified, check_block
from site_tools.say import Message

LOCAL = ".cache/verified"
PLOTS, RECORD = f"{LOCAL}/plots.txt", "docs/verified/cuda.txt"
Hashes = frozenset[str]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def block_hashes(blocks: Sequence[Block]) -> dict[int, str]:
    """A hash for each running block of a page, by the line of its fence.

    It covers the block's code, classes and stated output, and all blocks above it,
    whose names it may use; not its line, and not the prose around it.
    """
    hashes: dict[int, str] = {}
    above = ""
    for block in blocks:
        if block.runs:
            classes = sorted(block.classes)
            covered = [above, block.kind.name, classes, block.text, block.expects]
            hashes[block.fence.line] = above = digest(json.dumps(covered))
    return hashes


def package_hash(folder: Path) -> str:
    """One hash of all modules and stored runs in the folder of a package."""
    runs = sorted(folder.rglob("*.jsonl"))
    return code_hash(folder, [*sorted(folder.rglob("*.py")), *runs])


def code_hash(root: Path, files: Iterable[Path]) -> str:
    """One hash of files and their paths below a folder, without docstrings."""
    texts = {path: path.read_text("utf-8") for path in files}
    covered = {
        path.relative_to(root).as_posix(): _code(text) if path.suffix == ".py" else text
        for path, text in texts.items()
    }
    return digest(json.dumps(covered))


@lru_cache(maxsize=256)  # a live server asks at every build
def _code(source: str) -> Any:
    try:
        return _plain(ast.parse(source))
    except SyntaxError:  # half an edit
        return source


def _plain(node: Any) -> Any:
    """A syntax tree as lists, without lines, docstrings, and fields that are empty."""
    # Newer Pythons add such fields.
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if (
        isinstance(node, DOCUMENTED)
        and ast.get_docstring(node, clean=False) is not None
    ):
        fields["body"] = node.body[1:]
    filled = {name: value for name, value in fields.items() if value not in (None, [])}
    return [type(node).__name__, *([k, _plain(v)] for k, v in filled.items())]


def local(kind: str) -> str:
    """Where a run on a kind of device, ``cpu`` or ``cuda``, leaves its ledger."""
    return f"{LOCAL}/{kind}.txt"


class Setting(NamedTuple):
    """With what blocks ran; where one of these differs, nothing is verified."""

    package: str
    torch: str
    python: str

    @property
    def made_from(self) -> dict[str, str]:
        """As in a ledger: from what, besides its own blocks."""
        return {"package": self.package}

    @property
    def by(self) -> dict[str, str]:
        """As in a ledger: by what."""
        return {"torch": self.torch, "python": self.python}


def setting(root: Path) -> Setting:
    """The setting of this process, for the package of the project at ``root``."""
    return Setting(package_hash(root / "ppo_ref"), version("torch"), python_version())


def current(ledger: Ledger, page: str, here: Setting) -> Entry | None:
    """What a ledger says of a page, if it was verified with this setting."""
    return ledger[page] if fresh(ledger.get(page), here.made_from, here.by) else None


def passed(entry: Entry | None) -> Hashes:
    """The blocks of a page that passed."""
    return frozenset(str(entry.content or "").split() if entry else ())


def entry_of(here: Setting, device: str, day: str, passed: Hashes) -> Entry:
    """A page in a ledger: with what it ran, on what and when, and what passed."""
    by = here.by | {"device": device, "date": day}
    return Entry(here.made_from, by, " ".join(sorted(passed)) or None)


def passing(verified: Verified) -> Hashes:
    """The blocks of a page that passed when it ran."""
    hashes = block_hashes(verified.page.blocks)
    good = [b for b in verified.running if not check_block(verified, b)]
    return frozenset(hashes[block.fence.line] for block in good)


def note(
    root: Path, kind: str, here: Setting, device: str, run: Mapping[str, Hashes]
) -> None:
    """Note what passed of each page that ran, on a device by the name readers know."""
    today = date.today().isoformat()
    with update(root / local(kind)) as ledger:
        for page, passed in run.items():
            ledger[page] = entry_of(here, device, today, passed)
        for page in [page for page in ledger if not (root / page).is_file()]:
            del ledger[page]


def note_runs(
    root: Path, kind: str, here: Setting, device: str, runs: Sequence[Verified]
) -> None:
    """Note what passed, and what was drawn where all of a notebook did on the CPU."""
    run = {each.page.path: passing(each) for each in runs if each.running}
    note(root, kind, here, device, run)
    for page, results in ((each.page, each.run.results) for each in runs):
        whole = run.get(page.path) == frozenset(block_hashes(page.blocks).values())
        if kind == "cpu" and is_notebook(page.id) and whole:
            keep_plots(root, page.path, page.blocks, here, results)


@dataclass(frozen=True)
class Evidence:
    """What has been verified, by page, and the package, torch and Python at hand."""

    setting: Setting
    cpu: Ledger = field(default_factory=dict)  # what runs on this machine left
    gpu: Ledger = field(default_factory=dict)  # the committed record

    def on_cpu(self, page: str, block: str) -> Entry | None:
        """The run on this machine in which a block passed, by its page and hash."""
        entry = current(self.cpu, page, self.setting)
        return entry if block in passed(entry) else None

    def on_gpu(self, page: str, block: str) -> tuple[Entry, bool] | None:
        """The run on a GPU that knows the page, and whether it holds for this block."""
        entry = self.gpu.get(page)
        holds = fresh(entry, self.setting.made_from) and block in passed(entry)
        return (entry, holds) if entry else None


def gather(root: Path) -> tuple[Evidence, list[Message]]:
    """What has been verified of a project, and which ledgers cannot be read."""
    ledgers: list[Ledger] = []
    wrong: list[Message] = []
    for name in (local("cpu"), RECORD):
        try:
            ledgers.append(read(root / name))
        except Damaged as error:
            ledgers.append({})
            wrong.append(Message("record_damaged", {"name": name, "error": error}))
    return Evidence(setting(root), *ledgers), wrong


def unverified(evidence: Evidence, page: str, blocks: list[Block]) -> list[Problem]:
    """The running blocks of a page that have not been verified as they stand."""
    return [
        problem(page, line, "block_unverified", file=local("cpu"))
        for line, block in block_hashes(blocks).items()
        if not evidence.on_cpu(page, block)
    ]


def blocks_of(root: Path, path: str, text: str) -> tuple[list[Block], list[Problem]]:
    """The blocks of a page as they are read, and those that cannot be read."""
    fences, problems = scan(text, path)
    blocks, unread = read_blocks(fences, text, path, root / "snippets")
    return blocks, [*problems, *unread]


def keep_plots(
    root: Path,
    page: str,
    blocks: Sequence[Block],
    here: Setting,
    results: Sequence[Result],
) -> None:
    """Keep what the blocks of a notebook drew in a run in which all of them passed."""
    with update(root / PLOTS) as ledger:
        drawn = [dict(result.plots) for result in results]
        ledger[page] = replace(_due_plots(blocks, here), content=drawn)


def plots(root: Path, page: str) -> list[dict[str, str]]:
    """The SVG of each plot by its name, per block; maybe of an earlier run."""
    entry = _kept_plots(root, page)
    return entry.content or [] if entry else []


def undrawn(
    root: Path, page: str, blocks: Sequence[Block], here: Setting
) -> list[Problem]:
    """A problem if a page is a notebook whose plots are not those of its code."""
    due, draws = _due_plots(blocks, here), is_notebook(page.split("/", 2)[2])
    if not draws or fresh(_kept_plots(root, page), due.made_from, due.by):
        return []
    return [problem(page, 1, "plots_undrawn", file=PLOTS)]


def _due_plots(blocks: Sequence[Block], here: Setting) -> Entry:
    """From what and by what plots are made; the last block's hash covers all above."""
    *_, last = ["none", *block_hashes(blocks).values()]
    by = here.by | {"matplotlib": version("matplotlib")}
    return Entry(here.made_from | {"blocks": last}, by)


def _kept_plots(root: Path, page: str) -> Entry | None:
    try:
        return read(root / PLOTS).get(page)
    except Damaged:
        return None
