"""verl's own unit tests of core_algos, with ours in the place of what they test."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from tests.differential.peers import NOW
from tests.differential.verl_ours import BROKEN, VARIABLE
from tests.differential.wheels import requires, source

pytestmark = [requires(NOW), pytest.mark.slow]
ROOT = Path(__file__).parents[2]
FOLDER = "tests/trainer/ppo"
FILES = (
    "test_core_algos_on_cpu",
    "test_loss_aggregation_on_cpu",
    "test_reinforce_pp_multiturn_on_cpu",
    "test_value_loss_normalization_on_cpu",
)
JUDGES = {
    "compute_gae_advantage_return": "test_multi_turn_compute_gae_advantage_return",
    "compute_value_loss": "test_value_loss_microbatch_invariant_all_modes",
    "agg_loss": "test_token_sum_is_microbatch_invariant",
    "kl_penalty_forward": "test_kl_penalty_k3_plus_uses_k2_gradient",
}


class Report(NamedTuple):
    passed: set[str]
    failed: set[str]
    said: str


def verls_tests(folder: Path, functions: str) -> Report:
    """Run verl's tests with our functions in place of verl's."""
    for name in FILES:
        text = source(NOW, f"{FOLDER}/{name}.py")
        (folder / f"{name}.py").write_text(text, "utf-8")
    ours = ("-p", "tests.differential.verl_ours", "-p", "no:cacheprovider")
    ways = (f"--rootdir={folder}", "--import-mode=importlib", "--junitxml=report.xml")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *ours, *ways, "."],
        cwd=folder,
        env=os.environ | {VARIABLE: functions, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    report = folder / "report.xml"
    assert report.exists(), done.stdout + done.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    wrong = {str(case.get("name")) for case in cases if len(case)}  # or skipped
    names = {str(case.get("name")) for case in cases}
    return Report(names - wrong, wrong, done.stdout + done.stderr)


def test_verls_tests_pass_with_ours_in_place(tmp_path: Path) -> None:
    report = verls_tests(tmp_path, "ours")
    assert not report.failed, report.said
    assert len(report.passed) >= 61  # one more where there is CUDA


def test_verls_tests_notice_when_ours_are_broken(tmp_path: Path) -> None:
    report = verls_tests(tmp_path, "broken")
    failed = {name.partition("[")[0] for name in report.failed}
    assert set(JUDGES) == set(BROKEN)
    assert set(JUDGES.values()) <= failed, report.said
    assert len(report.passed) > 30  # what has nothing to do with them
