"""The bytes of a log, taken as text: UTF-8 without a BOM, lines that end in LF."""

from site_tools.problems import Problem


class Broken(ValueError):
    """A log that breaks the format: the problem names line, reason and remedy."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def decode(content: bytes, path: str) -> str:
    r"""The text of a log.

    Args:
        content: The file.
        path: Its name, for the message.

    Raises:
        Broken: if it is no UTF-8, begins with a BOM, or has a carriage return.

    Example:
        >>> decode(b"# Chat Dialogue Log\r\n", "log.md")
        Traceback (most recent call last):
        site_tools.logs.encoding.Broken: log.md:1
          found:    a carriage return
          expected: lines that end in LF
          fix:      save it with the line ends of Unix (LF)
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{content[error.start]:02x}, which is no UTF-8"
        fix = "save it as UTF-8"
        raise Broken(Problem(path, line, found, "text in UTF-8", fix)) from None
    if text.startswith("\ufeff"):
        fix = "save it as UTF-8 without BOM"
        raise Broken(
            Problem(path, 1, "a BOM before #", "a file that begins with #", fix)
        )
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        fix = "save it with the line ends of Unix (LF)"
        raise Broken(
            Problem(path, line, "a carriage return", "lines that end in LF", fix)
        )
    return text
