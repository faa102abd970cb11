"""On what device the pages run, and the note of which blocks passed there.

A pytest plugin (``-p tests.verified``): the option ``--device``, and at the end of a
run the ledger from which the site draws its marks. Without the option pages run on
the CPU, whatever the machine has; ``make test`` runs them a second time on a GPU.
"""

from collections.abc import Generator
from typing import Any

import pytest

from site_tools.page.blocks import Block
from site_tools.page.pictures import is_notebook
from site_tools.running import evidence
from site_tools.running.hashes import block_hashes
from site_tools.running.verdict import CPU, Verified, kind
from tests.pages import ROOT, PageDocument


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        default=CPU,
        help="where the blocks of the pages run: cpu, or a GPU as cuda or cuda:1",
    )


def pytest_configure(config: pytest.Config) -> None:
    device = config.getoption("device")
    if device != CPU and (refusal := refuse(device)):
        raise pytest.UsageError(f"{refusal}; without --device pages run on the CPU")
    PageDocument.device = device
    config.pluginmanager.register(Note(device), "note of what was verified")


def refuse(device: str) -> str | None:
    """Why nothing can run on a device, in one sentence; None if it can."""
    import torch  # only here: who runs pages on the CPU need not wait for it

    if kind(device) not in (CPU, "cuda"):
        return f"a device must be cpu, cuda, or one GPU as in cuda:1, got {device}"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        found = f"torch {torch.__version__} finds {torch.cuda.device_count()}"
        return f"{device} must be a GPU that PyTorch can use, {found}"
    return None


def name(device: str) -> str:
    """What readers are told of a device."""
    if kind(device) == CPU:
        return "CPU"
    import torch

    return torch.cuda.get_device_name(device)


class Note:
    """What became of each block, by the path of its page and its hash."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.setting = evidence.setting(ROOT)
        self.blocks: dict[str, frozenset[str]] = {}
        self.ended: dict[str, dict[str, bool]] = {}
        self.drawn: dict[str, Verified] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        example = getattr(item, "example", None)
        block = getattr(example, "parsed", None)
        if call.when == "call" and isinstance(block, Block) and block.runs:
            self.add(example.document.page, block, report.passed)
            if is_notebook(example.document.page.id) and self.device == CPU:
                self.drawn[example.document.page.path] = example.document.verified
        return report

    def add(self, page: Any, block: Block, passed: bool) -> None:
        hashes = block_hashes(page.blocks)
        self.blocks[page.path] = frozenset(hashes.values())
        self.ended.setdefault(page.path, {})[hashes[block.fence.line]] = passed

    def pytest_sessionfinish(self) -> None:
        """Nothing is noted if the package was edited under way: who knows what ran."""
        if self.ended and evidence.setting(ROOT) == self.setting:
            run = {page: self.outcome(page) for page in self.ended}
            for path, verified in self.drawn.items():
                if run[path].passed == run[path].blocks:
                    page, results = verified.page, verified.run.results
                    evidence.keep_plots(
                        ROOT, page.path, page.blocks, self.setting, results
                    )
            place = ROOT, kind(self.device), self.setting, name(self.device)
            evidence.note(*place, run)

    def outcome(self, page: str) -> evidence.Outcome:
        ended = self.ended[page].items()
        passed = frozenset(block for block, passed in ended if passed)
        failed = frozenset(block for block, passed in ended if not passed)
        return evidence.Outcome(self.blocks[page], passed, failed)
