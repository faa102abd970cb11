"""Change the code of every page, and note what is noticed: make assertions.

Each page is tried in one language, since both have the same code. Once every assertion
has noticed a change, docs/verified/assertions.yml has the figures, folder by folder,
that about/verification shows.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

import yaml

from site_tools.judge.noticed import Tried, try_changes, unnoticed
from site_tools.ledger import store
from site_tools.messages import LANGUAGES
from site_tools.page.page import read_page
from site_tools.source.files import page_ids
from tests.layout import ROOT

RECORD = "docs/verified/assertions.yml"
COLUMNS = ("pages", "assertions", "changes", "noticed")
LONG = 480.0  # seconds for a page


def pages(root: Path) -> Iterator[str]:
    """The path of each page, in one language."""
    for name in page_ids(root):
        path = f"docs/{LANGUAGES[0]}/{name}.md"
        if (root / path).is_file():
            yield path


def counted(tried: list[Tried]) -> Counter[str]:
    """What came of the changes of one page."""
    return Counter(
        pages=1,
        assertions=len(tried),
        changes=sum(each.changes for each in tried),
        noticed=sum(each.killed for each in tried),
    )


def write(root: Path, folders: Mapping[str, Counter[str]]) -> None:
    """Write the record."""
    rows = {}
    for folder, counts in sorted(folders.items()):
        rows[folder] = {column: counts[column] for column in COLUMNS}
    made = {"date": date.today().isoformat(), "folders": rows}
    store(root / RECORD, yaml.safe_dump(made, sort_keys=False).encode())


def main() -> None:
    """Try all pages and say how far it is; SystemExit if something is not noticed."""
    folders: dict[str, Counter[str]] = {}
    left = 0
    paths = list(pages(ROOT))
    for number, path in enumerate(paths, 1):
        print(f"{number}/{len(paths)} {path}", flush=True)
        page = read_page(ROOT, path)
        tried = list(try_changes(page, LONG))
        for problem in unnoticed(page, tried):
            print(problem, flush=True)
            left += 1
        if tried:
            folder = Path(path).relative_to(f"docs/{LANGUAGES[0]}").parts[0]
            folders[folder] = folders.get(folder, Counter()) + counted(tried)
    if left:
        sys.exit(f"Nothing is recorded: {left} assertions notice no change.")
    write(ROOT, folders)


if __name__ == "__main__":
    main()
