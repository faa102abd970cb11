"""What holds in every run: the same draws, no test by the clock, no silent skip.

``--shuffle new`` draws a random order, ``--shuffle SEED`` repeats it. Files are
shuffled, and the tests within each: the tests of a file stay together, as they do when
several processes share the run.
"""

import gc
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A shell starts its background jobs deaf to Ctrl-C, and they pass it on: a test that
# interrupts what it started would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("project", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("project")


# Else a fifth of the time goes into looking for garbage among all that torch defines.
gc.disable()


def shuffle_seed(text: str) -> int:
    """The seed of the order; a new one for the word ``new``."""
    return random.randrange(10**6) if text == "new" else int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        type=shuffle_seed,
        metavar="SEED",
        help="run the tests in a random order: a number, or new",
    )


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    hands_out = bool(getattr(config.option, "numprocesses", None)) and not is_worker
    if not hands_out:
        import torch  # two seconds

        # Tensors are tiny here: threads would only wait for each other.
        torch.set_num_threads(1)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Every process of a run draws the same order."""
    node.workerinput["shuffle"] = node.config.option.shuffle


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    # Training takes longest: begun first, it does not end alone.
    items.sort(key=lambda item: item.path.parent.name != "train")
    told = getattr(config, "workerinput", {})
    seed = told.get("shuffle", config.option.shuffle)
    if seed is None:
        return
    draw = random.Random(seed)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    groups = list(files.values())
    draw.shuffle(groups)
    items.clear()
    for tests in groups:
        draw.shuffle(tests)
        items.extend(tests)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def same_draws():
    """Also of what a test draws without a generator of its own."""
    import torch

    torch.manual_seed(0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The order, and one line per reason, however many tests it made skip."""
    seed = terminalreporter.config.option.shuffle
    if seed is not None:
        terminalreporter.write_line(f"random order: --shuffle {seed} repeats it")
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count}: {reason}")
