"""The figures that are known, and the cases in which something is to be said.

``doctor.json`` has them by the names that trainers log them under; the page with the
symptoms reads the same file, in the browser. A name with a star stands for every name
that fits.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_TABLE: dict[str, Any] = json.loads(
    Path(__file__).with_name("doctor.json").read_text("utf-8")
)
FIGURES: list[dict[str, Any]] = _TABLE["figures"]
ORDER: list[str] = _TABLE["order"]  # sections, causes before what they bring about
LOST: dict[str, str] = _TABLE["lost"]  # what is said of a figure that is not finite
SOME_LOST: dict[str, str] = _TABLE["some_lost"]  # in some steps, but not at the end
KNOWN = {key for figure in FIGURES for key in figure["keys"]}
FIGURE_OF = {key: figure["id"] for figure in FIGURES for key in figure["keys"]}
STARRED = sorted(key for key in KNOWN if "*" in key)
PHRASES = sorted(key for key in KNOWN if " " in key and key[0].isalpha())


def is_known(name: str) -> bool:
    """Say whether a name is one of a figure's."""
    return name in KNOWN or any(_fits(name, key) for key in STARRED)


def names_of(figure: Mapping[str, Any], log: Mapping[str, Any]) -> list[str]:
    """The names of a figure in a log, in the order of its table."""
    found = []
    for key in figure["keys"]:
        if "*" in key:
            found += [name for name in log if _fits(name, key)]
        elif key in log:
            found.append(key)
    return found


def _fits(name: str, key: str) -> bool:
    """Say whether a name has something where a key has its star."""
    before, after = key.split("*")
    longer = len(name) > len(before) + len(after)
    return longer and name.startswith(before) and name.endswith(after)
