"""The settings of a run: options of the command line, JSON in the run's folder."""

import dataclasses
import math
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch

from ppo_ref.contracts.checks import require_at_least
from ppo_ref.training.config import PRECISIONS, PPOConfig
from ppo_ref.training.estimates import NAMES, estimate_named

CHOICES = {
    "precision": PRECISIONS,
    "estimate": NAMES,
    "device": ("auto", "cpu", "cuda"),
}
MOST_THREADS = 1024  # torch would crash


def _option(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True)
class Options:
    """Where and how a run runs, and what it writes."""

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
        require_at_least(
            "train", 1, threads=self.threads, record_every=self.record_every
        )
        require_at_least("train", 0, record_rows=self.record_rows)
        require_at_least("train", 0, checkpoint_seconds=self.checkpoint_seconds)
        if self.threads > MOST_THREADS:
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
    """The settings of the trainer, and those of the command around it."""

    config: PPOConfig
    options: Options

    def __post_init__(self) -> None:
        estimate_named(self.options.estimate, self.config.responses_per_prompt)

    def to_json(self) -> dict[str, dict[str, Any]]:
        """The fields of both parts by name; a number that is not finite is a string."""
        return {
            part: {name: _json(value) for name, value in fields.items()}
            for part, fields in dataclasses.asdict(self).items()
        }

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """The settings in a file; refused if a field is missing, unknown or wrong."""
        parts: dict[str, Any] = {}
        for part, kind in PARTS.items():
            types: dict[str, Any] = {
                field.name: type(field.default) for field in dataclasses.fields(kind)
            }
            if names := content[part].keys() ^ types.keys():
                raise ValueError(
                    f"{part} must be those of this ppo_ref, it differs in "
                    f"{', '.join(sorted(names))}"
                )
            values = content[part].items()
            parts[part] = kind(**{name: types[name](value) for name, value in values})
        return cls(**parts)


PARTS: dict[str, type[PPOConfig | Options]] = {"options": Options, "config": PPOConfig}
HEADINGS = {"options": "where and how", "config": "the run itself"}
METAVARS = {int: "N", float: "X", str: "FOLDER"}
SIZES = "width", "layers", "heads"  # which a model that exists has already


def add_options(parser: ArgumentParser) -> None:
    """Make every field of ``Options`` and ``PPOConfig`` an option of the command."""
    for part, kind in PARTS.items():
        group = parser.add_argument_group(HEADINGS[part])
        for setting in dataclasses.fields(kind):
            default = f" (default {setting.default})" if setting.default != "" else ""
            choices = CHOICES.get(setting.name)
            group.add_argument(
                f"--{setting.name.replace('_', '-')}",
                type=type(setting.default),
                choices=choices,
                default=SUPPRESS,
                help=(setting.metadata["help"] + default).replace("%", "%%"),
                metavar=None if choices else METAVARS[type(setting.default)],
            )


def make_settings(arguments: Mapping[str, Any]) -> Settings:
    """Settings from options by field name; the rest have defaults, others are ignored.

    ``auto`` becomes the device of this machine, a model's folder an absolute path.
    """
    device = arguments.get("device", "auto")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    arguments = {**arguments, "device": device}
    if arguments.get("model"):
        if sizes := [name for name in SIZES if name in arguments]:
            raise ValueError(
                f"train: {sizes[0]} is the model's own; leave it out with --model"
            )
        arguments["model"] = str(Path(arguments["model"]).resolve())
    parts: dict[str, Any] = {
        part: kind(
            **{
                field.name: arguments[field.name]
                for field in dataclasses.fields(kind)
                if field.name in arguments
            }
        )
        for part, kind in PARTS.items()
    }
    return Settings(**parts)


def _json(value: Any) -> Any:
    infinite = isinstance(value, float) and not math.isfinite(value)
    return str(value) if infinite else value
