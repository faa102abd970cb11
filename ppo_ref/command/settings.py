"""The settings of a run: options of the command line, JSON in the run's folder."""

import dataclasses
import math
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from ppo_ref.train import scores, sums
from ppo_ref.train.config import PRECISIONS, PPOConfig, require_settings, setting
from ppo_ref.train.estimates import NAMES, estimate_named
from ppo_ref.train.questions import USUAL_SHARE, is_share

CHOICES = {
    "precision": PRECISIONS,
    "estimate": NAMES,
    "device": ("auto", "cpu", "cuda"),
}
METAVARS = {int: "N", float: "X", str: "TEXT"}
OF_PATHS = {
    "model": "FOLDER",
    "questions": "FILE",
    "held_out": "FILE|SHARE",
    "score": "NAME",
    "held_out_score": "NAME",
}
PHRASED = "phrased-sums"
# Of a model that speaks: the rates of the small new network would destroy it.
FOR_A_MODEL = {
    "warm_start_steps": 0,
    "actor_lr": 1e-5,
    "critic_lr": 1e-4,
    "samples": 32,
}
PRESETS: dict[str, dict[str, Any]] = {
    "smollm2": {
        "model": ".cache/smollm2",
        "questions": "two-digit-sums",
        "prompt_template": sums.EXAMPLE + "{prompt}",
        "no_chat_template": True,
        "stop": "\n",
        "response_length": 4,
        "iterations": 50,
        "batch_size": 32,
        "mini_batch_size": 16,
        "micro_batch_size": 16,
        "actor_lr": 3e-5,
        "critic_lr": 1e-4,
        "evaluate_every": 10,
        "record_every": 10,
    }
}
MOST_THREADS = 1024  # torch would crash
SIZES = "width", "layers", "heads"  # which a model that exists has already


