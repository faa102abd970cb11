"""Python that a reader copies from a widget: it is run, and what it prints is read."""

import contextlib
import io


def printed_by(code: str) -> str:
    """The output of a text, run as a script in this process."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "copied", "exec"), {})
    return printed.getvalue()


def named_numbers(text: str) -> dict[str, float]:
    """The numbers of a text in which each stands behind its name."""
    words = text.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return {name: float(number) for name, number in pairs}
