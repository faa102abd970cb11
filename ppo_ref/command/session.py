"""A trainer at work in a folder: its steps, what is written of them, and when."""

import os
import time
from collections.abc import Iterator

import torch

from ppo_ref.command.brought_along import brought_along
from ppo_ref.command.progress import Step
from ppo_ref.command.records import records
from ppo_ref.command.run_folder import SECONDS, STATISTICS, TOKENS, RunFolder
from ppo_ref.processes.group import ALONE, Processes
from ppo_ref.training.estimates import ESTIMATES
from ppo_ref.training.trainer import Iteration, Trainer

SHOWN = "score", "held_out"


class Session:
    """A run from where its last checkpoint left it, or from the beginning.

    Args:
        folder: Of the run.
        processes: That make the run together.
    """

    def __init__(self, folder: RunFolder, processes: Processes = ALONE) -> None:
        config, options = folder.settings.config, folder.settings.options
        same_sums(options.device, options.threads)
        estimate = ESTIMATES[options.estimate]
        self.folder, self.options, self.processes = folder, options, processes
        given = config, options.device, estimate, processes
        self.trainer = Trainer(*given, **brought_along(options, config.precision))
        self.held_out_before: float | None = None
        self._seconds, self._since = 0.0, time.monotonic()
        self._saved: tuple[int, ...] = ()
        self._saved_at = self._since
        if found := processes.first(folder.load):
            self.trainer.load_state_dict(found.state)
            self.held_out_before = found.notes["held_out_before"]
            self._seconds = found.notes["seconds"]
            self._saved = self._place

    @property
    def seconds(self) -> float:
        """How long the run has taken by now, without the time between its processes."""
        return self._seconds + time.monotonic() - self._since

    @property
    def finished(self) -> bool:
        """Whether there is no iteration left."""
        return self.trainer.iteration == self.trainer.config.iterations

    def steps(self) -> Iterator[Step]:
        """Every step that is left.

        Returns:
            Each once it is written down.
        """
        trainer, config = self.trainer, self.trainer.config
        for loss in trainer.imitate():
            steps = config.warm_start_steps
            yield Step("imitation", trainer.imitated, steps, {"loss": loss})
        for loss in trainer.learn_reward():
            steps = config.reward_model_steps
            yield Step("reward model", trainer.rewarded, steps, {"loss": loss})
        figures: dict[str, float] = {}
        if self.held_out_before is None:
            self.held_out_before = trainer.held_out()
            figures["held_out"] = self.held_out_before
            yield Step("PPO", 0, config.iterations, figures)
        for iteration in trainer.train():
            self._write(iteration)
            found = iteration.statistics
            figures |= {name: found[name] for name in SHOWN if name in found}
            shown = {name: figures[name] for name in SHOWN if name in figures}
            yield Step("PPO", trainer.iteration, config.iterations, shown)

    def save_if_due(self, step: Step) -> None:
        """Keep a checkpoint before the first iteration, and then as often as told.

        Args:
            step: The one that has just been done.
        """
        waited = time.monotonic() - self._saved_at
        due = step.done == 0 or waited >= self.options.checkpoint_seconds
        if self.processes.any(due):
            self.save()

    def save(self) -> None:
        """Keep a checkpoint, unless there is one of just this step."""
        if self._saved != self._place:
            self.folder.save(
                self.trainer.state_dict(),
                held_out_before=self.held_out_before,
                seconds=self.seconds,
            )
        self._saved, self._saved_at = self._place, time.monotonic()

    @property
    def _place(self) -> tuple[int, ...]:
        trainer = self.trainer
        return trainer.imitated, trainer.rewarded, trainer.iteration

    def _write(self, iteration: Iteration) -> None:
        number, folder = iteration.number, self.folder
        folder.add(STATISTICS, {"iteration": number, **iteration.statistics})
        recorded = 1, self.trainer.config.iterations
        if number % self.options.record_every == 0 or number in recorded:
            _, _, questions, experience = iteration
            given = experience, questions, self.trainer.tokenizer
            for record in records(*given, self.options.record_rows):
                folder.add(TOKENS, {"iteration": number, **record})
        seconds = round(self.seconds, 3)
        folder.add(SECONDS, {"iteration": number, "seconds": seconds})


def same_sums(device: str, threads: int) -> None:
    """Let torch add in the same order whenever the same run is made again.

    Args:
        device: ``cpu`` or ``cuda``.
        threads: Of the CPU.

    Example:
        >>> same_sums("cpu", torch.get_num_threads())
    """
    torch.set_num_threads(threads)
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
