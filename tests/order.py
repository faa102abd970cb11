"""Tests in a random order: ``--shuffle new`` draws it, ``--shuffle SEED`` repeats it.

A pytest plugin (``-p tests.order``). Files are shuffled, and the tests within each: the
tests of one file stay together, as they do when several processes share the run.
"""

import random
from itertools import chain
from pathlib import Path
from typing import Any

import pytest


def seed(text: str) -> int:
    """The seed of the order; a new one for the word ``new``."""
    return random.randrange(10**6) if text == "new" else int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        type=seed,
        metavar="SEED",
        help="run the tests in a random order: a number, or new",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Every process of a run draws the same order."""
    node.workerinput["shuffle"] = node.config.option.shuffle


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    number = terminalreporter.config.option.shuffle
    if number is not None:
        terminalreporter.write_line(f"random order: --shuffle {number} repeats it")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    # Training takes longest: begun first, it does not end alone.
    items.sort(key=lambda item: item.path.parent.name != "training")
    told = getattr(config, "workerinput", {})
    number = told.get("shuffle", config.option.shuffle)
    if number is None:
        return
    draw = random.Random(number)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files.values())
    draw.shuffle(order)
    for tests in order:
        draw.shuffle(tests)
    items[:] = chain.from_iterable(order)