@dataclass(frozen=True, kw_only=True)
class Settings(PPOConfig):
    """The trainer's, and where and how the command runs it, and what it writes."""

    model: str = setting(
        "", "with a Hugging Face model to train in place of a small new one"
    )
    questions: str = setting(
        PHRASED,
        f"to answer: {', '.join(sums.READY)}, or a file of lines such as "
        '{"prompt": "2+3=", "answer": "5"}, of which every one or none says "split": '
        '"train" or "split": "held-out"; all but the first need --model',
    )
    held_out: str = setting(
        "",
        "questions that are never trained on: a file, or a share of --questions; by "
        f"default what its lines say, or {USUAL_SHARE} if they say nothing",
    )
    held_out_limit: int = setting(
        0, "most of them that are asked at each look; 0: all", 0
    )
    score: str = setting(
        "",
        f"that pays a response: {', '.join(scores.READY)}, or FILE.py:function, "
        "given a question and a text, from 0 to 1",
    )
    held_out_score: str = setting(
        "", "that held-out answers are judged by, if not by --score"
    )
    prompt_template: str = setting("{prompt}", "what surrounds a question")
    no_chat_template: bool = setting(False, "do not follow that of the model")
    stop: str = setting(
        "", "a text of one token, as \\n, that ends a response of the model"
    )
    samples: int = setting(
        0,
        "answers shown before PPO, which is not begun if none is right; with --model "
        f"{FOR_A_MODEL['samples']}",
        0,
    )
    ask: str = setting("", "a question whose answer before and after is shown")
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
    checkpoint_share: float = setting(
        0.05, "of the time that they may take at most; 0: none is written", 0
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
        self._require_a_speaker()

    def files(self) -> list[Path]:
        """The files, besides those of the model, that the run is made from."""
        found = [self.questions] if self.questions not in sums.READY else []
        if self.held_out and not is_share(self.held_out):
            found.append(self.held_out)
        return [Path(name) for name in [*found, *map(scores.file_of, self.code())]]

    def code(self) -> list[str]:
        """The scores that are functions in files, whose code the run executes."""
        return [x for x in (self.score, self.held_out_score) if scores.is_file(x)]

    def _require_a_speaker(self) -> None:
        """The small new network knows nothing but the sums that it is taught."""
        own = {one.name: one.default for one in dataclasses.fields(self)}
        if not self.model:
            for name in ("questions", "prompt_template", "no_chat_template", "stop"):
                if getattr(self, name) != own[name]:
                    raise ValueError(
                        f"train: {option_of(name)} is for a model that speaks; name "
                        "one by --model"
                    )
        if self.held_out and self.questions in sums.READY:
            raise ValueError(
                "train: --held-out is for questions of a file; those of "
                f"{self.questions} are split already"
            )
        if self.questions != PHRASED and self.warm_start_steps:
            raise ValueError(
                "train: warm_start_steps must be 0 with questions of your own, as the "
                f"teacher knows only {PHRASED}, got {self.warm_start_steps}"
            )

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


def option_of(name: str) -> str:
    """The option of a field.

    Example:
        >>> option_of("held_out")
        '--held-out'
    """
    return f"--{name.replace('_', '-')}"


def add_options(parser: ArgumentParser) -> None:
    """Make every field of ``Settings`` an option of the command."""
    command = parser.add_argument_group("where and how")
    trainer = parser.add_argument_group("the run itself")
    for field in dataclasses.fields(Settings):
        default = f" (default {field.default})" if field.default != "" else ""
        choices, kind = CHOICES.get(field.name), type(field.default)
        group = trainer if field.name in PPOConfig.__annotations__ else command
        option = option_of(field.name)
        if kind is bool:
            told = field.metadata["help"]
            group.add_argument(option, action="store_true", default=SUPPRESS, help=told)
            continue
        group.add_argument(
            option,
            type=kind,
            choices=choices,
            default=SUPPRESS,
            help=(field.metadata["help"] + default).replace("%", "%%"),
            metavar=None if choices else OF_PATHS.get(field.name, METAVARS[kind]),
        )
    help = "settings that are known to work; what you name besides wins"
    command.add_argument("--preset", choices=PRESETS, default=SUPPRESS, help=help)


def make_settings(arguments: Mapping[str, Any]) -> Settings:
    """Settings from options by field name; the rest have defaults, others are ignored.

    ``auto`` becomes the device of this machine, a model's folder an absolute path.
    """
    names = {field.name for field in dataclasses.fields(Settings)}
    chosen = {name: x for name, x in arguments.items() if name in names}
    if empty := [name for name, x in chosen.items() if x == ""]:
        raise ValueError(
            f"train: {option_of(empty[0])} must not be empty, got ''; leave it out "
            "instead"
        )
    if preset := arguments.get("preset"):
        chosen = PRESETS[preset] | chosen
    if chosen.get("device", "auto") == "auto":
        chosen["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    if chosen.get("model"):
        if preset and "model" not in arguments and not Path(chosen["model"]).is_dir():
            raise ValueError(
                f"--preset {preset} needs the model in {chosen['model']}, which make "
                f"tools ARGS={preset} brings to this project; or name one by --model"
            )
        if sizes := [name for name in SIZES if name in chosen]:
            raise ValueError(
                f"train: {sizes[0]} is the model's own; leave it out with --model"
            )
        chosen = FOR_A_MODEL | chosen
    for name in OF_PATHS:
        if name in chosen:
            chosen[name] = _absolute(name, chosen[name])
    for name in ("prompt_template", "stop"):
        if name in chosen:
            chosen[name] = chosen[name].replace("\\n", "\n").replace("\\t", "\t")
    return Settings(**chosen)


def _absolute(name: str, given: str) -> str:
    """A path that holds in whatever folder the run is gone on with."""
    if name == "questions" and given in sums.READY:
        return given
    if name == "held_out" and is_share(given):
        return given
    if name in ("score", "held_out_score"):
        if not scores.is_file(given):
            return given
        function = given.rpartition(":")[2]
        return f"{Path(scores.file_of(given)).resolve()}:{function}"
    return str(Path(given).resolve())
