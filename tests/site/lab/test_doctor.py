"""The log doctor: every format read, each broken run found, node says the same."""

import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ppo_ref.check import doctor
from ppo_ref.check.doctor import judge, measure, read_log, report
from ppo_ref.command.main import main
from ppo_ref.train.stored_runs import FOLDER, stored_names, stored_run
from tests.differential.wheels import cut, requires, source
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

MODEL = ROOT / "docs" / "theme" / "assets" / "lab" / "doctor_model.js"
ASK = """given.logs.map((text) => {
  const log = m.readLog(text, given.figures)
  return { log: [...log.keys()], found: m.judge(log, given.figures, "zh"),
    features: [...log.values()].map(m.measure) } })"""
NAMES = {  # ours as verl 0.9.1 logs them
    "score": "critic/score/mean",
    "entropy": "actor/entropy",
    "policy_loss": "actor/pg_loss",
    "clip_fraction": "actor/pg_clipfrac",
    "actor_grad_norm": "actor/grad_norm",
    "critic_grad_norm": "critic/grad_norm",
    "value_loss": "critic/vf_loss",
    "explained_variance": "critic/vf_explained_var",
    "response_length": "response_length/mean",
    "truncated": "response_length/clip_ratio",
    "rollout_kl": "rollout_corr/k3_kl",
}


def as_verl(name: str) -> list[dict[str, float]]:
    return [
        {NAMES[key]: x for key, x in line.items() if key in NAMES}
        for line in stored_run(name).iterations
    ]


