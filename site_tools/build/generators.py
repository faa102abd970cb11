"""The same articles by every generator: the site does not hang on one of them.

``python -m site_tools.build.generators`` builds what is compiled by each, and compares
text, ids and links of every article, before anything is finished.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from site_tools.build.publish import GENERATORS, build_site
from site_tools.compile.site import CONFIGS, Compiler, told
from site_tools.finish.article import having, parsed

COMPARED = Path(".cache", "generators")


class Read(NamedTuple):
    """The text and addresses that readers and links find in an article."""

    text: str
    ids: list[str]
    links: list[str]


def main() -> None:
    for lang in CONFIGS:
        Compiler(Path.cwd(), lang, told()).compile()
    shutil.rmtree(COMPARED, ignore_errors=True)
    for name in GENERATORS:
        build_site(name, COMPARED / name, strict=True)
    first, *others = (articles(COMPARED / name) for name in GENERATORS)
    faults = [fault for other in others for fault in differences(first, other)]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(first)} articles, the same by {' and '.join(GENERATORS)}")


def articles(site: Path) -> dict[str, Read]:
    """Each page of a built site that has an article, by its path."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        article = parsed(path.read_text("utf-8")).find("article")
        if article:
            found[path.relative_to(site).as_posix()] = Read(
                " ".join(article.get_text(" ").split()),
                [str(tag["id"]) for tag in having(article, "id")],
                [str(tag["href"]) for tag in having(article, "href")],
            )
    return found


def differences(first: dict[str, Read], other: dict[str, Read]) -> Iterator[str]:
    """The differences of one site from the other, a line for each page and part."""
    for path in sorted(first.keys() ^ other.keys()):
        yield f"{path}: only in one of them"
    for path in sorted(first.keys() & other.keys()):
        for part in Read._fields:
            if getattr(first[path], part) != getattr(other[path], part):
                yield f"{path}: {part} differ"


if __name__ == "__main__":
    main()
