"""Text for a terminal, in which a file's control characters are not obeyed."""

import re
import sys

INNER = re.compile(r"[A-Za-z_]\w*: ")  # the function that refuses


def printable(text: str) -> str:
    """The text, with whatever a terminal would obey or not show as its escape.

    Example:
        >>> printable("values\\x1b[2J, 优势\\u202e")
        'values\\\\x1b[2J, 优势\\\\u202e'
    """
    signs = []
    for sign in text:
        if not sign.isprintable() and sign != "\n":
            sign = sign.encode("unicode_escape", "surrogatepass").decode()
        signs.append(sign)
    return "".join(signs)


def say(sentence: str) -> None:
    """Print a refusal, or why the run ends."""
    print(printable(sentence), file=sys.stderr, flush=True)


def reason_of(error: Exception) -> str:
    """The sentence of a refusal, for somebody who has typed a command.

    The name of the function that refuses is left out: it is in no command.

    Example:
        >>> reason_of(ValueError("PPOConfig: width must be at least 1, got 0"))
        'width must be at least 1, got 0'
        >>> reason_of(OSError(13, "Permission denied", "runs/1"))
        'runs/1: Permission denied'
    """
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    text = str(error)
    inner = INNER.match(text)
    return text[inner.end() :] if inner else text
