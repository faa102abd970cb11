"""A trainer at work in a folder: its steps, and what is written of them."""

import ctypes
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from ppo_ref.command.preparing import make_trainer
from ppo_ref.command.run_folder import (
    SECONDS,
    STATISTICS,
    SUMMARY,
    TOKENS,
    RunFolder,
)
from ppo_ref.train.statistics import records
from ppo_ref.train.trainer import Iteration

SHOWN = "score", "held_out"  # in the progress line


class Step(NamedTuple):
    """One step of a run: its stage, how many are done of how many, its figures."""

    stage: str
    done: int
    total: int
    figures: Mapping[str, float]


class Session:
    """A run from where its last checkpoint left it, or from the beginning."""

    def __init__(self, folder: RunFolder) -> None:
        settings = folder.settings
        # torch is to add in the same order whenever the same run is made again.
        torch.set_num_threads(settings.threads)
        if settings.device == "cuda":
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(True)
        self.folder = folder
        self.settings = settings
        self.trainer = make_trainer(settings)
        self.held_out_before: float | None = None
        self._seconds = 0.0
        self._since = time.monotonic()
        self._saved: tuple[int, ...] = ()
        self._saved_at = self._since
        self.saving_seconds = 0.0
        if checkpoint := folder.load(self.trainer):
            self.trainer.load_state_dict(checkpoint.state)
            self.held_out_before = checkpoint.notes["held_out_before"]
            self._seconds = checkpoint.notes["seconds"]
            self._saved = self._place

    @property
    def seconds(self) -> float:
        """The duration of the run by now, without the time between its parts."""
        return self._seconds + time.monotonic() - self._since

    @property
    def finished(self) -> bool:
        """True if there is no iteration left."""
        return self.trainer.iteration == self.trainer.config.iterations

    def steps(self) -> Iterator[Step]:
        """Take every step that is left, and yield each once it is written down."""
        trainer, settings = self.trainer, self.settings
        for loss in trainer.imitate():
            steps = settings.warm_start_steps
            yield Step("imitation", trainer.imitated, steps, {"loss": loss})
        for loss in trainer.learn_reward():
            steps = settings.reward_model_steps
            yield Step("reward model", trainer.rewarded, steps, {"loss": loss})
        figures: dict[str, float] = {}
        if self.held_out_before is None:
            self.held_out_before = trainer.held_out()
            figures["held_out"] = self.held_out_before
            yield Step("PPO", 0, settings.iterations, figures)
        for iteration in trainer.train():
            self._write(iteration)
            figures |= iteration.statistics
            shown = {name: figures[name] for name in SHOWN if name in figures}
            yield Step("PPO", trainer.iteration, settings.iterations, shown)

    def save_if_due(self, step: Step) -> None:
        """Save before the first iteration, then as often as the settings allow."""
        waited = time.monotonic() - self._saved_at
        needed = self.settings.checkpoint_seconds
        if share := self.settings.checkpoint_share:
            needed = max(needed, self.saving_seconds / share)
        if step.done == 0 or waited >= needed:
            self.save()

    def save(self) -> None:
        """Save a checkpoint, unless there is to be none or one is of this step."""
        if not self.settings.checkpoint_share:
            return
        if self._saved != self._place:
            begun = time.monotonic()
            self.folder.save(
                self.trainer.state_dict(),
                held_out_before=self.held_out_before,
                seconds=self.seconds,
            )
            self.saving_seconds = time.monotonic() - begun
        self._saved, self._saved_at = self._place, time.monotonic()

    def write_summary(self) -> dict[str, Any]:
        """Write what came out of the run, however far it is, and return it."""
        trainer, settings = self.trainer, self.settings
        begun = trainer.iteration > 0
        summary = {
            "finished": self.finished,
            "iterations": trainer.iteration,
            "held_out_before": self.held_out_before,
            "held_out_after": trainer.held_out() if begun else None,
            **self._asked(),
            "seconds": round(self.seconds, 1),
            "seed": trainer.config.seed,
            "estimate": settings.estimate,
            "device": settings.device,
            "threads": settings.threads,
            "torch": torch.__version__,
            "actor_sha256": weights_hash(trainer.models.actor),
        }
        self.folder.store_json(SUMMARY, summary)
        return summary

    def _asked(self) -> dict[str, Any]:
        """The answers to ``ask``; that before PPO is what the reference says."""
        if not (text := self.settings.ask):
            return {}
        trainer = self.trainer
        before = trainer.likeliest_answer(text, trainer.models.reference)
        return {
            "asked": text,
            "answer_before": before,
            "answer_after": trainer.likeliest_answer(text),
        }

    @property
    def _place(self) -> tuple[int, ...]:
        trainer = self.trainer
        return trainer.imitated, trainer.rewarded, trainer.iteration

    def _write(self, iteration: Iteration) -> None:
        number = iteration.number
        folder = self.folder
        folder.add(STATISTICS, {"iteration": number, **iteration.statistics})
        is_end = number in (1, self.trainer.config.iterations)
        if is_end or number % self.settings.record_every == 0:
            self._write_tokens(iteration)
        seconds = round(self.seconds, 3)
        folder.add(SECONDS, {"iteration": number, "seconds": seconds})

    def _write_tokens(self, iteration: Iteration) -> None:
        questions, experience = iteration.questions, iteration.experience
        rows = min(self.settings.record_rows, len(questions))
        if rows == 0:
            return
        now = self.trainer.log_probs_now(experience.rollout, rows)
        written = records(experience, questions, self.trainer.tokenizer, rows)
        for record, new in zip(written, now, strict=True):
            line = {"iteration": iteration.number, **record, "new_log_probs": new}
            self.folder.add(TOKENS, line)


def weights_hash(network: nn.Module) -> str:
    """SHA-256 of every weight: the same only if they all are, bit for bit."""
    digest = hashlib.sha256()
    for name, weight in network.state_dict().items():
        held = weight.cpu().contiguous()
        digest.update(name.encode() + ctypes.string_at(held.data_ptr(), held.nbytes))
    return digest.hexdigest()
