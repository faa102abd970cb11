"""What the question pages hold, counted: nothing verified may get lost in an edit.

``python -m tests.counts`` prints a line for each page and language, and the sums; given
a folder, it counts another checkout. Words are those of the verdict (characters in
Chinese), which has a limit (``site_tools.judge.sections``).
"""

import re
import sys
from collections import Counter
from pathlib import Path

from site_tools.compile.navigation import QUESTION_TOPICS, Answer, answers
from site_tools.compile.templates import LINK
from site_tools.judge.sections import ENGLISH_WORD, HANZI

PARTS = {  # a line begins with each, but for the bindings
    "blocks": r"^ *```(?:python|\{ \.python)",
    "outputs": r"^ *```output",
    "bindings": r'\{ data-is="',
    "refuted": r"^### .*\{ #wrong-",
    "facts": r"^ *```fact",
    "aliases": r"^  - ",
}


def count(text: str, answer: Answer, language: str) -> Counter[str]:
    """The parts of a page, and the length of its verdict."""
    found = Counter[str]()
    for name, part in PARTS.items():
        found[name] = len(re.findall(part, text, re.MULTILINE))
    unit = HANZI if language == "zh" else ENGLISH_WORD
    found["words"] = len(unit.findall(LINK.sub(r"\1", answer.verdict)))
    return found


def main(root: Path) -> None:
    print("page".ljust(38), *(name.rjust(8) for name in [*PARTS, "words"]))
    for language in ("zh", "en"):
        pages: dict[str, Counter[str]] = {}
        for answer in answers(root, language, QUESTION_TOPICS):
            name = f"{language}/{answer.page}"
            text = (root / "docs" / f"{name}.md").read_text("utf-8")
            pages[name] = count(text, answer, language)
        rows = {**pages, f"{language}, all": sum(pages.values(), Counter())}
        for name, found in rows.items():
            print(name.ljust(38), *(f"{found[part]:8}" for part in [*PARTS, "words"]))
        longest = max(found["words"] for found in pages.values())
        mean = rows[f"{language}, all"]["words"] / len(pages)
        print(
            f"{len(pages)} pages; verdicts: {mean:.1f} on average, at most {longest}\n"
        )


if __name__ == "__main__":
    main(Path(*sys.argv[1:]))
