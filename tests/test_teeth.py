"""Teeth: what the pages explain is taken out of the code, and something fails."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ["docs", "ppo_ref", "site_tools", "snippets", "tests"]
FILES = ["mkdocs.yml", "pyproject.toml"]
JUDGES = ["tests/properties", "docs/zh", "docs/en"]
MUTANTS = {
    "the - 1 of the slice": (
        "ppo_ref/alignment.py",
        "outputs[:, -response_length - 1 : -1]",
        "outputs[:, -response_length:]",
    ),
    "the - 1 of the page's slice": (
        "snippets/alignment/value_before_token.py",
        "slice(-T - 1, -1)",
        "slice(-T, None)",
    ),
    "the r_0 of the page's mean": (
        "snippets/alignment/value_includes_reward.py",
        "r[:, 0] + r[:, 1], r[:, 1]",
        "r[:, 1], r[:, 1]",
    ),
    "the mask of GAE": (
        "ppo_ref/packing.py",
        "torch.where(response_mask, x, 0))",
        "x)",
    ),
    "lambda in the recursion": (
        "ppo_ref/advantages.py",
        "discount=gamma * gae_lambda",
        "discount=gamma",
    ),
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in NEEDED:
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def verdict(folder: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", *JUDGES]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return run.returncode, run.stdout


@pytest.mark.slow
def test_the_copy_passes_as_it_stands(copy: Path) -> None:
    code, output = verdict(copy)
    assert code == 0, output


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS.keys())
def test_a_mutant_fails(copy: Path, mutant: tuple[str, str, str]) -> None:
    name, old, new = mutant
    text = (copy / name).read_text("utf-8")
    assert old in text
    (copy / name).write_text(text.replace(old, new), "utf-8")
    code, output = verdict(copy)
    assert code == 1, output
    assert "1 failed" in output
