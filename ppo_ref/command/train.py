"""Teach an actor sums with PPO, into a folder from which the run can be resumed."""

import math
import shlex
import shutil
import signal
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Self, TextIO

import torch

from ppo_ref.command import checkpoint
from ppo_ref.command.preparing import weights_memory
from ppo_ref.command.run_folder import RunFolder, create_run, reopen_run
from ppo_ref.command.session import Session, Step
from ppo_ref.command.settings import add_options, make_settings, option_of
from ppo_ref.command.terminal import printable, say
from ppo_ref.train import scores

INTERRUPTED = 130  # the exit code after Ctrl-C
BAR = 10  # characters: the progress line fits 80 columns
LINES = 10  # of each stage where they stay
PPO = "PPO"  # the stage
WORTH_TELLING = 10**8  # bytes
CODE = "score", "held_out_score"  # settings that may name code to be run


def add(parser: ArgumentParser) -> None:
    """Name the arguments of the command."""
    parser.usage = "%(prog)s [--OPTION VALUE ...]"
    parser.epilog = (
        "Whatever ended a run, --resume goes on with it, and it ends with the same "
        "weights and files as if it had not been stopped."
    )
    help = "a new folder for the run (default runs/1, or the next free number)"
    parser.add_argument("--out", metavar="FOLDER", default=SUPPRESS, help=help)
    help = "go on with the run in this folder, with the settings that are kept there"
    parser.add_argument("--resume", metavar="FOLDER", default=SUPPRESS, help=help)
    add_options(parser)


def run(arguments: Namespace) -> int:
    """Train or go on; 0 is the end, 130 Ctrl-C."""
    begun: Path | None = None
    try:
        with Interrupt() as interrupt, _open(vars(arguments)) as folder:
            try:
                session = Session(folder)
                begun = folder.path
                return train(session, interrupt)
            except (MemoryError, RuntimeError) as error:
                if not _is_of_memory(error):
                    raise
                raise ValueError(
                    "the run needs more memory than there is; give it a smaller width, "
                    "layers, batch_size, micro_batch_size or response_length"
                ) from None
    except (OSError, ValueError):
        if begun and not begun.exists():
            say(f"{begun} is removed again: it held no checkpoint yet")
        raise


def _is_of_memory(error: Exception) -> bool:
    """Torch has a type for that on a GPU, and words on the CPU."""
    kinds = MemoryError, torch.OutOfMemoryError
    return isinstance(error, kinds) or "allocate memory" in str(error)


def train(session: Session, interrupt: "Interrupt") -> int:
    """Take the steps that are left, and report them."""
    folder, progress = session.folder, Progress(sys.stderr)
    _report_begin(folder, weights_memory(session.trainer))
    try:
        for step in session.steps():
            progress.show(step)
            if step.stage == PPO and step.done == 0:
                progress.end()
                _report_samples(session)
            if interrupt.requested:
                break
            session.save_if_due(step)
            if step.stage == PPO and step.done == 0:
                _report_checkpoint(session)
        progress.end()
        session.save()
        summary = session.write_summary()
    except OSError as error:
        if not checkpoint.exists(folder.path):
            raise
        remedy = f"{error.strerror}; then go on by: {_to_go_on(folder)}"
        raise OSError(error.errno, remedy, error.filename) from error
    except KeyboardInterrupt:
        say(f"Stopped at once; go on by: {_to_go_on(folder)}")
        return INTERRUPTED
    finally:
        progress.end()
    _report_end(session, summary)
    return 0 if session.finished else INTERRUPTED


class Interrupt:
    """Ctrl-C requests a stop after the step that is taken; a second does not wait."""

    def __init__(self) -> None:
        self.requested = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        line = "Stopping after this step; Ctrl-C again stops at once."
        print(f"\n{line}", file=sys.stderr)


