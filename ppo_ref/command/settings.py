"""The settings of a run: options of the command line, JSON in the run's folder."""

import dataclasses
import math
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from ppo_ref.train.config import PRECISIONS, PPOConfig, require_settings, setting
from ppo_ref.train.estimates import NAMES, estimate_named

CHOICES = {
    "precision": PRECISIONS,
    "estimate": NAMES,
    "device": ("auto", "cpu", "cuda"),
}
METAVARS = {int: "N", float: "X", str: "FOLDER"}
MOST_THREADS = 1024  # torch would crash
SIZES = "width", "layers", "heads"  # which a model that exists has already


@dataclass(frozen=True, kw_only=True)
class Settings(PPOConfig):
    """The trainer's, and where and how the command runs it, and what it writes."""

    model: str = setting(
        "", "with a Hugging Face model to train in place of a small new one"
    )
    device: str = setting("auto", "a GPU if there is one, unless told")
    threads: int = setting(1, "of an operation on the CPU", 1, most=MOST_THREADS)
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
        super().__post_init__()
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise ValueError(
                    f"train: {name} must be one of {', '.join(choices)}, got {value!r}"
                )
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError(
                "device must be one that this machine has, got cuda, which torch "
                f"{torch.__version__} does not find here; use --device cpu"
            )
        estimate_named(self.estimate, self.responses_per_prompt)

    def to_json(self) -> dict[str, Any]:
        """The fields by name; a number that is not finite is a string."""
        return {
            name: str(x) if isinstance(x, float) and not math.isfinite(x) else x
            for name, x in dataclasses.asdict(self).items()
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The settings in a file; refused if a field is missing, unknown or wrong."""
        types: dict[str, Any] = {
            field.name: type(field.default) for field in dataclasses.fields(cls)
        }
        if names := values.keys() ^ types.keys():
            raise ValueError(
                "settings must be those of this ppo_ref, it differs in "
                f"{', '.join(sorted(names))}"
            )
        return cls(
            **{name: _read(name, value, types[name]) for name, value in values.items()}
        )


def _read(name: str, value: Any, kind: type) -> Any:
    """A number that JSON has not is a string; the rest must have its type."""
    if kind is not float or type(value) not in (int, str):
        return value
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None


def add_options(parser: ArgumentParser) -> None:
    """Make every field of ``Settings`` an option of the command."""
    command = parser.add_argument_group("where and how")
    trainer = parser.add_argument_group("the run itself")
    for field in dataclasses.fields(Settings):
        default = f" (default {field.default})" if field.default != "" else ""
        choices, kind = CHOICES.get(field.name), type(field.default)
        group = trainer if field.name in PPOConfig.__annotations__ else command
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=kind,
            choices=choices,
            default=SUPPRESS,
            help=(field.metadata["help"] + default).replace("%", "%%"),
            metavar=None if choices else METAVARS[kind],
        )


def make_settings(arguments: Mapping[str, Any]) -> Settings:
    """Settings from options by field name; the rest have defaults, others are ignored.

    ``auto`` becomes the device of this machine, a model's folder an absolute path.
    """
    names = {field.name for field in dataclasses.fields(Settings)}
    chosen = {name: x for name, x in arguments.items() if name in names}
    if chosen.get("device", "auto") == "auto":
        chosen["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    if chosen.get("model"):
        if sizes := [name for name in SIZES if name in chosen]:
            raise ValueError(
                f"train: {sizes[0]} is the model's own; leave it out with --model"
            )
        chosen["model"] = str(Path(chosen["model"]).resolve())
    return Settings(**chosen)
