"""The ruler of this house: how much code each folder has, and how dense it is.

``python -m tests.ruler`` prints it. A token is a name, an operator or a number; text,
comments and docstrings cost nothing, so that nobody saves at them. A line counts where
a token stands on it. Ceilings hold what a folder may grow to (``test_ruler.py``).
"""

import io
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
# Folders that are measured together: the most tokens that they may have, and the most
# on a line. They are what has been reached; whoever takes code away lowers them.
CEILINGS = {
    ("site_tools", "docs/theme"): (139_300, 9.0),  # of which the booklet has 5,500
    ("ppo_ref",): (91_900, 8.7),  # of which practice and the dumps of three trainers
    ("tests",): (267_000, 9.2),  # of which practice has solutions of strangers
}
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER}
# Python 3.12 reads what stands in an f-string, which is text to those before it.
OPENING = getattr(tokenize, "FSTRING_START", -1)
CLOSING = getattr(tokenize, "FSTRING_END", -1)


class Size(NamedTuple):
    """The code of some files."""

    files: int
    lines: int  # on which code stands
    tokens: int

    @property
    def density(self) -> float:
        """Tokens a line."""
        return self.tokens / max(self.lines, 1)


def measure(sources: Iterable[str]) -> Size:
    """The size of these sources together."""
    files = lines = tokens = 0
    for source in sources:
        places = token_lines(source)
        files, tokens = files + 1, tokens + len(places)
        lines += len(set(places))
    return Size(files, lines, tokens)


def token_lines(source: str) -> list[int]:
    """The line of each token."""
    places, inside = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        inside += (token.type == OPENING) - (token.type == CLOSING)
        if token.type in COUNTED and not inside:
            places.append(token.start[0])
    return places


def measure_folders(folders: Iterable[str]) -> Size:
    """The size of all Python in these folders."""
    paths = [path for name in folders for path in sorted((ROOT / name).rglob("*.py"))]
    return measure(path.read_text("utf-8") for path in paths)


def message_keys() -> int:
    """How many messages and words of the site there are in one language."""
    catalogues = sorted((ROOT / "site_tools").rglob("en.yml"))
    return sum(count_keys(yaml.safe_load(c.read_text("utf-8"))) for c in catalogues)


def count_keys(catalogue: object) -> int:
    """The texts of a catalogue, also in what lies inside it."""
    if isinstance(catalogue, dict):
        return sum(map(count_keys, catalogue.values()))
    return 1


def main() -> None:
    """Print the table."""
    print(f"{'':24}{'files':>7}{'lines':>8}{'tokens':>9}{'a line':>8}{'at most':>9}")
    for folders, (most, _) in CEILINGS.items():
        size = measure_folders(folders)
        row = f"{size.files:7}{size.lines:8}{size.tokens:9}{size.density:8.2f}{most:9}"
        print(f"{' + '.join(folders):24}{row}")
    print(f"{message_keys()} messages and words in each language")


if __name__ == "__main__":
    main()
