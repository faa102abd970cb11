"""What a new page was given to begin with, and nobody has replaced yet."""

import re
from pathlib import Path

from site_tools.problems import Problem
from site_tools.source.page import Page

MARK = re.compile(r"\bTODO\b.*")


def check_unfinished(page: Page, root: Path) -> list[Problem]:
    """Every line of a page or of its snippet that still says TODO.

    It fails no check of a page while it is being written, but no build of the site
    and no run of all tests lets it through.

    Args:
        page: The page.
        root: The project's folder.
    """
    snippet = f"snippets/{page.id}.py"
    texts = {page.path: page.text}
    if (root / snippet).is_file():
        texts[snippet] = (root / snippet).read_text("utf-8", errors="replace")
    return [
        Problem(
            path,
            line,
            match[0].strip(),
            "your own words before the page is published",
            "write your own answer here, and take the TODO away",
        )
        for path, text in texts.items()
        for line, words in enumerate(text.splitlines(), 1)
        if (match := MARK.search(words))
    ]
