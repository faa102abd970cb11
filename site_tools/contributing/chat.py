"""import: from a chat log to a draft for each of its questions.

In a draft the chat stands as text: nothing of it runs, is HTML or counts as checked,
and a check refuses its figures until somebody binds them.
"""

import json
import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from site_tools.contributing.chat_log import (
    Broken,
    Round,
    fence_after,
    lines_of,
    read,
)
from site_tools.contributing.likeness import answering, nearest, wordings
from site_tools.contributing.pages import LONGEST, language_of_text
from site_tools.contributing.talk import Refusal, Talk, data_is_read
from site_tools.ledger import store_together

LOG = "log.txt"  # beside the drafts, what was read: by its ending none of them
SKELETONS = Path(__file__).with_name("skeletons")
# A file that a chat was pointed at, as @[verl/trainer.py], and marks of a layout.
MENTION = re.compile(r"@\[[^\]\n]*\]|@[\w./-]+|^ {0,3}(?:#{1,6}|>|[-*+]|\d+[.)])[ \t]+")
SENTENCE_END = re.compile(r"(?<=[。！？!?])(?![”」\"’])\s*|(?<=\.)\s+")
# Between two rounds, there for people: no part of an answer.
RULE = re.compile(r"(?:\n\s*---)?\s*\Z")
ODD_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\r\n?")
# In this order: what stands in code is no formula.
FORMULA = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)|\Z)|`[^`\n]+`)"
    r"|(?<!\\)\\\[(?P<square>(?:(?!\n\s*\n).)+?)\\\]"
    r"|(?<!\\)\\\((?P<round>(?:(?!\n\s*\n).)+?)\\\)",
    re.DOTALL | re.M,
)


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help=talk.text("import_log"))
    dry = talk.text("import_dry_run")
    parser.add_argument("--dry-run", action="store_true", help=dry)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Read the log, say what it asks, and write the drafts if that is agreed on."""
    content, rounds = _read(options.log, talk)
    known = known_pages(rounds, root)
    for each in rounds:
        key = "import_round_known" if known[each.number] else "import_round"
        values = {"number": each.number, "line": each.line, "page": known[each.number]}
        talk.say(key, title=title(each.question), **values)
    if options.dry_run:
        return 0
    folder, count = root / "drafts" / options.log.stem, len(rounds)
    taken = min(folder.iterdir(), default=None) if folder.is_dir() else folder
    if taken and os.path.lexists(taken):
        raise Refusal("import_taken", path=taken)
    if not talk.ask("import_plan", count=count):
        raise Refusal("nothing_written")
    drafts = {f"question_{r.number:02}.md": draft(r, known[r.number]) for r in rounds}
    try:
        files = {folder / name: text.encode() for name, text in drafts.items()}
        store_together({**files, folder / LOG: content})
    except OSError as error:
        raise Refusal("unwritable", path=folder, reason=error.strerror) from None
    talk.say("import_written", folder=folder, count=count)
    talk.say("import_next", file=folder / next(iter(drafts)))
    return 0


def _read(path: Path, talk: Talk) -> tuple[bytes, list[Round]]:
    try:
        content = path.read_bytes()
        return content, read(content, str(path))
    except OSError as error:
        raise Refusal("import_unread", path=path, reason=error.strerror) from None
    except Broken as broken:
        talk.show(talk.problem(broken.problem))
        raise Refusal("nothing_written") from None


def known_pages(rounds: Sequence[Round], root: Path) -> dict[int, str | None]:
    """For each round the page that perhaps answers it already, by its number."""
    with data_is_read():
        pages = wordings(root)
    known = {r.number: answering(nearest(title(r.question), pages)) for r in rounds}
    return {number: near[0].page if near else None for number, near in known.items()}


def title(question: str) -> str:
    """The sentence of a question that asks, else the longest; no code, no mention.

    Example:
        >>> title("@[verl/a.py] 我看了“2？”的例子。V(0) 包含 r(0) 么？谢谢！")
        'V(0) 包含 r(0) 么？'
    """
    prose, fence = "", ""
    for line in lines_of(question):
        before, fence = fence, fence_after(line, fence)
        prose += "" if before or fence else MENTION.sub(" ", line)
    lines = (prose if prose.strip() else question).split("\n")
    parts = (" ".join(s.split()) for line in lines for s in SENTENCE_END.split(line))
    sentences = [part for part in parts if part]
    asking = [sentence for sentence in sentences if sentence.endswith(("?", "？"))]
    first = asking[0] if asking else max(sentences, key=len, default="")
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"


def draft(each: Round, known: str | None = None) -> str:
    """The draft of a round; ``known`` is the page that perhaps answers it already."""
    talk = Talk(language_of_text(title(each.question)))
    text = (SKELETONS / f"draft_{talk.language}.md").read_text("utf-8")
    values = {
        "{number}": str(each.number),
        "{question}": json.dumps(title(each.question), ensure_ascii=False),
        "{known}": talk.text("draft_known", page=known) + "\n\n" if known else "",
        "{asked}": _fenced(each.question),
        "{answered}": _fenced(each.answer),
    }
    names = re.compile("|".join(map(re.escape, values)))
    return names.sub(lambda name: values[name[0]], text)


def _fenced(text: str) -> str:
    """What a chat said, as text, its formulas between ``$`` as the site has them."""
    text = ODD_LINE_ENDS.sub("\n", RULE.sub("", text, count=1)).strip("\n")
    said = FORMULA.sub(_formula, text)
    mark = "`" * max(3, 1 + max(map(len, re.findall("`+", said)), default=0))
    return f"{mark}text\n{said}\n{mark}"


def _formula(match: re.Match[str]) -> str:
    inside = match["square"] or match["round"]
    return match["code"] or f"${' '.join(inside.split())}$"
