"""A trainer at work in a folder: its steps, and what is written of them."""

import ctypes
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from ppo_ref.batch import Rollout
from ppo_ref.command.run_folder import (
    SECONDS,
    STATISTICS,
    SUMMARY,
    TOKENS,
    RunFolder,
)
from ppo_ref.train.estimates import estimate_named
from ppo_ref.train.networks import actor_statistics
from ppo_ref.train.pretrained import pretrained_actor, pretrained_tokenizer
from ppo_ref.train.statistics import records
from ppo_ref.train.trainer import Iteration, Trainer

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
        model: dict[str, Any] = {}
        if settings.model:
            model["tokenizer"] = pretrained_tokenizer(settings.model)
            precision = getattr(torch, settings.precision)
            model["actor"] = pretrained_actor(settings.model, precision)
        estimate = estimate_named(settings.estimate, settings.responses_per_prompt)
        self.folder = folder
        self.settings = settings
        self.trainer = Trainer(settings, settings.device, estimate, **model)
        self.held_out_before: float | None = None
        self._seconds = 0.0
        self._since = time.monotonic()
        self._saved: tuple[int, ...] = ()
        self._saved_at = self._since
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
        """Save before the first iteration, then every ``checkpoint_seconds``."""
        waited = time.monotonic() - self._saved_at
        if step.done == 0 or waited >= self.settings.checkpoint_seconds:
            self.save()

    def save(self) -> None:
        """Save a checkpoint, unless there is one of just this step."""
        if self._saved != self._place:
            self.folder.save(
                self.trainer.state_dict(),
                held_out_before=self.held_out_before,
                seconds=self.seconds,
            )
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
        now = self._log_probs(experience.rollout, rows)
        written = records(experience, questions, self.trainer.tokenizer, rows)
        for record, new in zip(written, now, strict=True):
            line = {"iteration": iteration.number, **record, "new_log_probs": new}
            self.folder.add(TOKENS, line)

    @torch.no_grad()
    def _log_probs(self, rollout: Rollout, rows: int) -> list[list[float]]:
        """The log-probs that the actor, as it is now, gives the first responses."""
        first = rollout.rows(torch.arange(rows, device=rollout.sequences.device))
        trainer = self.trainer
        now = actor_statistics(trainer.models.actor, first, trainer.config.temperature)
        masked = zip(now.log_probs, first.response_mask, strict=True)
        return [row[mask].tolist() for row, mask in masked]


def weights_hash(network: nn.Module) -> str:
    """SHA-256 of every weight: the same only if they all are, bit for bit."""
    digest = hashlib.sha256()
    for name, weight in network.state_dict().items():
        held = weight.cpu().contiguous()
        digest.update(name.encode() + ctypes.string_at(held.data_ptr(), held.nbytes))
    return digest.hexdigest()
