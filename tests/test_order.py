"""A random order keeps the tests of a file together, and its seed repeats it."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.order import pytest_collection_modifyitems


def shuffled(number: int | None, workers: dict[str, Any] | None = None) -> list[Any]:
    tests = [
        SimpleNamespace(path=Path(f"{name}.py"), number=number)
        for name in "abcdef"
        for number in range(6)
    ]
    config = SimpleNamespace(option=SimpleNamespace(shuffle=number))
    if workers is not None:
        config.workerinput = workers
    pytest_collection_modifyitems(config, tests)  # type: ignore[arg-type]
    return [(test.path.stem, test.number) for test in tests]


def test_a_seed_repeats_its_order_in_every_process_of_a_run() -> None:
    assert shuffled(1) == shuffled(1) != shuffled(2)
    assert sorted(shuffled(1)) == shuffled(None)
    assert shuffled(2, workers={"shuffle": 1}) == shuffled(1)


def test_the_tests_of_a_file_stay_together() -> None:
    files = [file for file, _ in shuffled(3)]
    changes = sum(one != two for one, two in pairwise(files))
    assert changes == 5
