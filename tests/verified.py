"""On what device the pages run, and the note of which blocks passed there.

A pytest plugin (``-p tests.verified``): the option ``--device``, and at the end of a
run the ledger from which the site draws its marks. Without the option pages run on
the CPU, whatever the machine has; ``make test`` runs them a second time on a GPU.

Where every page has passed as it stands, ``python -m tests.verified`` ends with 0, and
``make build`` need not run them again.
"""

import sys
from argparse import Namespace
from collections.abc import Generator, Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest

from site_tools.ledger import store
from site_tools.run import evidence
from site_tools.run.execution import CPU, Verified, device_type
from tests.pages import ROOT, PageDocument, pages_of

WHOLE = f"{evidence.LOCAL}/whole.txt"
# All that a verdict on a page rests on; what is installed is in the last.
SOURCES = ("docs", "snippets", "ppo_ref", "site_tools", "tests", "pins", ".venv/.ready")
SELECT = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "stepwise")


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
    if runs_tests(config):
        config.pluginmanager.register(Note(device), "note of what was verified")
    # Who asked for all of it knows how all of it ended.
    if not hasattr(config, "workerinput") and of_all(config.args, config.option):
        config.pluginmanager.register(Whole(), "note that every page was verified")


def runs_tests(config: pytest.Config) -> bool:
    """Not so the process that hands them out to others."""
    at_once = getattr(config.option, "numprocesses", None)
    return hasattr(config, "workerinput") or not at_once


def of_all(arguments: list[str], options: Namespace) -> bool:
    """Whether a run is of every page, on the CPU."""
    selects = any(getattr(options, name, None) for name in SELECT)
    whole = options.markexpr in ("", "not slow") and options.device == CPU
    return "docs" in arguments and whole and not selects


def refuse(device: str) -> str | None:
    """Why nothing can run on a device, in one sentence; None if it can."""
    import torch  # only here: who runs pages on the CPU need not wait for it

    if device_type(device) not in (CPU, "cuda"):
        return f"a device must be cpu, cuda, or one GPU as in cuda:1, got {device}"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        found = f"torch {torch.__version__} finds {torch.cuda.device_count()}"
        return f"{device} must be a GPU that PyTorch can use, {found}"
    return None


def name(device: str) -> str:
    """What readers are told of a device."""
    if device_type(device) == CPU:
        return "CPU"
    import torch

    return torch.cuda.get_device_name(device)


def state(root: Path) -> str:
    """A hash of all that the pages are verified from, and of when it was written."""
    hashed = sha256(f"torch {version('torch')}, Python {sys.version}".encode())
    for file in sorted(_sources(root)):
        content = sha256(file.read_bytes()).hexdigest()
        about = file.relative_to(root), file.stat().st_mtime_ns, content
        hashed.update(repr(about).encode())
    return hashed.hexdigest()


def _sources(root: Path) -> Iterator[Path]:
    yield from (file for file in root.iterdir() if file.suffix in (".yml", ".toml"))
    for place in SOURCES:
        for file in [root / place, *(root / place).rglob("*")]:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file


def all_verified(root: Path) -> bool:
    """Whether every page has passed as it stands, with all that it rests on."""
    noted = root / WHOLE
    return noted.is_file() and noted.read_text("utf-8") == state(root)


class Whole:
    """A run of all pages, which is noted if all is well and nothing was edited."""

    def __init__(self) -> None:
        self.before = state(ROOT)
        self.files: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.files.add(report.nodeid.partition("::")[0])

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        (ROOT / WHOLE).unlink(missing_ok=True)
        pages = {path.relative_to(ROOT).as_posix() for path in pages_of(ROOT)}
        all_passed = exitstatus == 0 and pages <= self.files
        if all_passed and state(ROOT) == self.before:
            store(ROOT / WHOLE, self.before.encode())


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
            place = ROOT, device_type(self.device), self.setting, name(self.device)
            runs = self.runs.values()
            run = {v.page.path: evidence.outcome(v) for v in runs if v.running}
            evidence.note(*place, run)


if __name__ == "__main__":
    if not all_verified(ROOT):
        sys.exit(1)
    print("Every page was verified as it stands.")
