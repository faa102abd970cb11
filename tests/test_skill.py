"""The skill for coding agents: followed step by step, it finds planted bugs."""

import re
import subprocess
import sys

import pytest
import torch

from ppo_ref.check.dump.trainers import WRITTEN
from tests.check.dump.batches import T, dumped, sampled
from tests.layout import ROOT

SKILL = (ROOT / "skills/verify-ppo/SKILL.md").read_text("utf-8")
CHECKS = re.findall(r"(?m)^ppo-ref (check .*)$", SKILL)
(CODE,) = re.findall(r"```python\n(.*?)```", SKILL, flags=re.DOTALL)


def run(words: str, folder) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ppo_ref", *words.split()],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def log(score, kl) -> str:
    lines = (
        f"step:{n} - critic/score/mean:{score(n):.4f} - actor/ppo_kl:{kl(n):.5f}"
        for n in range(40)
    )
    return "\n".join(lines)


def test_the_log_of_a_run_that_returns_nan_is_found(tmp_path):
    text = log(lambda n: 0.4 if n < 20 else float("nan"), lambda n: 0.001)
    (tmp_path / "train.log").write_text(text)
    done = run(CHECKS[0], tmp_path)
    assert done.returncode == 3
    assert "broken" in done.stdout and "critic/score/mean" in done.stdout


@pytest.mark.parametrize("is_broken", [True, False])
def test_a_batch_whose_values_are_one_late_is_found(tmp_path, is_broken):
    tensors = sampled(slice(-T, None)) if is_broken else sampled()
    tensors = dumped(tensors, gamma=1.0, gae_lambda=0.95)
    assert f"```\n{WRITTEN[1].lines}\n```" in SKILL  # and tests/check/dump runs them
    torch.save(tensors, tmp_path / "dump.pt")
    done = run(CHECKS[1].replace(" --kl-coef 0.001", ""), tmp_path)
    assert done.returncode == 3 * is_broken, done.stdout
    assert ("FAIL" in done.stdout) == is_broken


BUGS = {
    "right": "r[t] + gamma * after - v[t]",
    "next_value_left_out": "r[t] - v[t]",
    "gamma_left_out_of_delta": "r[t] + after - v[t]",
    "sign_turned": "v[t] - r[t] - gamma * after",
}
LOOP = """
import torch


def trainer_gae(rewards, values, mask, gamma, gae_lambda):
    out = torch.zeros_like(rewards)
    for row in range(len(rewards)):
        r, v, carried = rewards[row], values[row], 0.0
        length = int(mask[row].sum())
        for t in reversed(range(length)):
            after = v[t + 1] if t + 1 < length else 0.0
            carried = DELTA + gamma * gae_lambda * carried
            out[row, t] = carried
    return out


"""


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_a_function_is_named(bug, capsys):
    names: dict[str, object] = {}
    exec(LOOP.replace("DELTA", BUGS[bug]) + CODE, names)
    printed = capsys.readouterr().out
    assert printed.startswith("right" if bug == "right" else f"mistake {bug}\n")


def test_it_begins_as_agents_ask():
    front = re.match(r"---\nname: ([\w-]+)\ndescription: (.+)\n---\n", SKILL)
    assert front and front[1] == "verify-ppo" and len(front[2]) <= 1024
