"""Note which changes of the pages' code are noticed: make assertions.

Each page is tried in one language, as the slow test does, and counted in whole; where
each assertion has noticed a change, docs/verified/assertions.yml has the figures that
a page shows.
"""

import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple

import yaml

from site_tools.judge.noticed import try_changes
from site_tools.ledger import store
from site_tools.messages import LANGUAGES
from site_tools.page.page import read_page
from site_tools.source.files import page_ids
from tests.layout import ROOT

RECORD = "docs/verified/assertions.yml"
LONG = 480.0  # seconds for a page


class Counted(NamedTuple):
    """What came of the changes of one page, or of the pages of a folder."""

    pages: int
    assertions: int
    changes: int
    noticed: int
    left: tuple[str, ...] = ()  # the assertions that have noticed none

    def plus(self, other: "Counted") -> "Counted":
        """Both together."""
        return Counted(*(a + b for a, b in zip(self, other, strict=True)))


def asserting(root: Path, folder: str | None = None) -> Iterator[str]:
    """The pages with an assertion that runs, in one language: both have the same."""
    for name in page_ids(root):
        if folder not in (None, str(Path(name).parent)):
            continue
        path = f"docs/{LANGUAGES[0]}/{name}.md"
        if not (root / path).is_file():
            continue
        for block in read_page(root, path).blocks:
            if block.runs and not block.raises and "assert " in block.text:
                yield path
                break


def count(root: Path, path: str) -> Counted:
    """Try a page, and count."""
    tried = list(try_changes(read_page(root, path), LONG, whole=True))
    left = []
    for each in tried:
        if not each.sound:
            left.append(f"{path}: {each.line.snippet}: {each.line.text.strip()}")
    return Counted(
        pages=1,
        assertions=len(tried),
        changes=sum(each.changes for each in tried),
        noticed=sum(each.noticed for each in tried),
        left=tuple(left),
    )


def write(root: Path, folders: Mapping[str, Counted]) -> None:
    """Write the record; SystemExit if an assertion is left that notices nothing."""
    left = [line for counted in folders.values() for line in counted.left]
    if left:
        sys.exit("nothing is recorded, these notice no change:\n" + "\n".join(left))
    rows = {}
    for folder, counted in sorted(folders.items()):
        rows[folder] = counted._asdict()
        del rows[folder]["left"]
    made = {"date": date.today().isoformat(), "folders": rows}
    store(root / RECORD, yaml.safe_dump(made, sort_keys=False).encode())


def main() -> None:
    """Try all pages, and say how far it is."""
    folders: dict[str, Counted] = {}
    paths = list(asserting(ROOT))
    for number, path in enumerate(paths, 1):
        counted = count(ROOT, path)
        print(
            f"{number}/{len(paths)} {path}: {counted.noticed} of {counted.changes} "
            "changes noticed",
            *counted.left,
            flush=True,
        )
        folder = Path(path).parent.relative_to(f"docs/{LANGUAGES[0]}").as_posix()
        before = folders.get(folder)
        folders[folder] = before.plus(counted) if before else counted
    write(ROOT, folders)


if __name__ == "__main__":
    main()
