"""What is mended from the text alone, in the order in which one needs another."""

from site_tools.fixing.fence_words import canonical
from site_tools.fixing.front import with_front
from site_tools.fixing.heading_ids import with_ids
from site_tools.fixing.layout import apart, line_ends, trimmed
from site_tools.fixing.punctuation import widened
from site_tools.fixing.spacing import spaced
from site_tools.problems import Problem


def mended(
    text: str, page: str, path: str, twin: str | None = None
) -> tuple[str, list[Problem]]:
    """A page with all that is mechanical mended, and what only its author can say.

    Args:
        text: The page.
        page: As in ``gae/inputs``.
        path: Its path, as in ``docs/zh/gae/inputs.md``.
        twin: The same page in the other language.
    """
    text = apart(trimmed(canonical(line_ends(text))))
    if path.startswith("docs/zh/"):
        text = with_front(chinese(text), chinese)
    return with_ids(text, page, path, None if twin is None else line_ends(twin))


def chinese(text: str) -> str:
    """Chinese with its punctuation full-width and its blanks where they belong.

    Example:
        >>> chinese("优势(advantage),即`A`")
        '优势（advantage），即 `A`'
    """
    return spaced(widened(text))