class Progress:
    """Shows steps: one line rewritten on a terminal, a line now and then elsewhere."""

    def __init__(
        self, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.stream, self.clock = stream, clock
        self.rewrites = stream.isatty()
        self._stage, self._begun, self._first = "", 0.0, 0

    def show(self, step: Step) -> None:
        """Show the step that has just been done, if it is worth a line."""
        stage, done, total, figures = step
        if stage != self._stage:
            self.end()
            self._stage, self._begun, self._first = stage, self.clock(), done
        here = done - self._first
        bar = f"[{'#' * (BAR * done // total):{BAR}}]"
        parts = [f"{stage:12} {bar} {done:>{len(str(total))}}/{total}"]
        parts += [f"{name} {value:.3f}" for name, value in figures.items()]
        if here and done < total:
            seconds = (self.clock() - self._begun) / here
            left = math.ceil(seconds * (total - done))
            parts.append(f"{left // 60}:{left % 60:02} left")
        line = "  ".join(parts)
        if self.rewrites:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r{line[:width]:{width}}")
        elif done == total or done % -(-total // LINES) == 0:
            self.stream.write(f"{line}\n")
        self.stream.flush()

    def end(self) -> None:
        """Leave the line that was rewritten."""
        if self._stage and self.rewrites:
            self.stream.write("\n")
        self._stage = ""


def _open(options: Mapping[str, Any]) -> AbstractContextManager[RunFolder]:
    if "resume" not in options:
        out = options.get("out")
        return create_run(Path(out) if out else None, make_settings(options))
    if others := sorted(options.keys() - {"resume", *CODE}):
        raise ValueError(
            "--resume takes all settings from the run's folder; leave out "
            f"{option_of(others[0])}, or begin another run by --out"
        )
    return _reopened(Path(options["resume"]), options)


@contextmanager
def _reopened(path: Path, options: Mapping[str, Any]) -> Iterator[RunFolder]:
    """A run to go on with; code that its folder names is run only if it is named here.

    A folder may come from a stranger.
    """
    named = make_settings({name: options[name] for name in CODE if name in options})
    with reopen_run(path) as folder:
        for name in CODE:
            option, kept = option_of(name), getattr(folder.settings, name)
            is_code, same = scores.is_file(kept), getattr(named, name) == kept
            if is_code and name not in options:
                raise ValueError(
                    f"the run is scored by the code of {kept}; if you trust it, say so "
                    f"by {shlex.join([option, kept])}"
                )
            if is_code and not same:
                raise ValueError(
                    f"{option} must be the score of the run, got "
                    f"{getattr(named, name)}; say {shlex.join([option, kept])}"
                )
            if name in options and not same:
                raise ValueError(
                    "--resume takes all settings from the run's folder; leave out "
                    f"{option}, which is {kept or 'the usual one'} there"
                )
        yield folder


def _to_go_on(folder: RunFolder) -> str:
    """The command that goes on with a run, and names the code that it is to run."""
    words = ["python", "-m", "ppo_ref", "train", "--resume", str(folder.path)]
    for name in CODE:
        kept = getattr(folder.settings, name)
        if scores.is_file(kept):
            words += [option_of(name), kept]
    return shlex.join(words)


def _report_begin(folder: RunFolder, memory: int) -> None:
    lines = [f"The run is written into {folder.path}"]
    if memory >= WORTH_TELLING:
        lines.append(
            f"Networks and optimizers will take {_gigabytes(memory)} of memory, and "
            "the answers of a batch some more"
        )
    if folder.torch_version != torch.__version__:
        lines.append(
            f"It was begun with torch {folder.torch_version}; with this one, "
            f"{torch.__version__}, it may end with other weights"
        )
    print(printable("\n".join(lines)), file=sys.stderr, flush=True)


def _report_samples(session: Session) -> None:
    """Show sampled answers; where none is right, nothing can be reinforced."""
    count = session.settings.samples
    if not count:
        return
    answers = session.trainer.sampled_answers(count)
    for answer in answers:
        cut = "" if answer.ended else " (cut off)"
        line = f"{answer.score:4.2f}  {answer.question.text!r} -> {answer.text!r}{cut}"
        print(printable(line))
    right = sum(answer.score > 0 for answer in answers)
    ended = sum(answer.ended for answer in answers)
    print(f"sampled answers: {right} of {count} right, {ended} ended", flush=True)
    if right == 0:
        raise ValueError(
            f"0 of {count} sampled answers are right: there is nothing to learn from; "
            "see what they say above, and change --prompt-template, --stop, --score "
            "or --response-length; --samples 0 trains all the same"
        )


def _report_checkpoint(session: Session) -> None:
    """Say what a checkpoint costs, if that is much."""
    size = session.folder.checkpoint_size()
    if size >= WORTH_TELLING:
        share, seconds = session.settings.checkpoint_share, session.saving_seconds
        say(
            f"A checkpoint takes {_gigabytes(size)} and {seconds:.1f} s; they take at "
            f"most {share:.0%} of the time"
        )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def _report_end(session: Session, summary: Mapping[str, Any]) -> None:
    folder = session.folder
    before, after = summary["held_out_before"], summary["held_out_after"]
    if not summary["finished"]:
        if checkpoint.exists(folder.path):
            print(f"Stopped; go on by: {_to_go_on(folder)}")
        else:
            print("Stopped; no checkpoint was to be written, so it cannot go on")
    print(f"{folder.path}: {summary['iterations']} iterations, {summary['seconds']} s")
    if after is not None:
        shares = f"{before:.0%} before, {after:.0%} now"
        print(f"held-out questions answered right: {shares}")
        if "asked" in summary:
            before, after = summary["answer_before"], summary["answer_after"]
            line = f"{summary['asked']!r}: {before!r} before, {after!r} now"
            print(printable(line))
        print(f"curves, and token by token: python -m ppo_ref view {folder.path}")
