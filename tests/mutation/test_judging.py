"""A mutant is told as killed, alive, unusable or endless, in a process of its own."""

import json
import subprocess
import sys

import pytest

from tests.mutation.own import ROOT

PROGRAM = """
import json, sys
from tests.mutation import judging, mutant, own, testing

of, tests, changes = json.loads(sys.argv[1])
kl = own.Own(of, tuple(tests))
judging.GRACE = 1
testing.warm_up()
own.import_around(kl)
text, found = kl.source.read_text("utf-8"), {}
made = [mutant.Mutant(0, new, text.replace(old, new)) for old, new in changes]
judging.judge_all(kl, made, lambda m, outcome: found.update({m.change: outcome.name}))
print(json.dumps(found))
"""


def judged(tests: list[str], changes: list[list[str]]) -> subprocess.CompletedProcess:
    asked = json.dumps(["kl", tests, changes])
    command = [sys.executable, "-c", PROGRAM, asked]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_outcomes():
    by_example = ".square() / 2", ".square() / 3"
    by_test = "torch.expm1(-log_ratio)", "(torch.exp(-log_ratio) - 1)"
    same = "+ log_ratio", "+ 1 * log_ratio"
    no_import = "import torch\n", "import torch_\n"
    # After its first call, so that no example waits for it.
    endless = "    return at_least", "    while 1: pass\n    return at_least"
    table = {
        by_example: "KILLED",
        by_test: "KILLED",
        same: "SURVIVED",
        no_import: "UNUSABLE",
        endless: "ENDLESS",
    }
    run = judged(["tests/properties/test_kl.py"], [list(change) for change in table])
    assert run.returncode == 0, run.stderr
    wanted = {new: outcome for (_, new), outcome in table.items()}
    assert json.loads(run.stdout.splitlines()[-1]) == wanted


@pytest.mark.slow
def test_tests_that_fail_by_themselves_judge_nothing(tmp_path):
    wrong = tmp_path / "test_wrong.py"
    wrong.write_text("def test_wrong():\n    assert False\n")
    run = judged([str(wrong)], [])
    assert run.returncode == 1
    assert "kl: its tests do not pass without a mutant" in run.stderr
