"""The settings of a run: options of the command line, JSON in the run's folder."""

import dataclasses
import math
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from ppo_ref.training.config import PRECISIONS, PPOConfig, require_settings, setting
from ppo_ref.training.estimates import NAMES, estimate_named

CHOICES = {
    "precision": PRECISIONS,
    "estimate": NAMES,
    "device": ("auto", "cpu", "cuda"),
}
MOST_THREADS = 1024  # torch would crash


@dataclass(frozen=True, kw_only=True)
class Options:
    """Where and how a run runs, and what it writes."""

    model: str = setting(
        "", "with a Hugging Face model to train in place of a small new one"
    )
    device: str = setting("auto", "a GPU if there is one, unless told")
    threads: int = setting(
        1, "of the CPU; small networks gain nothing from more", 1, most=MOST_THREADS
    )
    estimate: str = setting(
        "whitened_gae",
        "of advantages: gae and reinforce_plus_plus, then those that compare the "
        "responses to one prompt, then three that are wrong on purpose",
    )
    record_every: int = setting(
        25, "iterations between two records of single tokens", 1
    )
    record_rows: int = setting(4, "responses in each record", 0)
    checkpoint_seconds: float = setting(
        10.0, "seconds between two checkpoints: what a kill can cost", 0
    )

    def __post_init__(self) -> None:
        require_settings("train", self)
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
        for field in dataclasses.fields(kind):
            default = f" (default {field.default})" if field.default != "" else ""
            choices = CHOICES.get(field.name)
            group.add_argument(
                f"--{field.name.replace('_', '-')}",
                type=type(field.default),
                choices=choices,
                default=SUPPRESS,
                help=(field.metadata["help"] + default).replace("%", "%%"),
                metavar=None if choices else METAVARS[type(field.default)],
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
