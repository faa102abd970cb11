"""One iteration on a language model: GRPO beside TRL, and the stages of PPO.

Both train SmolLM2 on the same sums with the same batch: 4 questions, 8 answers to each
of at most 4 tokens, two optimizer steps. PPO answers 32 questions once, and has a
critic. Each is a process of its own; ``python -m bench.language_model ppo_ref`` is one.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from inspect import isgeneratorfunction
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.measuring import Comparison
from bench.phases import Phases

ROOT = Path(__file__).parents[1]
MODEL = ROOT / ".cache/smollm2"
# TRL needs packages that this project does without; those of verl have them.
THEIR_PYTHON = ROOT / ".cache/verl/bin/python"
PEERS = {"TRL": "1.16.0"}
SUBJECT = "language model"
GRPO_SECONDS = "GRPO, CPU seconds an iteration"
GRPO_MEMORY = "GRPO, peak memory"
PPO_STAGES = "PPO, CPU seconds of each stage"
OURS, THEIRS = "ppo_ref", "TRL 1.16.0"
QUESTIONS, ANSWERS, SLOTS = 4, 8, 4
ITERATIONS, FIRST = 5, 2  # the first of them warm up and are not counted
STOP = 198  # a line's end
PPO = "PPO"  # whose stages are timed
STAGES = {  # what of which module each is spent in
    "sampling": ("experience", "sample_responses"),
    "log-probs of actor and reference": ("experience", "actor_statistics"),
    "values": ("experience", "critic_values"),
    "update of the critic": ("trainer", "update_critic"),
    "update of the actor": ("trainer", "update_actor"),
}
RATE = 3e-5


def comparisons(quick: bool, device: str) -> Iterator[Comparison]:
    """CPU seconds, then the peak of memory of the same processes.

    Who is not here has no row: ``make tools ARGS=smollm2`` brings the model, ARGS=verl
    what TRL needs.
    """
    if device != "cpu":
        return
    runs: dict[str, list[dict[str, float]]] = {}
    if MODEL.is_dir():
        runs[OURS] = []
        if THEIR_PYTHON.exists():
            runs[THEIRS] = []

    def made(name: str) -> float:
        runs[name].append(one(name))
        return runs[name][-1]["seconds"]

    def seconds() -> dict[str, Callable[[], float]]:
        return {name: partial(made, name) for name in runs}

    def peaks() -> dict[str, Callable[[], float]]:
        found = {name: [run["bytes"] for run in runs[name]] for name in runs}
        return {name: iter(peak).__next__ for name, peak in found.items()}

    rounds = 1 if quick else 3

    def by_stage() -> dict[str, Callable[[], float]]:
        found = [one(PPO) for _ in range(rounds)] if runs else []
        names = found[0] if found else ()
        return {name: iter([run[name] for run in found]).__next__ for name in names}

    for setting, prepare, unit in (
        (GRPO_SECONDS, seconds, "seconds"),
        (GRPO_MEMORY, peaks, "bytes"),
        (PPO_STAGES, by_stage, "seconds"),
    ):
        yield Comparison(
            SUBJECT,
            setting,
            prepare,
            unit=unit,
            measure=lambda contender: contender(),
            seconds=0,
            rounds=rounds,
            warm_up=0,
        )


def one(name: str) -> dict[str, float]:
    """CPU seconds of an iteration and the most bytes, or the stages, of one process."""
    python = str(THEIR_PYTHON) if name == THEIRS else sys.executable
    with tempfile.TemporaryDirectory() as unpacked:
        if name == THEIRS:
            (wheel,) = ROOT.glob(f".cache/wheels/trl-{PEERS['TRL']}-*.whl")
            zipfile.ZipFile(wheel).extractall(unpacked)
        path = os.pathsep.join([str(ROOT), unpacked])
        done = subprocess.run(
            [python, "-m", "bench.language_model", name],
            check=True,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        )
    return json.loads(done.stdout.splitlines()[-1])


def trained(ended: Callable[[], None], **options: Any) -> None:
    """Iterations of this project's trainer; ``ended`` is called after each."""
    from ppo_ref.command.preparing import make_trainer
    from ppo_ref.command.settings import make_settings

    fixed = {
        "preset": "smollm2",
        "device": "cpu",
        "iterations": ITERATIONS,
        "held_out_limit": 1,  # the look after the last iteration is not measured
    }
    for _ in make_trainer(make_settings(fixed | options)).train():
        ended()


