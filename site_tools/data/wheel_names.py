"""Names of a pinned release: what stands in its wheel, where, and with which default.

A release is pinned by its line in ``pins/peers.txt``. Its Python and YAML files are
read as they lie in the wheel, and nothing of them is imported.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from site_tools.data.facts import (
    WHEELS,
    find_wheel,
    open_wheel,
    text_in_wheel,
)

WORD = re.compile(r"[A-Za-z_]\w*")
LOGGED_NAME = re.compile(r"""["']([a-z]\w*(?:/\w+)+)["']""")
YAML_KEY = re.compile(r"( *)(\w+):")
DEFINITION = re.compile(r"^( *)(?:async +)?(?:def|class) +(\w+)", re.M)
# The config of verl's trainer with all its parts filled in, and before there was one.
VERL_CONFIGS = (
    "verl/trainer/config/_generated_ppo_trainer.yaml",
    "verl/trainer/config/ppo_trainer.yaml",
)
INTERPOLATION = re.compile(r"\$\{(?:oc\.select:)?([\w.]+)(?:, *([^}]*))?\}")
# The same for other engines, whose keys are besides.
OTHER_CONFIGS = re.compile(r"verl/trainer/config/_generated_ppo_\w+_trainer\.yaml")
OPTION = re.compile(
    r"""add_argument\(\s*f?"--([\w.{}-]+)"([^()]*(?:\([^()]*\)[^()]*)*)"""
)
OPTION_DEFAULT = re.compile(r"\bdefault=([^,()\n]+)")
OPTION_PREFIXES = ("actor", "critic")  # of options that are added in a loop over both
# A field of a dataclass of settings, in TRL.
CONFIG_FILE = re.compile(r"trl/.*_config\.py")
FIELD = re.compile(
    r"^    (\w+): [^\n=]+ = (?:field\(\s*default=)?([^,()\n]+)(?:,|\)?$)", re.M
)


@dataclass(frozen=True)
class Definition:
    """A function or class: its file, its first line and its last."""

    path: str
    first: int
    last: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.first}-{self.last}"


