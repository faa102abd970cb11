"""What the question pages hold, counted: nothing verified may get lost in an edit.

``python -m tests.counts`` prints a line for each page and language, and the sums; given
a folder, it counts another checkout. Words are those of the verdict (characters in
Chinese), which has a limit (``site_tools.judge.sections``).
"""

import re
import sys
from collections import Counter
from pathlib import Path

from site_tools.compile.navigation import QUESTION_TOPICS

VERDICT = re.compile(r"#answer \}\n\n\*\*(.+?)\*\*", re.DOTALL)
LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
PARTS = {
    "blocks": re.compile(r"^ *```(?:python|\{ \.python)", re.MULTILINE),
    "outputs": re.compile(r"^ *```output", re.MULTILINE),
    "bindings": re.compile(r'\{ data-is="'),
    "refuted": re.compile(r"^### .*\{ #wrong-", re.MULTILINE),
    "facts": re.compile(r"^ *```fact", re.MULTILINE),
    "aliases": re.compile(r"^  - ", re.MULTILINE),
}


def count(text: str, language: str) -> Counter[str]:
    """The parts of a page, and the length of its verdict."""
    found = Counter({name: len(part.findall(text)) for name, part in PARTS.items()})
    said = VERDICT.search(text)
    verdict = LINKED.sub(r"\1", said[1]) if said else ""
    unit = "[\u4e00-\u9fff]" if language == "zh" else r"\S*\w\S*"
    found["words"] = len(re.findall(unit, verdict))
    return found


def main(root: Path) -> None:
    print("page".ljust(38), *(name.rjust(8) for name in [*PARTS, "words"]))
    for language in ("zh", "en"):
        pages: dict[str, Counter[str]] = {}
        for topic in QUESTION_TOPICS:
            for file in sorted((root / "docs" / language / topic).glob("*.md")):
                if file.stem != "index":
                    text = file.read_text("utf-8")
                    pages[f"{language}/{topic}/{file.stem}"] = count(text, language)
        rows = {**pages, f"{language}, all": sum(pages.values(), Counter())}
        for name, found in rows.items():
            print(name.ljust(38), *(f"{found[part]:8}" for part in [*PARTS, "words"]))
        longest = max(found["words"] for found in pages.values())
        mean = rows[f"{language}, all"]["words"] / len(pages)
        print(
            f"{len(pages)} pages; verdicts: {mean:.1f} on average, at most {longest}\n"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "."))
