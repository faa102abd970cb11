"""The log doctor reads what trainers print, and what people make of it."""

from pathlib import Path
from typing import Any

import pytest

from ppo_ref.check.doctor.figures import KNOWN
from ppo_ref.check.doctor.judging import judge
from ppo_ref.check.doctor.reading import RATIO, SeveralRuns, decode, read_log
from ppo_ref.command.main import main
from ppo_ref.train.stored_runs import stored_run
from tests.check.doctor.logs import (
    BROUGHT,
    NAMES,
    as_verl,
    json_lines,
    lines_of,
    stored_file,
    told,
)
from tests.differential.wheels import cut, requires, source


def pinned(*releases: str) -> Any:
    """These releases, each skipped where its wheel is missing."""
    given = [pytest.param(each, marks=requires(each)) for each in releases]
    return pytest.mark.parametrize("release", given)


def test_lines_that_hold_the_tokens_of_a_stored_run_are_no_steps() -> None:
    for name in "healthy", "smollm2_ppo":
        iterations = stored_run(name).iterations
        assert list(read_log(stored_file(name))) == list(
            dict.fromkeys(key for line in iterations for key in line)
        )
        for key in "iteration", "held_out", "score":
            logged = [line[key] for line in iterations if key in line]
            assert read_log(stored_file(name))[key] == logged


@pinned("verl 0.9.1", "verl 0.7.1")
def test_the_console_of_verl_is_read(release: str) -> None:
    path = "verl/utils/logger/aggregate_logger.py"
    import numbers
    import pprint

    line = cut(release, path, "concat_dict_to_str", numbers=numbers, pprint=pprint)
    steps = as_verl("flipped_sign")
    text = "\n".join(
        f"\x1b[36m(TaskRunner pid=7)\x1b[0m {line.concat_dict_to_str(step, i)}"
        for i, step in enumerate(steps)
    )
    log = read_log(text)
    for key in steps[0]:
        assert log[key] == [step[key] for step in steps]
    assert told(text)["critic/score/mean"] == "score"


def test_every_format_gives_the_same_findings() -> None:
    steps = as_verl("whitened_over_padding")
    found = {name: judge(read_log(text)) for name, text in lines_of(steps).items()}
    first = found.pop("file logger")
    assert {x.key for x in first} == set(NAMES.values())
    for name, others in found.items():
        assert others == first, name


@pinned("OpenRLHF 0.11.2", "TRL 1.12.0", "TRL 1.16.0")
def test_the_names_of_others_are_those_of_their_wheels(release: str) -> None:
    files, names = {
        "OpenRLHF 0.11.2": (
            (
                "openrlhf/trainer/ppo_trainer.py",
                "openrlhf/trainer/ray/ppo_actor.py",
                "openrlhf/trainer/ray/ppo_critic.py",
            ),
            "ppo_clip_ratio ppo_kl vllm_kl policy_loss actor_lr actor_grad_norm "
            "critic_loss critic_grad_norm kl entropy_loss is_filter_ratio "
            "rollout/reward_mean rollout/response_length_mean rollout/truncated_rate",
        ),
        "TRL 1.16.0": (
            ("trl/trainer/grpo_trainer.py",),
            "reward frac_reward_zero_std kl entropy clip_ratio/region_mean "
            "cispo_clip_ratio completions/mean_length completions/clipped_ratio "
            "sampling/sampling_logp_difference/mean "
            "sampling/importance_sampling_ratio/mean",
        ),
        "TRL 1.12.0": (
            ("trl/trainer/grpo_trainer.py", "trl/experimental/ppo/ppo_trainer.py"),
            "reward frac_reward_zero_std kl entropy clip_ratio/region_mean "
            "objective/kl completions/mean_length completions/clipped_ratio "
            "objective/scores policy/approxkl_avg policy/clipfrac_avg "
            "loss/policy_avg loss/value_avg",
        ),
    }[release]
    code = "\n".join(source(release, path) for path in files)
    for name in names.split():
        assert name in KNOWN
        assert f'"{name}"' in code, name


