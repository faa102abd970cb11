"""What of a page has been verified, by the manifests at hand."""

from dataclasses import dataclass
from pathlib import Path

from site_tools.page.block_reading import read_blocks
from site_tools.page.blocks import Block
from site_tools.page.fences import scan
from site_tools.problems import Problem
from site_tools.running.hashes import block_hashes
from site_tools.running.manifest import Manifest, Setting, setting
from site_tools.running.manifest_files import RECORD, load, local

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Evidence:
    """The manifests, and the setting that the one of this machine must have.

    Args:
        setting: The package, torch and Python at hand.
        cpu: What a run on the CPU left on this machine.
        gpu: What a run on a GPU left here, else the committed record.
    """

    setting: Setting
    cpu: Manifest | None = None
    gpu: Manifest | None = None

    def on_cpu(self, page: str, block: str) -> Manifest | None:
        """The run on this machine in which a block passed, by its page and hash."""
        if self.cpu is None or self.cpu.setting != self.setting:
            return None
        return self.cpu if block in self.cpu.passed.get(page, NONE) else None

    def on_gpu(self, page: str, block: str) -> tuple[Manifest, bool] | None:
        """The run on a GPU that knows the page, and whether it holds for this block."""
        if self.gpu is None or page not in self.gpu.passed:
            return None
        same = self.gpu.setting.package == self.setting.package
        return self.gpu, same and block in self.gpu.passed[page]


def gather(root: Path) -> tuple[Evidence, list[str]]:
    """The manifests of a project, and what is wrong with those that cannot be read."""
    found: dict[str, Manifest | None] = {}
    wrong: list[str] = []
    for name in (local("cpu"), local("cuda"), RECORD):
        try:
            found[name] = load(root, name)
        except ValueError as error:
            wrong.append(f"{error}; it counts for nothing until it is made anew")
    here = setting(root)
    gpu = found.get(local("cuda"))
    if gpu is None or gpu.setting != here:
        gpu = found.get(RECORD)
    return Evidence(here, found.get(local("cpu")), gpu), wrong


def blocks_of(root: Path, path: str, text: str) -> tuple[list[Block], list[Problem]]:
    """The blocks of a page as they are read, and those that cannot be read."""
    fences, problems = scan(text, path)
    blocks, unread = read_blocks(fences, text, path, root / "snippets")
    return blocks, [*problems, *unread]


def unverified(evidence: Evidence, page: str, blocks: list[Block]) -> list[Problem]:
    """The running blocks of a page that have not been verified as they stand."""
    hashes = block_hashes(blocks)
    return [
        Problem(
            page,
            block.fence.line,
            "a block that has not been verified here as it stands",
            f"a run in which it passed, noted in {local('cpu')}",
            "make build, which verifies every page before it builds",
        )
        for block in blocks
        if block.runs and not evidence.on_cpu(page, hashes[block.fence.line])
    ]
