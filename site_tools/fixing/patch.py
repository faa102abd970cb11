"""What changes in a file, as git reads it."""

import difflib


def patch(path: str, before: str, after: str) -> str:
    r"""A unified diff that ``git apply`` takes; empty where nothing changes.

    Args:
        path: The file, relative to the project.
        before: Its text.
        after: The text that is to replace it.

    Example:
        >>> print(patch("a.md", "one\n", "one\ntwo"), end="")
        --- a/a.md
        +++ b/a.md
        @@ -1 +1,2 @@
         one
        +two
        \ No newline at end of file
    """
    rows = difflib.unified_diff(
        _lines(before), _lines(after), f"a/{path}", f"b/{path}", n=3
    )
    end = "\n\\ No newline at end of file\n"
    return "".join(row if row.endswith("\n") else row + end for row in rows)


def _lines(text: str) -> list[str]:
    """Lines as git counts them: they end in a line feed, and in nothing else."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)
