"""Which blocks have been verified, with what, and what the notebooks drew.

A run of the pages leaves a ledger for each kind of device in ``.cache/verified``, which
has the hashes of the blocks of each page that passed. ``docs/verified/cuda.txt`` is the
record of a GPU that somebody committed: a line for each page whose blocks all passed.
"""

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from site_tools.run.execution import Verified
from site_tools.run.verdict import check_block
from site_tools.say import Problem, problem

LOCAL = ".cache/verified"
RECORD = "docs/verified/cuda.txt"
Outcome = dict[str, list[Any]]  # of a page: the hashes of blocks, its plots
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
    """Where a run on a kind of device leaves its ledger."""
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


def note(
    root: Path, kind: str, here: Setting, device: str, run: Mapping[str, Outcome]
) -> None:
    """Note what pages did on a kind of device; its name is for readers."""
    by = here.by | {"device": device, "date": date.today().isoformat()}
    with update(root / local(kind)) as ledger:
        ledger |= {page: Entry(here.made_from, by, run[page]) for page in run}
        for page in [page for page in ledger if not (root / page).is_file()]:
            del ledger[page]


def outcome(verified: Verified) -> Outcome:
    """The blocks of a page that passed when it ran, and what a notebook drew."""
    hashes, page = block_hashes(verified.page.blocks), verified.page
    good = [b for b in verified.running if not check_block(verified, b)]
    passed = [hashes[block.fence.line] for block in good]
    drawn = [dict(result.plots) for result in verified.run.results]
    return {"passed": passed} | ({"plots": drawn} if is_notebook(page.id) else {})


def noted(ledger: Ledger, page: str) -> Outcome:
    """What a run left of a page, maybe another package's run."""
    content = ledger[page].content if page in ledger else None
    return content if isinstance(content, dict) else {}


def passed(ledger: Ledger, page: str, here: Setting) -> list[str]:
    """The blocks of a page that passed in this setting."""
    known = fresh(ledger.get(page), here.made_from, here.by)
    return noted(ledger, page).get("passed", []) if known else []


def recorded(blocks: Sequence[Block], here: Setting) -> dict[str, str]:
    """From what a page was made that the record of a GPU knows."""
    *_, last = ["none", *block_hashes(blocks).values()]  # it covers all above
    return here.made_from | {"blocks": last}


@dataclass(frozen=True)
class Evidence:
    """What has been verified, by page, and the package, torch and Python at hand."""

    setting: Setting
    cpu: Ledger = field(default_factory=dict)  # what runs on this machine left
    gpu: Ledger = field(default_factory=dict)  # the committed record

    def on_cpu(self, page: str, block: str) -> bool:
        """Whether a block passed on this machine, by its page and hash."""
        return block in passed(self.cpu, page, self.setting)

    def on_gpu(self, page: str, blocks: Sequence[Block]) -> bool:
        """Whether the record of a GPU holds for a page as it is now."""
        return fresh(self.gpu.get(page), recorded(blocks, self.setting))

    def plots(self, page: str) -> list[dict[str, str]]:
        """The SVG of each plot by its name, per block, of the last run."""
        return noted(self.cpu, page).get("plots", [])


def gather(root: Path) -> Evidence:
    """What has been verified of a project; what cannot be read counts for nothing."""
    return Evidence(setting(root), *(_read(root / at) for at in (local("cpu"), RECORD)))


def _read(file: Path) -> Ledger:
    try:
        return read(file)
    except Damaged:
        return {}


def unverified(evidence: Evidence, page: str, blocks: Sequence[Block]) -> list[Problem]:
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
