"""Record that a page says the same in both languages: make agree PAGE=topic/page.

Whoever runs it declares it, so it takes pages by name and has no way to take them
all at once: nobody has compared pages that he cannot name.
"""

import contextlib
import os
import sys
from pathlib import Path

from site_tools.checks import accord
from site_tools.checks.languages import compare
from site_tools.data.locks import lock_of, lock_path, parse, write
from site_tools.files import store
from site_tools.source.page import LANGUAGES, Page, read_page
from site_tools.source.wording import wording
from tests.check import files_of, page_id

ROOT = Path.cwd()


def both_languages(page: str) -> tuple[Page, Page]:
    """The page in Chinese and English; SystemExit if they cannot say the same yet."""
    found = files_of(page, "agree")
    wanted = [f"docs/{language}/{page}.md" for language in LANGUAGES]
    for missing in set(wanted) - set(found):
        sys.exit(
            f"Not recorded: {missing} is not written yet, so there is nothing to "
            f"compare with; {found[0]} may stand alone until it is"
        )
    try:
        zh, en = (read_page(ROOT, file) for file in wanted)
    except UnicodeDecodeError as error:
        sys.exit(f"Not recorded: both files of {page} must be UTF-8, got {error}")
    if problems := [*zh.problems, *en.problems, *compare(zh, en)]:
        told = "\n".join(map(str, problems))
        wanted_first = "must have the same structure in both languages first"
        sys.exit(f"{told}\nNot recorded: {page} {wanted_first}")
    return zh, en


def record(page: str, zh: Page, en: Page) -> str:
    """Write the lock of a page, and say what was recorded."""
    file = ROOT / lock_path(page)
    before = {}
    with contextlib.suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        before = parse(file.read_text("utf-8"), page)
    now = lock_of(wording(zh.text), wording(en.text))
    store(file, write(now).encode())
    changed = [s for s in {**before, **now} if before.get(s) != now.get(s)]
    told = ", ".join(changed) or "nothing new, it was recorded as it stands"
    return f"{page}: {told} ({lock_path(page)})"


def waiting() -> str:
    """The sentence for whoever names no page."""
    states = (accord.read(ROOT, page) for page in accord.page_ids(ROOT))
    alone = (accord.State.MISSING_ZH, accord.State.MISSING_EN)
    open_ = [s.page for s in states if s.state not in (*alone, accord.State.ACCORD)]
    names = ", ".join(open_) or "none, every pair is recorded as it stands"
    return f"No page given; as in: make agree PAGE=topic/page. Waiting: {names}"


def main() -> None:
    names = [page_id(name) for name in os.environ.get("PAGE", "").split()]
    if not names:
        sys.exit(waiting())
    pairs = {name: both_languages(name) for name in names}
    for name, (zh, en) in pairs.items():
        print(record(name, zh, en))


if __name__ == "__main__":
    main()
