"""The log doctor judges: causes first, nothing that another line contradicts."""

import itertools
import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from ppo_ref.check.doctor.figures import FIGURES
from ppo_ref.check.doctor.judging import judge
from ppo_ref.check.doctor.measuring import measure
from ppo_ref.check.doctor.reading import K1, RATIO, read_log
from ppo_ref.check.doctor.report import report
from ppo_ref.command.main import main
from ppo_ref.train.stored_runs import stored_names, stored_run
from tests.check.doctor.logs import json_lines, stored_file, told
from tests.layout import ROOT

KNOWN_LINE = "step:1 - actor/entropy:0.5\n"

BROKEN = {  # what is told of the stored runs that are not sound
    "flipped_sign": ["score", "cut-off", "hacking", "grad-norm"],
    "whitened_over_padding": ["pg-loss"],
    "smollm2_flipped_sign": ["score", "cut-off"],
    "smollm2_large_steps": ["clip", "score"],
    "smollm2_temperature": ["mismatch"],
    "smollm2_too_short": ["cut-off", "reward-function"],
    "smollm2_grpo_seed_2": ["score"],  # it does not learn
}


def test_broken_runs_are_found_and_no_sound_one_alarms() -> None:
    """Two pass unseen: values one late, and a reward that any number earns."""
    for name in stored_names():
        found = judge(read_log(stored_file(name)))
        alarms = [x.row for x in found if x.level in ("broken", "look")]
        assert alarms == BROKEN.get(name, []), name


TOP_P = {  # the engine cuts by top-p 0.9, the trainer does not: debug/symptoms
    "training/rollout_probs_diff_mean": 0.032,
    "rollout_corr/kl": 0.091,
    "rollout_corr/k3_kl": 0.0042,
}
CAPPED = {"rollout_corr/rollout_is_ratio_fraction_high": 0.4}
SEQUENCE = {"rollout_corr/rollout_is_mean": 0.4}
FILTERED = {"is_filter_ratio": 0.6}  # OpenRLHF
PRODUCT = {  # TRL's sequence_mask on long answers
    "sampling/sampling_logp_difference/mean": 0.4,
    "sampling/importance_sampling_ratio/mean": 0.02,
}


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (TOP_P, {RATIO, K1}),
        *((line, set(line)) for line in (CAPPED, SEQUENCE, FILTERED, PRODUCT)),
    ],
)
def test_a_sampler_that_is_not_the_trainer_is_found(
    line: dict[str, float], seen: set[str]
) -> None:
    log = json_lines([line | {"reward": x / 9} for x in range(5)])
    assert told(log) == dict.fromkeys(seen, "mismatch")


@pytest.mark.parametrize(
    ("key", "beside", "row"),
    [
        ("actor/kl_loss", {}, "hacking"),
        ("kl", {"frac_reward_zero_std": 0.1, "loss": 0.01}, "hacking"),  # TRL
        ("kl", {"rollout/reward_mean": 0.5}, "hacking"),  # OpenRLHF
        ("kl", {"effective_sample_size": 0.99}, None),  # ours is a sum
        ("objective/kl", {}, None),  # and so is that of TRL's PPO
    ],
)
def test_a_drift_of_three_nats_is_far_for_a_token_and_near_for_a_response(
    key: str, beside: dict[str, float], row: str | None
) -> None:
    log = json_lines([beside | {key: 0.08 * i} for i in range(40)])
    assert told(log).get(key) == row


@pytest.mark.parametrize(("lang", "rate"), [("en", "learning rate"), ("zh", "学习率")])
def test_much_clipping_names_gspo_before_a_smaller_rate(lang: str, rate: str) -> None:
    """The log does not show the range, and the paper's clips much in a sound run."""
    log = read_log(json_lines([{"actor/pg_clipfrac": 0.4}] * 5))
    (finding,) = judge(log, lang)
    assert 0 < finding.says.index("GSPO") < finding.says.index(rate)


@pytest.mark.parametrize(
    ("values", "course"),
    [
        (["nan"], "never finite in 1 step"),
        (["nan", "inf"], "never finite in 2 steps"),
        (["0.02", "nan"], "not finite in 1 of 2 steps, else 0.02 -> 0.02"),
        (["0.5", "1", "nan"], "not finite in 1 of 3 steps, else 0.5 -> 1"),
    ],
)
def test_a_figure_that_is_no_number_is_given_none(
    values: list[str], course: str
) -> None:
    for figure in FIGURES:
        key = figure["keys"][0]
        if key == RATIO or "*" in key or key == "actor/lr":
            continue
        log = read_log("\n".join(f"{key}:{x}" for x in values))
        told = report(log, judge(log))
        assert told.splitlines()[0] == f"broken  {key}  {course}  [nan]"


def test_what_is_finite_again_later_is_noted() -> None:
    log = read_log("actor/entropy:nan\nactor/entropy:0.5\nactor/entropy:0.5")
    assert report(log, judge(log)).startswith("note    actor/entropy  not finite in 1")


