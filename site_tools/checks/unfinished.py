"""What a new page was given to begin with, and nobody has replaced yet."""

import re
from pathlib import Path

from site_tools.problems import Problem

MARK = re.compile(r"(?<!`)\bTODO\b[:：]?[^.。*?？]*")  # `TODO` is only spoken of


def todo(root: Path, path: str, text: str) -> list[Problem]:
    """Every line of a page, and of its snippet, that still says TODO.

    It fails no check of a page, which is being written; but no build of the site and
    no run of all tests lets it through.

    Args:
        root: The project's folder.
        path: The page, relative to it, as in ``docs/zh/gae/inputs.md``.
        text: Its text.
    """
    page = "/".join(Path(path).with_suffix("").parts[2:])
    texts, snippet = {path: text}, f"snippets/{page}.py"
    if (root / snippet).is_file():
        texts[snippet] = (root / snippet).read_text("utf-8", errors="replace")
    return [
        Problem(
            file,
            line,
            match[0].strip(),
            "your own words before the page is published",
            "write your own answer here, and take the TODO away",
        )
        for file, written in texts.items()
        for line, words in enumerate(written.splitlines(), 1)
        if (match := MARK.search(words))
    ]
