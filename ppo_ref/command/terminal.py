"""Text for a terminal, in which a file's control characters are not obeyed."""

import sys


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
