"""The command that verifies one page: what it takes, and what it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import check

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", "No page given; as in: make check PAGE=alignment/value_before_token"),
        (
            "gae/value_befor_token",
            "No page gae/value_befor_token in docs/zh or docs/en; "
            "the nearest is: make check PAGE=alignment/value_before_token",
        ),
        (
            "docs/zh/../zh/index",
            "PAGE must be like topic/page, without a leading / or .., "
            "got docs/zh/../zh/index",
        ),
        (
            "/docs/zh/index.md",
            "PAGE must be like topic/page, without a leading / or .., "
            "got /docs/zh/index.md",
        ),
    ],
)
def test_check_asks_for_a_page_that_exists(page: str, words: str) -> None:
    command = [sys.executable, "-m", "tests.check"]
    environment = {**os.environ, "PAGE": page}
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout + ran.stderr) == (1, words + "\n")


def test_check_takes_a_path_and_a_page_in_one_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs/zh/gae/inputs.md"
    page.parent.mkdir(parents=True)
    page.touch()
    monkeypatch.chdir(tmp_path)
    assert check.files_of("gae/inputs") == ["docs/zh/gae/inputs.md"]
    assert check.files_of("docs/en/gae/inputs.md") == ["docs/zh/gae/inputs.md"]
