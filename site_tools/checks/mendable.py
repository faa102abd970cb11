"""Chinese prose with the punctuation of English beside its characters."""

from collections.abc import Iterator

from site_tools.fixing.front import with_front
from site_tools.fixing.punctuation import widened
from site_tools.page.page import Page
from site_tools.problems import Problem

AROUND = 8  # characters shown on either side of what differs


def check_mendable(page: Page) -> list[Problem]:
    """Half-width punctuation of a Chinese page, which ``fix`` mends; one a line.

    Args:
        page: The page.
    """
    if page.language != "zh":
        return []
    mended = with_front(widened(page.text), widened)
    fix = f"make fix PAGE={page.id} mends it"
    return [
        Problem(page.path, line, found, expected, fix)
        for line, found, expected in _differing(page.text, mended)
    ]


def _differing(text: str, mended: str) -> Iterator[tuple[int, str, str]]:
    """The lines that differ, and of each what stands there and what should."""
    pairs = zip(text.split("\n"), mended.split("\n"), strict=True)
    for number, (old, new) in enumerate(pairs, 1):
        if old == new:
            continue
        start = _same(old, new)
        same = _same(old[start:][::-1], new[start:][::-1])
        first = max(start - AROUND, 0)
        found, expected = (
            line[first : len(line) - max(same - AROUND, 0)] for line in (old, new)
        )
        yield number, found, expected


def _same(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    least = min(len(one), len(other))
    return next((at for at, (a, b) in pairs if a != b), least)
