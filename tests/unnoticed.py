"""The assertions by which no change of the code is noticed: make assertions.

Each page is tried in one language, since both have the same code. A person judges what
is listed: a claim that two things differ hardly ever fails, and may be right.
"""

from site_tools.judge.noticed import check_noticed
from site_tools.messages import LANGUAGES
from site_tools.page.page import read_page
from site_tools.source.files import page_ids
from tests.layout import ROOT

LONG = 120.0  # seconds for a page


def main() -> None:
    """Try all pages, and say how far it is."""
    paths = []
    for name in page_ids(ROOT):
        path = f"docs/{LANGUAGES[0]}/{name}.md"
        if (ROOT / path).is_file():
            paths.append(path)
    for number, path in enumerate(paths, 1):
        print(f"{number}/{len(paths)} {path}", flush=True)
        for problem in check_noticed(read_page(ROOT, path), LONG):
            print(problem, flush=True)


if __name__ == "__main__":
    main()