def json_lines(steps: Iterable[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(step) for step in steps)


def stored_file(name: str) -> str:
    """A run as it is stored: a header, and tokens between the lines of figures."""
    return (FOLDER / f"{name}.jsonl").read_text("utf-8")


def told(text: str) -> dict[str, str]:
    return {
        x.key: x.row for x in judge(read_log(text)) if x.level in ("broken", "look")
    }


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


def lines_of(steps: list[dict[str, float]]) -> dict[str, str]:
    """The same figures in every format."""

    def each(write: Callable[[dict[str, float]], str]) -> str:
        return "\n".join(map(write, steps))

    export = ",".join(['"Step"', *(f'"my run - {key}"' for key in steps[0])])
    for i, step in enumerate(steps):
        export += f"\n{i}," + ",".join(f'"{x}"' for x in step.values())
    data = enumerate(steps)
    return {
        "file logger": "\n".join(json.dumps({"step": i, "data": s}) for i, s in data),
        "dicts": each(str),
        "strings": each(lambda step: str({key: f"{x}" for key, x in step.items()})),
        "numpy": each(
            lambda s: " - ".join(f"{key}:np.float64({x})" for key, x in s.items())
        ),
        "export": export,
        "service": each(
            lambda s: json.dumps({f"train/{key}": x for key, x in s.items()})
        ),
    }


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
        assert name in doctor.KNOWN
        assert f'"{name}"' in code, name


OF_A_LANGUAGE_MODEL = {
    "smollm2_flipped_sign": {"score": "score", "truncated": "cut-off"},
    "smollm2_large_steps": {  # its header has the rate
        "score": "score",
        "approx_kl": "clip",
        "actor_lr": "learning-rate",
    },
    "smollm2_temperature": {"rollout_kl": "mismatch"},
    "smollm2_too_short": {"score": "reward-function", "truncated": "cut-off"},
    "smollm2_grpo_seed_2": {"score": "score"},  # it does not learn
    # This says too much: where nearly all are right, a rare wrong one is a jump.
    "smollm2_any_number": {"critic_grad_norm": "vf-loss"},
}


def test_two_broken_runs_are_found_two_pass_unseen_and_no_sound_one_alarms():
    found = {name: told(stored_file(name)) for name in stored_names()}
    assert found.pop("flipped_sign")["score"] == "score"
    assert found.pop("whitened_over_padding") == {"policy_loss": "pg-loss"}
    for name, lines in OF_A_LANGUAGE_MODEL.items():
        assert found.pop(name) == lines, name
    assert not any(found.values()), found


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
        (TOP_P, {doctor.RATIO, doctor.K1}),
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


def test_the_mean_ratio_needs_both_kls_in_each_line() -> None:
    both = {"rollout_corr/kl": 0.3, "rollout_corr/k3_kl": 0.2}
    one = {"rollout_corr/kl": 0.3}
    assert read_log(json_lines([both]))[doctor.RATIO] == pytest.approx([0.9])
    assert doctor.RATIO not in read_log(json_lines([both, one]))


def test_each_case_is_told_of_a_series_made_for_it() -> None:
    """None of the cases stands behind one that always comes first."""
    rising = [x / 20 for x in range(20)]
    series = {
        "nan": [0.1, math.nan, 0.2],
        "zero": [0.0] * 20,
        "same": [0.2] * 20,
        "rising": rising,
        "falling": rising[::-1],
        "peak": rising + rising[::-1],
        "flat": [0.5, 0.4] * 15,
        "large": [100.0] * 20,
        "shifted": [0.02] + [0.0] * 19,
        "started": [0.2] + [0.01] * 19,
        "negative": [-0.1] * 20,
        "worse": [-2.0] * 20,
        "spike": [1.0] * 19 + [50.0],
        "tripled": [0.2] * 10 + [0.7] * 10,
        "small": [0.01, 0.02] * 10,
        "tiny": [1e-4] * 20,
        "exploding": [0.1 * 2**i for i in range(20)],
        "shrunk": [1.0] * 10 + [0.05] * 10,
        "third": [0.3, 0.4] * 10,
    }
    for figure in doctor.FIGURES:
        key = figure["keys"][0]
        few = {
            "actor/pg_clipfrac": [0.01] * 20,
            "rollout_corr/k3_kl": [0.004] * 20,
            "effective_sample_size": [1.0] * 20,
            "critic/score/mean": rising,
        }
        said = {
            finding.says
            for values in series.values()
            for log in ({key: values}, few | {key: values})
            for finding in judge(log)
            if finding.key == key
        }
        for case in figure["cases"]:
            assert case["en"] in said, f"{key}: {case['en']}"


def test_node_reads_and_judges_the_same() -> None:
    random_ = random.Random(0)
    logs = [
        *lines_of(as_verl("healthy")).values(),
        *map(stored_file, stored_names()),
    ]
    for _ in range(200):
        keys = random_.sample(sorted(doctor.KNOWN - {doctor.RATIO}), 5)
        if random_.random() < 0.2:
            keys[1:3] = sorted({doctor.K3, doctor.K1} - {keys[0], *keys[3:]})
        size = random_.choice([1, 2, 3, 9, 10, 31])
        level, step = random_.choice([0, 1, -1]), random_.choice([0, 0.1, 1])
        steps = [
            {key: round(level + step * i + random_.gauss(0, 0.3), 4) for key in keys}
            for i in range(size)
        ]
        if random_.random() < 0.2:
            steps[0][keys[0]] = random_.choice([math.nan, math.inf, -math.inf])
        if random_.random() < 0.1:
            steps = [step | {keys[-1]: math.nan} for step in steps]
        logs.append(random_.choice([*lines_of(steps).values()]))
    given = {"figures": doctor.FIGURES, "logs": logs}
    answers = in_node(MODEL, ASK, given)
    for text, theirs in zip(logs, answers, strict=True):
        log = read_log(text)
        assert theirs["log"] == list(log)
        for values, features in zip(log.values(), theirs["features"], strict=True):
            assert features == pytest.approx(nulls(measure(values)), abs=1e-6)
        found = [finding._asdict() for finding in judge(log, "zh")]
        for ours, other in zip(found, theirs["found"], strict=True):
            other.pop("name")
            assert other == pytest.approx(nulls(ours))


def nulls(features: dict[str, Any]) -> dict[str, Any]:
    """As JSON tells it: nan is null."""
    return {name: None if x != x else x for name, x in features.items()}


KNOWN_LINE = "step:1 - actor/entropy:0.5\n"
LONG = 400_000
WORDS = {  # a line so long, of which each place was looked at again and again
    "one word": "a" * LONG,
    "a path": "a/" * (LONG // 2),
    "one word that has a value": "a" * LONG + ":0.5",
    "digits": "kl:" + "1" * LONG + "x",
    "blanks": "kl" + " " * LONG + ":" + " " * LONG + "x",
    "a call": "kl:" + "np." * (LONG // 3),
    "names without values": "a:" * (LONG // 2),
    "quotes": '"' * LONG,
    "many names": " ".join(f"a{i}:1" for i in range(LONG // 10)),
    "colours": "\x1b[1" * (LONG // 3),
}
TABLES = {
    "a config": '1,"' + "x" * LONG + '",0.25\n',
    "digits": "1," + "1" * LONG + "x,0.25\n",
    "an open quote": '1,"' + '""' * LONG + ",0.25\n",
    "open quotes": '"a,""' * (LONG // 5) + "\n",
}
HOSTILE = {name: f"{KNOWN_LINE}{word}\n{KNOWN_LINE}" for name, word in WORDS.items()}
HOSTILE |= {f"known, {name}": f"kl:0.5 {word}\n" for name, word in WORDS.items()}
HOSTILE |= {
    f"table, {name}": f"step,config,actor/entropy\n1,-,0.5\n{row}"
    for name, row in TABLES.items()
}
READ = """
import json, sys
from ppo_ref.check.doctor import judge, read_log, report
logs = map(read_log, json.load(sys.stdin))
json.dump([{"log": log, "told": len(report(log, judge(log)))} for log in logs],
          sys.stdout)
"""
READ_THERE = """given.logs.map((text) => {
  const log = m.readLog(text, given.figures)
  m.judge(log, given.figures, "en")
  return Object.fromEntries(log) })"""


def test_a_word_without_end_stops_neither_the_command_nor_the_page() -> None:
    """Seconds for all of them, where one alone would take minutes."""
    texts = [*HOSTILE.values()]
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    given = {"figures": doctor.FIGURES, "logs": texts}
    there = in_node(MODEL, READ_THERE, given, timeout=60)
    for name, ours, theirs in zip(HOSTILE, json.loads(done.stdout), there, strict=True):
        assert theirs == {key: [*map(finite, x)] for key, x in ours["log"].items()}
        key = "kl" if name.startswith("known") else "actor/entropy"
        assert ours["log"][key][0] == 0.5, name
    table = read_log(HOSTILE["table, a config"])
    assert table["actor/entropy"] == [0.5, 0.25]


def finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


STRANGE = [
    "损失actor/kl_loss:0.5 loss：1 actor/kl_loss：2",
    "actor/kl_loss:０.5 loss:0.25",
    "step:1\u2028actor/kl_loss:0.5\x0bloss:0.25\x85kl:1",
    "actor/kl_loss\xa0:\xa00.5 loss:0.25\n\xa0\n",
    "2024-01-01T10:00:00 12kl:0.5 -kl:0.5 loss:0.25",
    "\x1b[3m\x1b[٣mkl:0.5 \"loss\":\t'0.25'",
    ',actor/kl_loss,note\n0,0.5,"a ""b"", c\n0.75,1"\n1,٣,x\n2,0.25,\n',
    'step,actor/kl_loss,x\n1,0.5,"an open quote\n2,0.25,3\n',
    '"a,\nb",actor/kl_loss\r\n1,0.5\r2,0.25\n\n3,1',
    "actor/kl_loss:nan loss:1e400\nactor/kl_loss:-inf loss:nan",
    "actor/kl_loss:1e308 loss:-1e308\n" * 12,
    f"{'a' * 200}:1 {'b' * 201}:1 actor/kl_loss:0.5",
    "ſtep:1 KL:1 \u212al:1 actor/kl_loss:0.5",
]


def test_node_reads_strange_texts_the_same() -> None:
    given = {"figures": doctor.FIGURES, "logs": STRANGE}
    there = in_node(MODEL, READ_THERE, given), in_node(MODEL, ASK, given)
    for text, read, asked in zip(STRANGE, *there, strict=True):
        log = read_log(text)
        assert read == {key: [*map(finite, x)] for key, x in log.items()}, text
        found = [nulls(finding._asdict()) for finding in judge(log, "zh")]
        for ours, theirs in zip(found, asked["found"], strict=True):
            theirs.pop("name")
            assert theirs == pytest.approx(ours)


@pytest.mark.parametrize(
    ("values", "course"),
    [
        (["nan"], "never finite in 1 step"),
        (["nan", "inf"], "never finite in 2 steps"),
        (["0.02", "nan"], "not finite in 1 of 2 steps, else 0.02 -> 0.02"),
        (["nan", "0.5", "1"], "not finite in 1 of 3 steps, else 0.5 -> 1"),
    ],
)
def test_a_figure_that_is_no_number_is_given_none(
    values: list[str], course: str
) -> None:
    for figure in doctor.FIGURES:
        key = figure["keys"][0]
        if key == doctor.RATIO:
            continue
        log = read_log("\n".join(f"{key}:{x}" for x in values))
        told = report(log, judge(log))
        assert told.splitlines()[0] == f"broken  {key}  {course}  [nan]"


def test_steps_are_counted_in_words() -> None:
    def last(lines: int) -> str:
        log = read_log(KNOWN_LINE * lines)
        return report(log, judge(log)).splitlines()[-2]

    assert (last(1), last(2)) == ("1 step", "2 steps")


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
    assert main(["check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert re.search(r"^broken +score .*\[score\]$", said, re.MULTILINE)
    healthy = tmp_path / "healthy.log"
    steps = [json.dumps(line) for line in stored_run("healthy").iterations]
    healthy.write_text("\n".join(steps))
    assert main(["check", str(healthy)]) == 0


@pytest.mark.pages
def test_every_row_is_a_section_of_the_symptoms() -> None:
    rows = {figure["row"] for figure in doctor.FIGURES}
    rows |= {c["row"] for f in doctor.FIGURES for c in f["cases"] if "row" in c}
    for lang in "zh", "en":
        page = (ROOT / "docs" / lang / "debug" / "symptoms.md").read_text("utf-8")
        missing = [row for row in rows if f"{{ #{row} }}" not in page]
        assert not missing, missing


def test_two_sentences_a_case_and_known_words_alone() -> None:
    features = set(measure([0.0, 1.0]))
    keys = [key for figure in doctor.FIGURES for key in figure["keys"]]
    ids = [figure["id"] for figure in doctor.FIGURES]
    assert len(keys) == len(set(keys))
    for figure in doctor.FIGURES:
        for case in figure["cases"]:
            assert (
                case["en"]
                and case["zh"]
                and case["level"] in ("broken", "look", "note", "fine")
            )
            names = {name.rpartition(".") for name, _, _ in case["if"]}
            assert {feature for _, _, feature in names} <= features
            assert {other for other, _, _ in names} <= {"", *ids}