def ours(ended: Callable[[], None]) -> None:
    """Iterations of GRPO."""
    trained(ended, responses_per_prompt=ANSWERS, critic_epochs=0, estimate="grpo")


def stages() -> dict[str, float]:
    """CPU seconds of each stage of an iteration of PPO, and of the whole."""
    phases = Phases(STAGES, time.process_time)
    ends: list[dict[str, float]] = []
    begun = time.process_time()

    def ended() -> None:
        ends.append(phases.seconds | {"all": time.process_time() - begun})

    with ExitStack() as patches:
        for stage, (module, name) in STAGES.items():
            where = import_module(f"ppo_ref.train.{module}")
            work = getattr(where, name)
            if isgeneratorfunction(work):
                work = partial(_at_once, work)
            patches.enter_context(patch.object(where, name, phases.timed(stage, work)))
        trained(ended)
    before, after = ends[FIRST - 1], ends[-1]
    counted = len(ends) - FIRST
    return {stage: (after[stage] - before[stage]) / counted for stage in after}


def _at_once(work: Callable[..., Iterator[Any]], *given: Any) -> list[Any]:
    """All that a generator yields, so that its work is done while it is timed."""
    return list(work(*given))


def _peak() -> int:
    """The most bytes that this process has held.

    Its ``ru_maxrss`` would be that of the process which started it, if that is larger.
    """
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmHWM in /proc/self/status; memory is measured on Linux alone")


def theirs(ended: Callable[[], None]) -> None:
    """The same of TRL's trainer."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    from ppo_ref.train.sums import EXAMPLE

    class Watch(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step % 2 == 0:  # two optimizer steps are an iteration
                ended()

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(STOP)
    tokenizer.chat_template = None
    sums = [(a, b) for a in range(10, 50) for b in range(10, 50)]
    asked = [f"{EXAMPLE}{a} + {b} = " for a, b in sums]

    def right(completions: list[str], total: list[int], **_: Any) -> list[float]:
        found = (text.strip().split() or [""] for text in completions)
        told = zip(found, total, strict=True)
        return [float(text[0] == str(answer)) for text, answer in told]

    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(MODEL),
        reward_funcs=right,
        processing_class=tokenizer,
        train_dataset=Dataset.from_dict({"prompt": asked, "total": [*map(sum, sums)]}),
        callbacks=[Watch()],
        args=GRPOConfig(
            output_dir="runs/trl",
            use_cpu=True,
            bf16=False,
            learning_rate=RATE,
            beta=0.02,
            num_generations=ANSWERS,
            generation_batch_size=QUESTIONS * ANSWERS,
            per_device_train_batch_size=QUESTIONS * ANSWERS // 2,
            max_completion_length=SLOTS,
            max_steps=2 * ITERATIONS,
            gradient_checkpointing=False,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
    )
    trainer.train()


def main(name: str) -> None:
    import torch

    torch.set_num_threads(1)
    if name == PPO:
        print(json.dumps(stages()))
        return
    marks = [time.process_time()]
    {OURS: ours, THEIRS: theirs}[name](lambda: marks.append(time.process_time()))
    counted = marks[FIRST:]
    seconds = (counted[-1] - counted[0]) / (len(counted) - 1)
    print(json.dumps({"seconds": seconds, "bytes": _peak()}))


if __name__ == "__main__":
    main(sys.argv[1])