@dataclass(frozen=True)
class WheelNames:
    """The names that a release holds; ``texts`` are its files by their paths."""

    release: str
    texts: dict[str, str]

    @property
    def project(self) -> str:
        return self.release.partition(" ")[0]

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name that stands in a file or is the name of a file or folder."""
        words = set[str]()
        for path, text in self.texts.items():
            words.update(WORD.findall(path))
            words.update(WORD.findall(text))
        return frozenset(words)

    @cached_property
    def modules(self) -> frozenset[str]:
        """Each module and package, with dots."""
        modules = set[str]()
        for path in self.texts:
            module = path.removesuffix(".py").removesuffix("/__init__")
            while module:
                modules.add(module.replace("/", "."))
                module = module.rpartition("/")[0]
        return frozenset(modules)

    @cached_property
    def definitions(self) -> dict[str, list[Definition]]:
        """Where each function, method and class is defined."""
        found = dict[str, list[Definition]]()
        for path, text in self.texts.items():
            if path.endswith(".py"):
                for name, place in _definitions(path, text):
                    found.setdefault(name, []).append(place)
        return found

    @cached_property
    def settings(self) -> dict[str, list[Any]]:
        """Each setting by its whole key, with the defaults that it has."""
        settings = dict[str, list[Any]]()
        for key, value in _config_of(self.texts).items():
            settings[key] = [value]
        for path, text in self.texts.items():
            found = list[tuple[str, str]]()
            if OTHER_CONFIGS.fullmatch(path):
                for key, value in _flat_config(text).items():
                    settings.setdefault(key, [value])
            if path.endswith("cli/train_ppo_ray.py"):
                found = _options(text)
            elif CONFIG_FILE.fullmatch(path):
                found = FIELD.findall(text)
            for key, default in found:
                settings.setdefault(key, []).append(_value(default))
        return settings

    @cached_property
    def setting_starts(self) -> frozenset[str]:
        """The first words of settings that have several."""
        return frozenset(key.partition(".")[0] for key in self.settings if "." in key)

    @cached_property
    def metrics(self) -> frozenset[str]:
        """The figures of a log that are written with all their words."""
        found = set[str]()
        for text in self.texts.values():
            found.update(LOGGED_NAME.findall(text))
        return frozenset(found)

    @cached_property
    def metric_starts(self) -> frozenset[str]:
        return frozenset(name.partition("/")[0] for name in self.metrics)

    def has_module(self, name: str) -> bool:
        """True of a module, or of something that a module of that name holds."""
        module, _, last = name.rpartition(".")
        return name in self.modules or (module in self.modules and last in self.words)

    def within(self, name: str) -> set[str]:
        """Names that are defined within a class."""
        found = set[str]()
        for outer in self.definitions.get(name, []):
            for inner, places in self.definitions.items():
                for place in places:
                    if (
                        place.path == outer.path
                        and outer.first < place.first <= outer.last
                    ):
                        found.add(inner)
        return found

    def has_key(self, key: str) -> bool:
        """True if a dotted key, or its last parts, is a setting or holds some."""
        around = f".{key}."
        return any(around in f".{known}." for known in self.settings)

    def defaults(self, key: str) -> list[Any]:
        """The defaults of the settings that a key, or its last parts, may mean."""
        found = []
        for known, values in self.settings.items():
            if known == key or known.endswith(f".{key}"):
                found += values
        return found

    def holds(self, text: str) -> bool:
        """True if a text stands in a file, and is no piece of a longer word there."""
        end = r"(?!\w)" if text[-1:].isalnum() else ""
        whole = re.compile(rf"(?<!\w){re.escape(text)}{end}")
        return any(text in each and whole.search(each) for each in self.texts.values())

    def setting_place(self, key: str) -> str:
        """Where a setting has its default, or else where its last word stands."""
        for path in VERL_CONFIGS:
            line = _line_of_key(key, self.texts.get(path, ""))
            if line:
                return f"{path}:{line}"
        return self.place(f"--{key}") or self.place(key.rpartition(".")[2])

    def place(self, word: str) -> str:
        """Where a name is defined, or else stands first; nothing if nowhere."""
        if word in self.definitions:
            return self.definitions[word][0].place
        whole = re.compile(rf"(?<![\w.]){re.escape(word)}(?!\w)")
        for path, text in self.texts.items():
            match = whole.search(text)
            if match:
                return f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        return ""


def _line_of_key(key: str, text: str) -> int:
    """The line of a dotted key, or of the first that ends so, in a config; else 0."""
    for number, whole in keys_by_line(text):
        if f".{whole}".endswith(f".{key}"):
            return number
    return 0


def keys_by_line(text: str) -> Iterator[tuple[int, str]]:
    """Each key of a config as it is written, with dots, and its line."""
    open_keys = list[tuple[int, str]]()
    for number, line in enumerate(text.split("\n"), 1):
        match = YAML_KEY.match(line)
        if match is None:
            continue
        depth = len(match[1])
        while open_keys and open_keys[-1][0] >= depth:
            open_keys.pop()
        open_keys.append((depth, match[2]))
        yield number, ".".join(name for _, name in open_keys)


def _definitions(path: str, text: str) -> list[tuple[str, Definition]]:
    """The definitions of a file; one ends where a line is indented no deeper."""
    lines = text.split("\n")
    found = []
    number, at = 1, 0
    for match in DEFINITION.finditer(text):
        number += text.count("\n", at, match.start())
        at = match.start()
        last = _last_line(lines, number, len(match[1]))
        found.append((match[2], Definition(path, number, last)))
    return found


def _last_line(lines: list[str], first: int, depth: int) -> int:
    last = first
    for number, line in enumerate(lines[first:], first + 1):
        code = line.strip()
        indent = len(line) - len(line.lstrip())
        # The signature of a function may close at the depth where it begins.
        if code and indent <= depth and not code.startswith((")", "]")):
            break
        if code:
            last = number
    return last


def _config_of(texts: dict[str, str]) -> dict[str, Any]:
    """The settings of verl's trainer, with what they refer to filled in."""
    for path in VERL_CONFIGS:
        if path in texts:
            return _flat_config(texts[path])
    return {}


def _flat_config(text: str) -> dict[str, Any]:
    """Each key of a config file, with dots, and its value."""
    flat = dict[str, Any]()
    _flatten(yaml.load(text, Loader=yaml.CSafeLoader), "", flat)
    return {key: _resolved(value, flat) for key, value in flat.items()}


def _flatten(value: Any, key: str, flat: dict[str, Any]) -> None:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            _flatten(inner, f"{key}.{name}" if key else str(name), flat)
    else:
        flat[key] = value


def _resolved(value: Any, flat: dict[str, Any]) -> Any:
    """A default, or that of the key which it refers to."""
    for _ in range(len(flat)):
        match = INTERPOLATION.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            break
        value = flat.get(match[1], _value(match[2] or "null"))
    return value


def _options(text: str) -> list[tuple[str, str]]:
    """The options of OpenRLHF's command, and the text of their defaults."""
    found = []
    for name, rest in OPTION.findall(text):
        match = OPTION_DEFAULT.search(rest)
        default = match[1] if match else "None"
        if "{prefix}" in name:
            for prefix in OPTION_PREFIXES:
                found.append((name.replace("{prefix}", prefix), default))
        else:
            found.append((name, default))
    return found


def _value(text: str) -> Any:
    """The value of a default, written as in Python or YAML."""
    text = text.strip()
    if text == "None":
        return None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def names_of(release: str, root: Path) -> WheelNames | None:
    """The names of a release; None where its wheel is not here."""
    wheel = find_wheel(release, root / WHEELS)
    return _read_wheel(release, wheel) if wheel else None


@cache  # every page asks for the newest verl
def _read_wheel(release: str, wheel: Path) -> WheelNames:
    texts = dict[str, str]()
    for path in sorted(open_wheel(wheel)[1]):
        if path.endswith((".py", ".yaml")) and not path.startswith("tests/"):
            texts[path] = text_in_wheel(wheel, path) or ""
    return WheelNames(release, texts)
