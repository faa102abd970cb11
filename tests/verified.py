"""On what device the pages run, and the note of which blocks passed there.

A pytest plugin (``-p tests.verified``): the option ``--device``, and at the end of a
run the ledger from which the site draws its marks. Without the option pages run on
the CPU, whatever the machine has; ``make test`` runs them a second time on a GPU.
"""

from collections.abc import Generator

import pytest

from site_tools.running import evidence
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
    """The pages that have run, by their path."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.setting = evidence.setting(ROOT)
        self.runs: dict[str, Verified] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        document = getattr(getattr(item, "example", None), "document", None)
        if verified := vars(document).get("verified") if document else None:
            self.runs[verified.page.path] = verified
        return report

    def pytest_sessionfinish(self) -> None:
        """Nothing is noted if the package was edited under way: who knows what ran."""
        if self.runs and evidence.setting(ROOT) == self.setting:
            place = ROOT, kind(self.device), self.setting, name(self.device)
            evidence.note_runs(*place, [*self.runs.values()])