def test_the_mean_ratio_needs_both_kls_in_each_line() -> None:
    both = {"rollout_corr/kl": 0.3, "rollout_corr/k3_kl": 0.2}
    one = {"rollout_corr/kl": 0.3}
    assert read_log(json_lines([both]))[RATIO] == pytest.approx([0.9])
    assert RATIO not in read_log(json_lines([both, one]))


@pytest.mark.parametrize("name", BROUGHT)
def test_what_people_bring_is_read(name: str) -> None:
    text, figures = BROUGHT[name]
    log = read_log(text)
    assert {key: log[key] for key in figures} == figures


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_log_is_decoded_as_it_was_written(encoding: str, tmp_path: Path) -> None:
    text = "训练得分\nstep:1 - actor/entropy:0.5\n"
    assert decode(text.encode(encoding)) == text
    path = tmp_path / "train.log"
    path.write_bytes(text.encode(encoding))
    assert main(["check", str(path)]) == 0


CHART = '"Step","bad - kl","good - kl"\n1,0.5,0.1\n2,0.25,0.2\n'
TWICE = "step,kl,kl\n1,0.5,0.1\n2,0.25,0.2\n"
SEVERAL = {
    "a chart": (CHART, "bad", "good"),
    "columns of one name": (TWICE, "column 1", "column 2"),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_of_several_runs_one_is_asked_for(name: str) -> None:
    text, *runs = SEVERAL[name]
    with pytest.raises(SeveralRuns, match="must hold one run, got 2") as raised:
        read_log(text)
    assert raised.value.runs == tuple(runs)
    assert [read_log(text, run)["kl"] for run in runs] == [[0.5, 0.25], [0.1, 0.2]]
    with pytest.raises(ValueError, match=r"run must be one of .*, got third"):
        read_log(text, "third")


def test_the_command_asks_for_a_run_and_takes_it(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "chart.csv"
    path.write_text(CHART)
    assert main(["check", str(path)]) == 2
    assert "bad, good (--run NAME)" in capsys.readouterr().err
    assert main(["check", str(path), "--run", "good"]) == 0


def test_a_refusal_names_what_it_saw_and_what_is_read() -> None:
    with pytest.raises(ValueError, match=r"OpenRLHF.*these names: Wall, x/y$"):
        read_log("Wall: 5\nx/y: 7\n")


NAMES_OF_OTHERS = {  # that no wheel here has: as their sources log them
    "slime": "rollout/raw_reward rollout/truncated_ratio train_rollout_kl",
    "SkyRL": "reward/avg_raw_reward policy/policy_entropy policy/policy_kl",
    "NeMo-RL": "gen_kl_error",
    "ms-swift": "entropy/mean",
}


def test_names_of_other_trainers_are_known() -> None:
    for names in NAMES_OF_OTHERS.values():
        assert KNOWN.issuperset(names.split())


def test_steps_with_few_figures_are_steps_all_the_same() -> None:
    """TRL's steps that reuse a batch log the loss and no reward."""
    full = {"loss": 0.1, "reward": 0.5, "kl": 0.0, "entropy": 0.3, "grad_norm": 1.0}
    full |= {"completions/mean_length": 90.0, "learning_rate": 1e-6}
    reused = {"loss": 0.2, "grad_norm": 80.0, "entropy": 0.3, "learning_rate": 1e-6}
    log = read_log(json_lines([full, reused, reused, full]))
    assert log["grad_norm"] == [1, 80, 80, 1] and log["reward"] == [0.5, 0.5]


def test_words_of_an_answer_are_no_figures_under_another_name_either() -> None:
    step = {"policy_loss": 0.1, "rollout/reward_mean": 0.5, "ppo_kl": 0.0, "kl": 0.1}
    step |= {"actor_lr": 1e-6, "entropy_loss": 0.3, "actor_grad_norm": 1.0}
    text = f"{step}\nSample: ... so the score: 5 and Entropy: 3.0\n" * 20
    log = read_log(text)
    assert "score" not in log and log["rollout/reward_mean"] == [0.5] * 20


def test_a_run_that_is_named_must_be_one_of_several() -> None:
    with pytest.raises(ValueError, match="run names one of several, got a and one run"):
        read_log("kl:0.5", "a")
