"""import: from a chat log to a draft for each of its questions.

In a draft the chat stands as text: nothing of it runs, is HTML or counts as checked,
and a check refuses its figures until somebody binds them.
"""

import json
import os
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

from site_tools.contributing.chat_log import (
    Broken,
    Log,
    Round,
    fence_after,
    lines_of,
    read,
    write,
)
from site_tools.contributing.likeness import answering, nearest, wordings
from site_tools.contributing.new import add_wording
from site_tools.contributing.pages import check_question, language_of_text
from site_tools.contributing.talk import Refusal, Talk, data_is_read, why
from site_tools.ledger import store_together

LOG = "log.txt"  # beside the drafts, what was read: by its ending none of them
SKELETONS = Path(__file__).with_name("skeletons")
LONGEST = 120  # characters of a title
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
    dry, out = talk.text("import_dry_run"), talk.text("import_out")
    parser.add_argument("--dry-run", action="store_true", help=dry)
    parser.add_argument("--out", metavar="FOLDER", type=Path, help=out)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Read the log, say what it asks, and write the drafts agreed on."""
    log = _read(options.log, talk)
    known = known_pages(log, root)
    for each in log.rounds:
        key = "import_round_known" if known[each.number] else "import_round"
        values = {"number": each.number, "line": each.line, "page": known[each.number]}
        talk.say(key, title=title(each.question), **values)
    if options.dry_run:
        return 0
    folder = options.out or root / "drafts" / options.log.stem
    if taken := _in_the_way(folder):
        raise Refusal("import_taken", path=taken)
    homes = {
        each.number: page
        for each in log.rounds
        if (page := known[each.number])
        and talk.decide("import_merge", number=each.number, page=page)
    }
    rounds = [each for each in log.rounds if each.number not in homes]
    size, count = len(log.rounds), len(rounds)
    if not talk.ask("import_plan", size=size, count=count, left_out=size - count):
        raise Refusal("nothing_written")
    drafts = {
        f"question_{each.number:02}.md": draft(each, known[each.number])
        for each in rounds
    }
    if drafts:
        texts = {**drafts, LOG: write(log)}
        try:
            store_together({folder / name: t.encode() for name, t in texts.items()})
        except OSError as error:
            raise Refusal("unwritable", path=folder, reason=why(error)) from None
        talk.say("import_written", folder=folder, count=count)
    for each in log.rounds:
        if each.number in homes:
            _add_wording(each, homes[each.number], root, talk)
    if drafts:
        talk.say("import_next", file=folder / next(iter(drafts)))
    return 0


def _read(path: Path, talk: Talk) -> Log:
    if path == Path():
        raise Refusal("import_unnamed")
    if not path.is_file():
        raise Refusal("import_folder" if path.is_dir() else "import_missing", path=path)
    try:
        return read(path.read_bytes(), str(path))
    except OSError as error:
        raise Refusal("unreadable", path=path, reason=why(error)) from None
    except Broken as broken:
        talk.show(talk.problem(broken.problem))
        raise Refusal("nothing_written") from None


def known_pages(log: Log, root: Path) -> dict[int, str | None]:
    """For each round the page that perhaps answers it already, by its number."""
    with data_is_read():
        pages = wordings(root)
    found = {r.number: answering(nearest(title(r.question), pages)) for r in log.rounds}
    return {n: pages[0].page if pages else None for n, pages in found.items()}


def _add_wording(each: Round, page: str, root: Path, talk: Talk) -> None:
    """Add a wording to a page; one that cannot be an alias hinders nothing."""
    try:
        wording = check_question(title(each.question))
        add_wording(page.partition("#")[0], wording, root, talk)
    except Refusal as error:
        talk.say("import_no_wording", number=each.number, reason=error)


def title(question: str) -> str:
    """The sentence of a question that asks, else the longest; no code, no mention.

    Example:
        >>> title("@[verl/a.py] 我看了“2？”的例子。V(0) 包含 r(0) 么？谢谢！")
        'V(0) 包含 r(0) 么？'
    """
    kept, fence = "", ""
    for line in lines_of(question):
        before, fence = fence, fence_after(line, fence)
        kept += "" if before or fence else MENTION.sub(" ", line)
    parts = [
        " ".join(sentence.split())
        for line in (kept if kept.strip() else question).split("\n")
        for sentence in SENTENCE_END.split(line)
    ]
    sentences = [part for part in parts if part]
    asking = [sentence for sentence in sentences if sentence.endswith(("?", "？"))]
    first = asking[0] if asking else max(sentences, key=len, default="")
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"


def _in_the_way(folder: Path) -> Path | None:
    """What would have to give way to drafts in this folder."""
    if folder.is_dir():
        return min(folder.iterdir(), default=None)
    return folder if os.path.lexists(folder) else None


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
