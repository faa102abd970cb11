"""import and export: from a chat log to drafts, and from pages to a chat log.

The format of a log is on the page ``contribute/dialogue_log``. In a draft the chat
stands as text: nothing of it runs, is HTML or counts as checked, and a check refuses
its figures until somebody binds them.
"""

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from datetime import datetime
from io import TextIOWrapper
from itertools import count, pairwise
from json import dumps
from pathlib import Path
from string import Template
from typing import NamedTuple

from site_tools.contributing.likeness import answering, nearest, wordings
from site_tools.contributing.pages import (
    LONGEST,
    SKELETONS,
    files_of,
    language_of_text,
    page_id,
)
from site_tools.contributing.talk import Refusal, Talk, data_is_read
from site_tools.ledger import store_new
from site_tools.page.page import read_page
from site_tools.say import Message, problem
from site_tools.site.llms import as_round

TITLE, TIME, CONTENT = "# Chat Dialogue Log\n", "## 对话时间\n", "## 对话内容\n"
HEADING, USER, ASSISTANT = "### 问题 ", "用户：", "助手："
FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?!.*`)|~{3,})(?P<info>.*)")
# A heading with a slip in it, if a speaker follows: it would swallow a round.
SLIP = re.compile(r" {0,3}#{1,6} *问题 *\S* *\n(?=用户[：:])")
# A file that a chat was pointed at, as @[verl/trainer.py], and marks of a layout.
MENTION = re.compile(r"@\[[^\]\n]*\]|@[\w./-]+|^ {0,3}(?:#{1,6}|>|[-*+]|\d+[.)])[ \t]+")
SENTENCE_END = re.compile(r"(?<=[。！？!?])(?![”」\"’])\s*|(?<=\.)\s+")
# Between two rounds, there for people: no part of an answer.
RULE = re.compile(r"(?:\n\s*---)?\s*\Z")
ODD_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\r\n?")


def options(parser: ArgumentParser, talk: Talk) -> None:
    parser.add_argument("log", metavar="LOG", type=Path, help=talk.text("import_log"))
    dry = talk.text("import_dry_run")
    parser.add_argument("--dry-run", action="store_true", help=dry)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Read the log, say what it asks, and write the drafts if that is agreed on."""
    try:
        rounds = read(options.log.read_bytes(), str(options.log))
    except OSError as error:
        values = {"path": options.log, "reason": error.strerror}
        raise Refusal("import_unread", **values) from None
    except Broken as broken:
        talk.show(talk.problem(broken.problem))
        raise Refusal("nothing_written") from None
    with data_is_read():
        pages = wordings(root)
    drafts = {}
    for each in rounds:
        near = answering(nearest(title(each.question), pages))
        known = near[0].page if near else None
        drafts[f"question_{each.number:02}.md"] = draft(each, known)
        values = {"number": each.number, "line": each.line, "page": known}
        key = "import_round_known" if near else "import_round"
        talk.say(key, title=title(each.question), **values)
    if options.dry_run:
        return 0
    folder = root / "drafts" / options.log.stem
    taken = min(folder.iterdir(), default=None) if folder.is_dir() else folder
    if taken and os.path.lexists(taken):
        raise Refusal("import_taken", path=taken)
    if not talk.ask("import_plan", count=len(drafts)):
        raise Refusal("nothing_written")
    try:
        store_new({folder / name: text.encode() for name, text in drafts.items()})
    except OSError as error:
        raise Refusal("unwritable", path=folder, reason=error.strerror) from None
    talk.say("import_written", folder=folder, count=len(drafts))
    talk.say("import_next", file=folder / next(iter(drafts)))
    return 0


def export_options(parser: ArgumentParser, talk: Talk) -> None:
    pages = talk.text("export_pages")
    parser.add_argument("pages", nargs="+", metavar="PAGE", help=pages)


def export(options: Namespace, root: Path, talk: Talk) -> int:
    rounds = []
    for page in options.pages:
        file = f"docs/{talk.language}/{page_id(page)}.md"
        if file not in (present := files_of(page, root)):
            raise Refusal("export_other_language", file=file, present=present[0])
        with data_is_read():
            rounds.append(as_round(read_page(root, file), root))
    log = compose(datetime.now().strftime("%Y-%m-%d %H:%M:%S"), rounds)
    out = talk.out or sys.stdout
    if isinstance(out, TextIOWrapper):
        out.reconfigure(encoding="utf-8")  # whatever the terminal is set to
    out.write(log)
    out.flush()
    return 0


# The format.


class Broken(ValueError):
    """A log that breaks the format, with the problem at its first such line."""

    def __init__(self, path: str, line: int, key: str, **values: object) -> None:
        self.problem = problem(path, line, key, snippet=None, **values)
        super().__init__(str(self.problem))


class Round(NamedTuple):
    """A question and its answer, with all that stands behind ``用户：`` and ``助手：``.

    ``line`` is that of the heading, ``### 问题 N``.
    """

    number: int
    line: int
    question: str
    answer: str


def compose(time: str, rounds: Iterable[tuple[str, str]]) -> str:
    """A new log of questions and answers, in the layout that people read."""
    texts = [f"用户：{_escaped(q)}\n助手：{_escaped(a)}\n" for q, a in rounds]
    numbered = (f"{HEADING}{n}\n{text}" for n, text in enumerate(texts, 1))
    opening = f"{TITLE}\n{TIME}{time}\n\n---\n\n{CONTENT}\n"
    return opening + "\n---\n\n".join(numbered)


def _escaped(text: str) -> str:
    """A line that would count as a heading of the log gets a backslash in front."""
    escaped, fence = "", ""
    for line in lines_of(text.strip("\n")):
        escaped += "\\" * (not fence and line.startswith(HEADING)) + line
        fence = fence_after(line, fence)
    return escaped


def read(content: bytes, path: str) -> list[Round]:
    """The rounds of a log; nothing that stands behind a marker is lost."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"{content[error.start]:02x}"
        raise Broken(path, line, "log_encoding", byte=byte) from None
    if text.startswith("\ufeff"):
        raise Broken(path, 1, "log_mark")
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        raise Broken(path, line, "log_line_end")
    parts = _parts(text, path)
    rounds = [
        Round(number, heading[0], question[1], answer[1])
        for number, (heading, question, answer) in enumerate(
            zip(parts[3::3], parts[4::3], parts[5::3], strict=True), 1
        )
    ]
    for each in rounds:
        if not each.question.strip():
            raise Broken(path, each.line + 1, "log_question", speaker=USER)
    line, below = parts[1]
    time = below.strip().partition("\n")[0].strip()
    try:
        datetime.strptime(time, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        values = {"found": _short(time), "heading": TIME.strip()}
        raise Broken(path, line + 1, "log_time", **values) from None
    return rounds


def _parts(text: str, path: str) -> list[tuple[int, str]]:
    """What stands behind each marker, with the line of the marker."""
    markers = _markers()
    due, parts = next(markers), list[tuple[int, str]]()
    fence, opened = "", 0
    lines = lines_of(text) or ["\n"]
    for number, (line, following) in enumerate(pairwise([*lines, ""]), 1):
        narrow = line.startswith(due.replace("：", ":"))
        heading = line.startswith(HEADING) or SLIP.match(line + following)
        if not fence and line.startswith(due):
            line = line.removeprefix(due)
            parts.append((number, ""))
            due = next(markers)
        elif not parts or due == USER or (not fence and (narrow or heading)):
            raise _missing(path, number, _short(line), due)
        before, fence = fence, fence_after(line, fence)
        opened = opened if before else number
        parts[-1] = parts[-1][0], parts[-1][1] + line
    if fence:
        raise Broken(path, opened, "log_fence", fence=fence)
    if len(parts) % 3 or len(parts) < 6:
        raise _missing(path, len(lines), Message("log_end"), due)
    return parts


def _missing(path: str, line: int, found: object, due: str) -> Broken:
    return Broken(path, line, "log_marker", found=found, due=due.strip())


def _short(text: str) -> str:
    line = text.strip("\n") or "␤"
    return line if len(line) <= 60 else f"{line[:57]}..."


def _markers() -> Iterator[str]:
    """What must come, in order: three opening lines, then each round's three."""
    yield from (TITLE, TIME, CONTENT)
    for number in count(1):
        yield f"{HEADING}{number}\n"
        yield from (USER, ASSISTANT)


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only LF ends a line, which str.splitlines ignores."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def fence_after(line: str, fence: str) -> str:
    """The fence that is open after a line, or nothing, by the one open before it."""
    match = FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match["mark"]
    closes = match["mark"].startswith(fence) and not match["info"].strip()
    return "" if closes else fence


# Drafts.


def title(question: str) -> str:
    """The sentence of a question that asks, else the longest; no code, no mention."""
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
    talk = Talk(language_of_text(title(each.question)))
    skeleton = (SKELETONS / f"draft_{talk.language}.md").read_text("utf-8")
    return Template(skeleton).substitute(
        number=each.number,
        question=dumps(title(each.question), ensure_ascii=False),
        known=talk.text("draft_known", page=known) + "\n\n" if known else "",
        asked=_fenced(each.question),
        answered=_fenced(each.answer),
    )


def _fenced(text: str) -> str:
    text = ODD_LINE_ENDS.sub("\n", RULE.sub("", text, count=1)).strip("\n")
    mark = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{mark}text\n{text}\n{mark}"
