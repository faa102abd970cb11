"""The sentences for a learner, in English and in Chinese, out of ``holes.json``."""

import json
import os
from pathlib import Path
from typing import Any

HOLES = json.loads(Path(__file__).with_name("holes.json").read_text("utf-8"))
SAID = HOLES.pop("said")


def language() -> str:
    """zh where this machine speaks Chinese, else en."""
    names = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    first = next((name for name in names if name), "")
    return "zh" if first.lower().startswith("zh") else "en"


def said(key: str, lang: str, **facts: object) -> str:
    """A sentence of the judge, with its facts."""
    sentence: str = SAID[key][lang]
    return sentence.format(**facts)


def title(name: str, lang: str) -> str:
    """The title of a hole, in a line."""
    line: str = HOLES[name]["title"][lang]
    return line


def mistake(hole: str, name: str, lang: str) -> tuple[str, str]:
    """The sentence of a misconception, and the page that explains it."""
    entry: dict[str, Any] = HOLES[hole]["mistakes"][name]
    return entry[lang], entry["page"]


def stub(name: str, lang: str) -> str:
    """The file to begin with: contract, signature and example, nothing else.

    Example:
        >>> print(stub("masked_mean", "en").splitlines()[3])
        def masked_mean(x, mask):
    """
    hole = HOLES[name]
    inside = [*hole["contract"][lang], "", said("unchanged", lang), "", "Example:"]
    inside += [f"    {line}" for line in hole["example"]]
    lines = [f"    {line}".rstrip() for line in inside]
    return "\n".join(
        [
            "import torch",
            "",
            "",
            f"def {hole['signature']}:",
            f'    """{hole["title"][lang]}',
            "",
            *lines,
            '    """',
            "    raise NotImplementedError",
            "",
        ]
    )
