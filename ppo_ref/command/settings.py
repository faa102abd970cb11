"""What a run is made with: every option of the command, kept in the run's folder."""

import dataclasses
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ppo_ref.contracts.checks import require_at_least
from ppo_ref.training.config import PRECISIONS, PPOConfig
from ppo_ref.training.estimates import ESTIMATES, require_groups

CHOICES = {
    "precision": PRECISIONS,
    "estimate": tuple(ESTIMATES),
    "device": ("auto", "cpu", "cuda"),
}


def _option(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


MOST_THREADS = 1024


@dataclass(frozen=True, kw_only=True)
class Options:
    """Where and how a run runs, and what it writes.

    Raises:
        ValueError: if a number is too small or too large, or there is no GPU.
    """

    model: str = _option(
        "", "with a Hugging Face model to train in place of a small new one"
    )
    device: str = _option("auto", "a GPU if there is one, unless told")
    threads: int = _option(1, "of the CPU; small networks gain nothing from more")
    estimate: str = _option(
        "whitened_gae",
        "of advantages: gae and reinforce_plus_plus, then those that compare the "
        "responses to one prompt, then three that are wrong on purpose",
    )
    record_every: int = _option(25, "iterations between two records of single tokens")
    record_rows: int = _option(4, "responses in each record")
    checkpoint_seconds: float = _option(
        10.0, "seconds between two checkpoints: what a kill can cost"
    )

    def __post_init__(self) -> None:
        counts = {"threads": self.threads, "record_every": self.record_every}
        require_at_least("train", 1, **counts)
        require_at_least("train", 0, record_rows=self.record_rows)
        require_at_least("train", 0, checkpoint_seconds=self.checkpoint_seconds)
        if self.threads > MOST_THREADS:  # torch would crash
            raise ValueError(
                f"train: threads must be at most {MOST_THREADS}, got {self.threads}"
            )
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError(
                "device must be one that this machine has, got cuda, which torch "
                f"{torch.__version__} does not find here; use --device cpu"
            )


@dataclass(frozen=True)
class Settings:
    """What the trainer does, and what the command does around it.

    Raises:
        ValueError: if the estimate compares responses, and each prompt has only one.
    """

    config: PPOConfig
    options: Options

    def __post_init__(self) -> None:
        estimate = ESTIMATES[self.options.estimate]
        require_groups("train", estimate, self.config.responses_per_prompt)


PARTS: dict[str, type[PPOConfig | Options]] = {
    "options": Options,
    "config": PPOConfig,
}
METAVARS = {int: "N", float: "X", str: "FOLDER"}
SIZES = "width", "layers", "heads"  # which a model that exists has already
HEADINGS = {"options": "where and how", "config": "the run itself"}


def add(parser: ArgumentParser) -> None:
    """Name every field of ``PPOConfig`` and of ``Options`` as an option.

    Args:
        parser: Of the command.

    Example:
        >>> parser = ArgumentParser()
        >>> add(parser)
        >>> parser.parse_args(["--batch-size", "8", "--device", "cpu"])
        Namespace(batch_size=8, device='cpu')
    """
    for part, kind in PARTS.items():
        group = parser.add_argument_group(HEADINGS[part])
        for setting in dataclasses.fields(kind):
            default = f" (default {setting.default})" if setting.default != "" else ""
            told = setting.metadata["help"] + default
            choices = CHOICES.get(setting.name)
            group.add_argument(
                f"--{setting.name.replace('_', '-')}",
                type=type(setting.default),
                choices=choices,
                default=SUPPRESS,
                help=told.replace("%", "%%"),
                metavar=None if choices else METAVARS[type(setting.default)],
            )


def given(arguments: Mapping[str, Any]) -> Settings:
    """Settings from the options that were given; the others have their defaults.

    Args:
        arguments: By field name; names that belong to no field are passed over.

    Returns:
        With the device that is meant by ``auto`` on this machine, and a model by its
        absolute path.

    Raises:
        ValueError: if a setting is refused, or a model is given a size.

    Example:
        >>> given({"batch_size": 128, "device": "cpu"}).config.batch_size
        128
    """
    cuda, wanted = torch.cuda.is_available(), arguments.get("device", "auto")
    found = "cuda" if cuda and wanted == "auto" else wanted.replace("auto", "cpu")
    options = {**_of(Options, arguments), "device": found}
    if options.get("model"):
        if sized := [name for name in SIZES if name in arguments]:
            raise ValueError(
                f"train: {sized[0]} is the model's own; leave it out with --model"
            )
        options["model"] = str(Path(options["model"]).resolve())
    return Settings(PPOConfig(**_of(PPOConfig, arguments)), Options(**options))


def _of(kind: type[Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    names = [setting.name for setting in dataclasses.fields(kind)]
    return {name: arguments[name] for name in names if name in arguments}
