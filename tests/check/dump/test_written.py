"""Dumps of verl, TRL and OpenRLHF: right ones pass, each fault is found by its name."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from ppo_ref.check.dump.judging import judge
from ppo_ref.check.dump.reading import read
from ppo_ref.check.dump.verdicts import FAIL, Report
from tests.check.dump.written import Shape, openrlhf, trl, verl, verl_v1, written

NO_CRITIC = Shape(critic=False)
RIGHT = {
    "GAE": Shape(),
    "GAE, KL": Shape(kl_coef=0.002, gae_lambda=1.0),
    "GAE, tools": Shape(tools=True, gamma=0.99, gae_lambda=0.95),
    "GAE, bfloat16": Shape(half=True, prompts=16, answers=2, width=15),
    "GRPO": NO_CRITIC,
    "GRPO, tools": Shape(critic=False, tools=True, answers=4, prompts=5),
    "GRPO, many": Shape(critic=False, answers=16, prompts=3, width=60),
    "GRPO, KL": Shape(critic=False, kl_coef=0.01),
    "Dr. GRPO": Shape(critic=False, estimator="dr_grpo"),
    "RLOO": Shape(critic=False, estimator="rloo"),
    "deviation of the batch": Shape(critic=False, estimator="batch"),
}
# What is wrong, in which batch, and what the stage that is to blame says.
WRONG = {
    "gae through tools": (Shape(tools=True), "gae", "between turns went in"),
    "halves": (NO_CRITIC, "advantages", "each group of 8 was normalised as 2 of 4"),
    "without the longest": (NO_CRITIC, "advantages", "leaves out its longest row"),
    "kl of rollout": (
        Shape(kl_coef=0.003),
        "kl",
        "0.003 times k1 of rollout_log_probs and ref_log_prob explains",
    ),
    "whitened by rank": (
        Shape(half=True),
        "whitening",
        "in 2 parts, by each of 2 workers",
    ),
    "temperature": (NO_CRITIC, "rollout", "another temperature"),
    "reference late": (NO_CRITIC, "reference", "lies one slot late: put back"),
}
Dump = Any


def dumps(seed: int, shape: Shape, fault: str = "") -> Iterator[tuple[str, Dump]]:
    """The batch under the names of each trainer that makes such a one."""
    batch = written(seed, shape, fault)
    by_verl = shape.estimator != "batch" and (shape.critic or not shape.kl_coef)
    if by_verl:
        yield "verl", verl(batch, shape.half)
        yield "verl", verl_v1(batch)
    if not shape.critic and not shape.kl_coef and shape.estimator != "rloo":
        yield "TRL", trl(batch, scored=False)
        yield "TRL", trl(batch, scored=True)
    if shape.estimator != "batch" and fault != "kl of rollout":
        yield "OpenRLHF", openrlhf(batch, shape)
        whitened = shape.estimator == "dr_grpo"
        yield "OpenRLHF", openrlhf(batch, shape, pieces=1, whitened=whitened)


def judged(dump: Dump, tmp_path: Any) -> Report:
    torch.save(dump, tmp_path / "dump.pt")
    return judge(read(tmp_path / "dump.pt"))


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_right_dump_passes(seed, name, tmp_path):
    for trainer, dump in dumps(seed, RIGHT[name]):
        report = judged(dump, tmp_path)
        assert report.exit_code == 0, f"\n{report}"
        assert report.seen.startswith(f"names of {trainer}; ")


@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize("seed", [2, 3])
def test_a_fault_is_found_by_its_name(seed, fault, tmp_path):
    shape, stage, words = WRONG[fault]
    for _, dump in dumps(seed, shape, fault):
        report = judged(dump, tmp_path)
        assert report.stages(FAIL) == [stage] and report.exit_code == 3, f"\n{report}"
        said = {verdict.stage: verdict.text for verdict in report.verdicts}
        assert words in said[stage], f"\n{report}"


def test_without_values_no_lambda_is_found(tmp_path):
    shape = Shape(critic=False, estimator="dr_grpo", kl_coef=0.02)
    made = openrlhf(written(4, shape), shape, pieces=1, whitened=True)
    torch.save(made, tmp_path / "dump.pt")
    for options in ({}, {"gae_lambda": 0.95}):
        report = judge(read(tmp_path / "dump.pt"), **options)
        said = {verdict.stage: verdict.text for verdict in report.verdicts}
        text = "info.return, and gamma 1 give the returns of 48 rows"
        assert said["gae"].endswith(text), f"\n{report}"
    report = judge(read(tmp_path / "dump.pt"), gamma=0.5)
    assert "gae" not in report.stages("ok")


def test_openrlhf_s_names_are_known_and_what_was_not_whitened_is_told(tmp_path):
    shape = Shape(critic=False, estimator="dr_grpo")
    for whitened, said, asked in (
        (False, "not whitened, as reinforce and reinforce_baseline are", FAIL),
        (True, "", "ok"),
    ):
        made = openrlhf(written(4, shape), shape, pieces=1, whitened=whitened)
        torch.save(made, tmp_path / "dump.pt")
        tensors = read(tmp_path / "dump.pt")
        report = judge(tensors)
        assert report.exit_code == 0
        assert any(said in verdict.text for verdict in report.verdicts)
        report = judge(tensors, estimator="reinforce_baseline")
        assert "returns" in report.stages("ok")
        assert "whitening" in report.stages(asked), f"\n{report}"
        report = judge(tensors, estimator="group_norm")
        assert report.stages(FAIL) == ["advantages"]


def test_of_three_log_probs_two_say_which_lies_in_another_slot():
    made = verl(written(3, Shape()))
    made["old_log_probs"] = made["old_log_probs"].roll(1, 1)
    text = "old_log_probs lies one slot late, as the third log-probs have it"
    one_of_two = "one slot early or old_log_probs one slot late, one of the two: put"
    del made["uid"]
    for left_out, stages, words in (
        ("", ("reference", "rollout"), text),
        ("rollout_log_probs", ("reference",), f"ref_log_prob lies {one_of_two}"),
        ("ref_log_prob", ("rollout",), f"rollout_log_probs lies {one_of_two}"),
    ):
        report = judge({name: x for name, x in made.items() if name != left_out})
        said = {verdict.stage: verdict.text for verdict in report.verdicts}
        assert all(words in said[stage] for stage in stages), f"\n{report}"
