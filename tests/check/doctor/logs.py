"""Logs for the tests of the doctor: stored runs, and one in every format."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from ppo_ref.check.doctor.judging import judge
from ppo_ref.check.doctor.reading import read_log
from ppo_ref.train.stored_runs import FOLDER, stored_run

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


def _wrapped(text: str, width: int) -> str:
    """As a terminal of this width copies it."""
    return "\n".join(
        line[i : i + width]
        for line in text.split("\n")
        for i in range(0, len(line), width)
    )


CONSOLE = "\n".join(
    f"step:{i} - actor/entropy:0.{i + 10} - actor/lr:1e-06 - actor/grad_norm:0.5 - "
    f"critic/score/mean:0.{i + 50} - perf/time_per_step:{i + 100}.25 - x/y:{'1' * i}"
    for i in range(1, 9)
)
BANNER = "  训练开始 ==============================\n"
# What people bring beside the console: each text, and the figures that are in it.
BROUGHT: dict[str, tuple[str, dict[str, list[float]]]] = {
    "Unsloth's table": (
        "[20/20 05:11, Epoch 0/1]\n"
        "Step\tTraining Loss\treward\treward_std\tcompletions / mean_length\tkl\n"
        "1\t0.000000\t0.125000\t0.2\t200.1\t0.0\n"
        "2\t0.010000\t0.500000\t0.2\t180.5\t0.000300\n",
        {"Training Loss": [0, 0.01], "reward": [0.125, 0.5], "kl": [0, 0.0003]},
    ),
    "a table of Markdown": (
        "| Step | reward | completions / clipped_ratio |\n|---|---|---|\n"
        "| 1 | 0.25 | 0.5 |\n| 2 | 0.5 | 0.25 |\n",
        {
            "Step": [1, 2],
            "reward": [0.25, 0.5],
            "completions/clipped_ratio": [0.5, 0.25],
        },
    ),
    "semicolons": ("step;kl;reward\n1;0.5;0.25\n", {"kl": [0.5], "reward": [0.25]}),
    "NeMo-RL": (
        "📊 Training Results:\n  • Loss: 0.0123\n  • Generation KL Error: 0.0004\n"
        "  • Avg Reward: 0.2500\n  • Mean Generation Length: 812.5000\n"
        "  • Loss: 0.0100\n  • Generation KL Error: 0.0005\n"
        "  • Avg Reward: 0.5000\n  • Mean Generation Length: 800.0000\n",
        {
            "Avg Reward": [0.25, 0.5],
            "Loss": [0.0123, 0.01],
            "Generation KL Error": [0.0004, 0.0005],
            "Mean Generation Length": [812.5, 800],
        },
    ),
    "prime-rl": (
        "12:00:01 SUCCESS Step 0 | Time: 5.10s | Reward: 0.2500 | Seq. Length: 512.0\n"
        "12:00:02 SUCCESS Step 0 | Time: 9.2s | Loss: 0.0012 | Entropy: 0.5000 | "
        "Mismatch KL: 0.0003 | Grad. Norm: 0.0110 | LR: 1.00e-06\n",
        {
            "Reward": [0.25],
            "Seq. Length": [512],
            "Grad. Norm": [0.011],
            "Mismatch KL": [0.0003],
            "LR": [1e-06],
        },
    ),
    "slime": (
        "step 0: {'train/loss': 0.1, 'train/pg_loss': 0.2, 'train/grad_norm': 0.5, "
        "'train/kl_loss': 0.0, 'train/lr-pg_0': 1e-06}\n"
        "rollout 0: {'rollout/raw_reward': 0.25, 'rollout/response_len/mean': 90.5, "
        "'rollout/truncated_ratio': 0.5}\n",
        {
            "pg_loss": [0.2],
            "kl_loss": [0],
            "lr-pg_0": [1e-06],
            "rollout/raw_reward": [0.25],
            "rollout/truncated_ratio": [0.5],
        },
    ),
    "SkyRL": (
        "reward/avg_pass_at_4: 0.9, reward/avg_raw_reward: 0.25\n"
        "{'policy/policy_loss': 0.1, 'policy/policy_entropy': 0.3, "
        "'policy/raw_grad_norm': 0.5, 'reward/avg_raw_reward': 0.25}\n",
        {"reward/avg_raw_reward": [0.25], "policy/raw_grad_norm": [0.5]},
    ),
    "ms-swift's quoted numbers": (
        "{'loss': '0.01', 'reward': '0.5', 'entropy/mean': '0.3', 'kl': '0.001'}",
        {"reward": [0.5], "entropy/mean": [0.3], "kl": [0.001]},
    ),
    "OpenRLHF's progress bar": (
        "\rEpoch: 50%|█████     | 1/2 [00:01<?, act_loss=0.1, reward=0.3, kl=0]\n"
        "✨ Global step 1: {'policy_loss': 0.1, 'actor_lr': 1e-06, 'ppo_kl': 0.001, "
        "'reward': 0.25, 'kl': 0.002, 'vllm_kl': 0.0, 'actor_grad_norm': 0.5}\n",
        {"reward": [0.25], "kl": [0.002], "step": [1]},
    ),
    "a sentence of an answer": (
        "step:1 - actor/entropy:0.5 - score:0.25 - kl:0.125 - actor/lr:1e-06\n"
        "The answer is 7, so score: 1\n"
        "step:2 - actor/entropy:0.5 - score:0.5 - kl:0.125 - actor/lr:1e-06\n",
        {"score": [0.25, 0.5]},
    ),
    "full-width colons": (
        "step：1，actor/entropy：0.5，actor/lr＝1e-06",
        {"actor/entropy": [0.5], "actor/lr": [1e-06]},
    ),
    "a byte order mark": ("\ufeffstep,kl\n1,0.5\n2,0.25\n", {"step": [1, 2]}),
    "cells without a value": (
        "step,kl,actor/entropy,reward,val\n1,0.5,0.5,1,\n1,NaN,NaN,,0.5\n2,nan,0.5,1,\n",
        {"actor/entropy": [0.5, 0.5], "reward": [1, 1]},
    ),
    "a chart with its band": (
        '"Step","a - kl","a - kl__MIN","a - kl__MAX"\n1,0.5,0,1\n2,0.25,0,1\n',
        {"kl": [0.5, 0.25]},
    ),
    "wrapped at 80": (
        _wrapped(BANNER + CONSOLE, 80),
        {
            "actor/lr": [1e-06] * 8,
            "actor/entropy": [(i + 10) / 100 for i in range(1, 9)],
        },
    ),
    "wrapped at 120": (
        _wrapped(BANNER + CONSOLE, 120),
        {
            "actor/lr": [1e-06] * 8,
            "perf/time_per_step": [i + 100.25 for i in range(1, 9)],
        },
    ),
    "lines of equal length": (
        "\n".join(f"step:{i} - actor/entropy:0.5{i} - kl:0.12{i}5" for i in range(9)),
        {"actor/entropy": [(50 + i) / 100 for i in range(9)]},
    ),
}