def test_what_a_short_log_cannot_show_is_said() -> None:
    def last(lines: int) -> str:
        log = read_log(KNOWN_LINE * lines)
        return report(log, judge(log)).splitlines()[-2]

    assert last(1).startswith("1 step: too few to tell a trend from noise")
    assert last(12).startswith("12 steps: too few to say that a score does not rise")
    assert last(20) == "20 steps"


def test_names_of_a_table_reach_no_terminal_raw(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "export.csv"
    path.write_text("actor/entropy,\x1b[2J\x1b]0;x\x07,\u202eabc\n0.5,1,2\n")
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert all(sign.isprintable() or sign == "\n" for sign in said)
    assert r"\x1b[2J\x1b]0;x\x07, \u202eabc" in said


def test_a_file_without_a_known_figure_is_no_log(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a line\n")
    assert main(["check", str(path)]) == 2
    assert "neither a dump nor a log" in capsys.readouterr().err


def test_check_judges_a_log_and_the_folder_of_a_run(
    tmp_path: Path, capsys: Any
) -> None:
    lines = [json.dumps(line) for line in stored_run("flipped_sign").iterations]
    (tmp_path / "statistics.jsonl").write_text("\n".join(lines))
    assert main(["check", str(tmp_path)]) == 3
    said = capsys.readouterr().out
    assert re.search(r"^broken +score .*\[score\]$", said, re.MULTILINE)
    healthy = tmp_path / "healthy.log"
    steps = [json.dumps(line) for line in stored_run("healthy").iterations]
    healthy.write_text("\n".join(steps))
    assert main(["check", str(healthy)]) == 0


@pytest.mark.pages
def test_every_row_is_a_section_of_the_symptoms() -> None:
    rows = {figure["row"] for figure in FIGURES}
    rows |= {c["row"] for f in FIGURES for c in f["cases"] if "row" in c}
    for lang in "zh", "en":
        page = (ROOT / "docs" / lang / "debug" / "symptoms.md").read_text("utf-8")
        missing = [row for row in rows if f"{{ #{row} " not in page]
        assert not missing, missing


SERIES: dict[str, list[float]] = {
    "zero": [0.0] * 30,
    "same": [0.2] * 30,
    "rising": [x / 30 for x in range(30)],
    "falling": [1 - x / 30 for x in range(30)],
    "peak": [*(x / 15 for x in range(15)), *(1 - x / 15 for x in range(15))],
    "flat": [0.5, 0.4] * 15,
    "wild": [0.1, 0.9, 0.5] * 10,
    "top": [0.95, 0.97, 0.96] * 10,
    "large": [100.0] * 30,
    "small": [0.01, 0.02] * 15,
    "tiny": [1e-4] * 30,
    "nothing": [1e-9] * 30,
    "tenth": [0.1] * 30,
    "negative": [-0.1] * 30,
    "worse": [-2.0] * 30,
    "sinking": [0.0] * 3 + [-0.1] * 27,
    "spike": [*([1.0] * 20), 50.0, *([1.0] * 9)],
    "tripled": [0.2] * 15 + [0.7] * 15,
    "drifting": [1e-3] * 15 + [0.06] * 15,
    "exploding": [0.1 * 2**i for i in range(30)],
    "leap": [0.1] * 2 + [0.6, 0.5] * 14,
    "filling": [0.1] * 15 + [0.95] * 15,
    "shrunk": [1.0] * 15 + [0.05] * 15,
    "worse later": [*(0.5 for _ in range(20)), *(0.42 for _ in range(10))],
    "lost": [0.5] * 20 + [math.nan] * 10,
    "gaps": [0.5, math.nan, 0.5] * 10,
}
STEPS = [float(i) for i in range(1, 31)]


def _involved(figure: dict[str, Any], case: dict[str, Any]) -> list[str]:
    """The names of the figures that a case looks at, its own first."""
    named = {name.rpartition(".")[0] for name, _, _ in case["if"]}
    first = {each["id"]: each["keys"][0] for each in FIGURES}
    others = [first[name] for name in sorted(named - {"", "any", figure["id"]})]
    if any(name == "any.gone" for name, _, _ in case["if"]):
        others.append("loss")
    return [key.replace("*", "x") for key in (figure["keys"][0], *others)]


def test_each_case_is_told_of_a_log_made_for_it() -> None:
    """None of the cases stands behind one that always comes first."""
    for figure in FIGURES:
        for case in figure["cases"]:
            names = _involved(figure, case)
            drawn = itertools.product(SERIES.values(), repeat=len(names))
            logs = (
                {"step": STEPS} | dict(zip(names, values, strict=True))
                for values in drawn
            )
            said = (
                found.says
                for log in logs
                for found in judge(log)
                if found.key == names[0] and found.level == case["level"]
            )
            assert case.get("en", "") in said, (figure["id"], case)


CONTRADICTIONS = [{"no steps", "large steps"}]
CLAIMING = (
    "score",
    "actor_lr",
    "kl_coef",
    "clip",
    "old_kl",
    "sample_size",
    "grad_norm",
)


def test_no_two_findings_contradict_each_other() -> None:
    """Whatever is logged together, however unlikely."""
    random_ = random.Random(0)
    claims = {x for f in FIGURES for c in f["cases"] for x in c.get("claims", [])}
    assert claims == set().union(*CONTRADICTIONS)
    keys = [figure["keys"][0] for figure in FIGURES if figure["id"] in CLAIMING]
    claimed = 0
    for _ in range(2000):
        log = {key: random_.choice([*SERIES.values()]) for key in keys}
        found = {claim for one in judge({"step": STEPS} | log) for claim in one.claims}
        claimed += bool(found)
        assert not any(pair <= found for pair in CONTRADICTIONS), log
    assert claimed > 100


def test_a_step_size_is_not_inferred_from_a_clip_fraction_of_zero() -> None:
    """One optimizer step a batch clips nothing, however large it is."""
    score = [0.4] * 5 + [0.0] * 35
    steps = [{"reward": x, "clip_ratio/region_mean": 0.0} for x in score]
    found = judge(read_log(json_lines(steps)))
    said = {one.key: one.says for one in found}
    assert said["reward"].index("learning rate") < said["reward"].index("sign")
    assert "says nothing about the size" in said["clip_ratio/region_mean"]


def test_a_rate_that_broke_the_run_is_named_before_its_score() -> None:
    score = [0.4, 0.5, 0.45, 0.4, 0.1] + [0.0] * 35
    steps = [{"critic/score/mean": x, "actor/lr": 1e-4} for x in score]
    found = judge(read_log(json_lines(steps)))
    assert [one.row for one in found] == ["learning-rate", "score"]
    assert {one.level for one in found} == {"broken"}


def test_the_figure_that_is_lost_first_is_named_first() -> None:
    steps = [
        {
            "actor/entropy": 0.5 if i < 15 else math.nan,
            "actor/grad_norm": 0.5 if i < 10 else math.nan,
            "critic/score/mean": 0.5 if i < 15 else 0.0,
        }
        for i in range(30)
    ]
    found = judge(read_log(json_lines(steps)))
    assert [(one.key, one.level) for one in found] == [
        ("actor/grad_norm", "broken"),
        ("actor/entropy", "note"),
        ("critic/score/mean", "fine"),
    ]


def test_two_sentences_a_case_and_known_words_alone() -> None:
    features = set(measure([0.0, 1.0]))
    keys = [key for figure in FIGURES for key in figure["keys"]]
    ids = [figure["id"] for figure in FIGURES]
    assert len(keys) == len(set(keys))
    for figure in FIGURES:
        for case in figure["cases"]:
            assert case["level"] in ("broken", "look", "note", "fine")
            assert (case.get("en") and case.get("zh")) or case["level"] == "fine"
            conditions = case["if"] + case.get("unless", [])
            names = {name.rpartition(".") for name, _, _ in conditions}
            assert {feature for _, _, feature in names} <= features
            assert {other for other, _, _ in names} <= {"", "any", *ids}


def steps_of(**series: list[float]) -> str:
    names = {"score": "critic/score/mean", "entropy": "actor/entropy"}
    length = max(map(len, series.values()))
    return json_lines(
        [
            {"step": float(i)} | {names.get(k, k): v[i] for k, v in series.items()}
            for i in range(length)
        ]
    )


def levels(text: str) -> dict[str, tuple[str, str]]:
    return {one.key: (one.level, one.row) for one in judge(read_log(text))}


def test_one_lost_step_hides_no_collapse() -> None:
    score = [0.6, 0.62, math.nan, *[0.6] * 27, *[0.02] * 30]
    assert levels(steps_of(score=score))["critic/score/mean"] == ("broken", "score")


def test_a_gradient_of_zero_beside_scores_that_differ_is_not_laid_to_them() -> None:
    told = judge(
        read_log(
            json_lines(
                [
                    {"grad_norm": 0.0, "frac_reward_zero_std": 0.4, "reward": x % 3}
                    for x in range(30)
                ]
            )
        )
    )
    (gradient,) = (one for one in told if one.key == "grad_norm")
    assert "no gradient reaches the weights" in gradient.says


def test_a_part_of_the_reward_that_falls_behind_the_whole_is_told() -> None:
    steps = [
        {
            "reward": 0.7 + x / 50,
            "rewards/right/mean": 0.6 - x / 60,
            "rewards/long/mean": x / 20,
        }
        for x in range(30)
    ]
    assert levels(json_lines(steps))["rewards/right/mean"][0] == "look"


def test_the_first_steps_of_a_console_are_known_by_its_counter() -> None:
    lines = [f"Global step {i}: {{'kl': 0.3, 'policy_loss': 0.1}}" for i in range(1, 9)]
    assert levels("\n".join(lines))["kl"] == ("look", "kl")
    assert levels("\n".join(lines[3:]))["kl"] == ("fine", "kl")


def test_a_counter_that_goes_back_is_told() -> None:
    log = read_log(json_lines([{"step": i % 30, "kl": 0.0} for i in range(60)]))
    assert "several runs are judged as one" in report(log, judge(log))


def test_rounding_is_no_rise() -> None:
    assert measure([0.42] * 31)["z"] == 0.0
