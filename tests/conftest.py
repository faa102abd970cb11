"""What holds in every run: the same draws, no test by the clock, no silent skip."""

import gc
import signal
from collections import Counter

import pytest
from hypothesis import settings

from tests.verified import runs_tests

# A shell starts its background jobs deaf to Ctrl-C, and they pass it on: a test that
# interrupts what it started would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("project", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("project")


# Else a fifth of the time goes into looking for garbage among all that torch defines.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    if runs_tests(config):
        import torch  # two seconds

        # Tensors are tiny here: threads would only wait for each other.
        torch.set_num_threads(1)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def same_draws():
    """Also of what a test draws without a generator of its own."""
    import torch

    torch.manual_seed(0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line per reason, however many tests it made skip."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count}: {reason}")
