"""import and export: from a chat to drafts, and from pages to a chat log.

In a draft the chat stands as text: nothing of it runs, is HTML or counts as checked,
and a check refuses its figures until somebody binds them.
"""

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import TextIOWrapper
from json import dumps
from pathlib import Path
from shlex import quote
from string import Template
from typing import NamedTuple

from site_tools.compile.navigation import title_of
from site_tools.compile.plain import Wishes, plain
from site_tools.compile.resolved import resolved
from site_tools.contributing.formats import Chat, read_chats
from site_tools.contributing.likeness import answering, search, wordings
from site_tools.contributing.log import Broken, Turn, compose, fence_after, lines_of
from site_tools.contributing.pages import (
    LONGEST,
    SKELETONS,
    language_of_text,
    page_id,
    present_files,
)
from site_tools.contributing.talk import Talk
from site_tools.ledger import store_new
from site_tools.messages import Refusal
from site_tools.page.page import Page, read_page

LISTED = 40
# A file that a chat was pointed at, as @[verl/trainer.py], and marks of a layout.
MENTION = re.compile(r"@\[[^\]\n]*\]|@[\w./-]+|^ {0,3}(?:#{1,6}|>|[-*+]|\d+[.)])[ \t]+")
SENTENCE_END = re.compile(r"(?<=[。！？!?])(?![”」\"’])\s*|(?<=\.)\s+")
ASKING = re.compile(
    r"\b(?:how|what|why|when|where|which|who)\b|什么|为何|怎么|怎样|如何|哪|吗|呢|多少|几"
    r"|谁|是否|能否|(.)[不没]\1",
    re.IGNORECASE,
)
# What asks nothing begins no round.
THANKS = re.compile(
    r"(?:\W*(?:thx|thanks?|ok|okay|great|谢谢|多谢|感谢|好的?|明白|懂)"
    r"(?: you| a lot| very much|你|您|了|啦)*)+\W*",
    re.IGNORECASE,
)
# Between two rounds, there for people: no part of an answer.
RULE_BETWEEN = re.compile(r"(?:\n\s*---)?\s*\Z")
ODD_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\r\n?")
CHAT_PICTURE = re.compile(r"!\[[^\]\n]*\]\(")
# What ChatGPT writes where its page shows a link to a source.
SOURCE_MARK = re.compile(
    "\ue200[^\ue201\n]*\ue201|【\\d+[:†][^】\n]*】|\\[citation:\\d+\\]"
)
# Formulas as chats write them, which a page writes with $; none in a code span. None is
# longer: what looks for an end that is missing must not read the whole chat each time.
CHAT_FORMULA = re.compile(
    r"(?P<code>(?P<mark>`+)[^`](?:.{0,400}?[^`])?(?P=mark)(?!`))"
    r"|(?<!\\)\\\((?P<line>.{1,400}?)\\\)|(?<!\\)\\\[(?P<shown>.{1,4000}?)\\\]",
    re.DOTALL,
)


# What a page puts into a formula that it draws, and no keyboard types.
DRAWN_FORMULA = re.compile("[\u200b\u2061-\u2064]")
TEX_IN_LINE = re.compile(r"\\[A-Za-z]{2,}|[_^]")


def import_chat(options: Namespace, root: Path, talk: Talk) -> int:
    """Read the chat, say what it asks, and write the drafts if that is agreed on."""
    if re.match("https?://", options.log):
        raise Refusal("import_link", link=options.log)
    try:
        chats = read_chats(Path(options.log).read_bytes(), options.log)
    except OSError as error:
        values = {"path": options.log or '""', "reason": error.strerror}
        raise Refusal("import_unread", **values) from None
    except Broken as broken:
        talk.show(broken.problem.text(talk.language))
        raise Refusal("nothing_written") from None
    talk.say("import_format", format=chats[0].format)
    chat = choose(chats, options.chat, talk)
    number = f"_{1 + chats.index(chat)}" if len(chats) > 1 else ""
    folder = Path("drafts", f"{Path(options.log).stem}{number}")
    drafts = _drafts(rounds(chat.turns), folder, root, talk)
    for left in chat.left:
        talk.show(talk.of(left))
    if pictures := sum(len(CHAT_PICTURE.findall(turn.text)) for turn in chat.turns):
        talk.say("import_pictures", count=pictures)
    if tripled := sum(tripled_formulas(turn.text) for turn in chat.turns):
        talk.say("import_tripled", count=tripled)
    if options.dry_run:
        return 0
    whole = root / folder
    taken = min(whole.iterdir(), default=None) if whole.is_dir() else whole
    if taken and os.path.lexists(taken):
        raise Refusal("import_taken", path=taken)
    if not talk.ask("import_plan", count=len(drafts)):
        raise Refusal("nothing_written")
    try:
        store_new({root / file: text.encode() for file, text in drafts.items()})
    except OSError as error:
        raise Refusal("unwritable", path=whole, reason=error.strerror) from None
    talk.say("import_written", folder=folder, count=len(drafts))
    talk.say("import_next", file=quote(next(iter(drafts))))
    log = Path(options.log).resolve()
    if log.is_relative_to(root) and not log.is_relative_to(root / "drafts"):
        talk.say("import_inside", path=log.relative_to(root))
    return 0


def tripled_formulas(text: str) -> int:
    """How many lines have a formula as a page of a chat gives it to who copies it.

    It comes three times in a row, as signs, as TeX and as it is drawn; the last holds
    signs of no width. Code is left out.
    """
    count, fence = 0, ""
    for line in lines_of(text):
        before, fence = fence, fence_after(line, fence)
        if not (before or fence) and DRAWN_FORMULA.search(line):
            count += bool(TEX_IN_LINE.search(line))
    return count


def choose(chats: Sequence[Chat], wanted: str, talk: Talk) -> Chat:
    """The one that is meant, by its number or by words of its title."""
    named = {number: chat_title(chat) for number, chat in enumerate(chats, 1)}
    while True:
        some = [n for n, name in named.items() if wanted.lower() in name.lower()]
        if wanted.isdecimal():
            some = [n for n in named if n == int(wanted)]
        if len(some) == 1:
            return chats[some[0] - 1]
        if not some:
            talk.say("import_no_chat", wanted=wanted)
        for number in (some or [*named])[:LISTED]:
            talk.show(f"{number:>5}  {named[number]}")
        if (hidden := len(some or named) - LISTED) > 0:
            talk.say("import_unlisted", count=hidden)
        typed = None if talk.agreed else talk.typed("import_which")
        if typed is None:
            print(file=talk.out)
            raise Refusal("import_choose", example=(some or [1])[0])
        wanted = typed.strip()


def chat_title(chat: Chat) -> str:
    asked = next(turn.text for turn in chat.turns if turn.asks)
    return " ".join(chat.title.split()) or title(asked)


class Round(NamedTuple):
    """A question and its answer, with all that either side said in a row."""

    number: int
    question: str
    answer: str


def rounds(turns: Iterable[Turn]) -> list[Round]:
    """The rounds of a chat; thanks and their answer belong to the round before."""
    found = list[Round]()
    answered = True
    for turn in turns:
        if found and answered and turn.asks and THANKS.fullmatch(turn.text):
            turn = turn._replace(asks=False)
        if turn.asks and answered:
            found.append(Round(len(found) + 1, turn.text, ""))
        elif turn.asks:
            found[-1] = found[-1]._replace(question=_joined(found[-1].question, turn))
        elif found:
            found[-1] = found[-1]._replace(answer=_joined(found[-1].answer, turn))
        answered = not turn.asks
    return found


def _joined(text: str, turn: Turn) -> str:
    return f"{text.rstrip()}\n\n{turn.text.lstrip()}" if text else turn.text


def _drafts(
    asked: Sequence[Round], folder: Path, root: Path, talk: Talk
) -> dict[str, str]:
    """The files, each question said with the page that perhaps answers it."""
    nearest = search(wordings(root))
    drafts, said = {}, []
    digits = max(2, len(str(len(asked))))
    for each in talk.progress(asked):
        near = answering(nearest(title(each.question)))
        known = near[0].page if near else None
        file = (folder / f"question_{each.number:0{digits}}.md").as_posix()
        drafts[file] = draft(each, file, known)
        key = "import_round_known" if near else "import_round"
        said.append((key, {"title": title(each.question), "page": known}))
    for number, (key, values) in enumerate(said, 1):
        talk.say(key, number=number, **values)
    return drafts


def export_pages(options: Namespace, root: Path, talk: Talk) -> int:
    said = []
    for page in options.pages:
        file = f"docs/{talk.language}/{page_id(page)}.md"
        if file not in (present := present_files(page, root)):
            raise Refusal("export_other_language", file=file, present=present[0])
        said.append(_as_round(read_page(root, file), root))
    log = compose(datetime.now().strftime("%Y-%m-%d %H:%M:%S"), said)
    out = talk.out or sys.stdout
    if isinstance(out, TextIOWrapper):
        out.reconfigure(encoding="utf-8")  # whatever the terminal is set to
    out.write(log)
    out.flush()
    return 0


def _as_round(page: Page, root: Path) -> tuple[str, str]:
    """The question of a page, and the page as its answer, as in the log of a chat."""
    if not title_of(page.meta):
        raise Refusal("page_without_title", path=page.path)
    return title_of(page.meta), plain(resolved(page, root), Wishes(page.language))


# Drafts.


def title(question: str) -> str:
    """The sentence that asks, by its mark or its words, else the longest; no code."""
    prose, fence = "", ""
    for line in lines_of(question):
        before, fence = fence, fence_after(line, fence)
        prose += "" if before or fence else MENTION.sub(" ", line)
    lines = (prose if prose.strip() else question).split("\n")
    parts = (" ".join(s.split()) for line in lines for s in SENTENCE_END.split(line))
    sentences = [part for part in parts if part]
    asking = [sentence for sentence in sentences if sentence.endswith(("?", "？"))]
    asking += filter(ASKING.search, sentences)
    first = asking[0] if asking else max(sentences, key=len, default="")
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"


def draft(each: Round, file: str, known: str | None = None) -> str:
    talk = Talk(language_of_text(title(each.question)))
    skeleton = (SKELETONS / f"draft_{talk.language}.md").read_text("utf-8")
    return Template(skeleton).substitute(
        file=quote(file),
        question=dumps(title(each.question), ensure_ascii=False),
        known=talk.text("draft_known", page=known) + "\n\n" if known else "",
        asked=_fenced(each.question),
        answered=_fenced(each.answer),
    )


def _fenced(text: str) -> str:
    text = ODD_LINE_ENDS.sub("\n", RULE_BETWEEN.sub("", text, count=1)).strip("\n")
    text = with_dollars(SOURCE_MARK.sub("", text))
    mark = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{mark}text\n{text}\n{mark}"


def with_dollars(text: str) -> str:
    r"""Formulas written as ``\(...\)`` and ``\[...\]``, as a page writes them."""
    found, prose, fence = "", "", ""
    for line in lines_of(text):
        before, fence = fence, fence_after(line, fence)
        if before or fence:
            found, prose = found + CHAT_FORMULA.sub(_dollars, prose) + line, ""
        else:
            prose += line
    return found + CHAT_FORMULA.sub(_dollars, prose)


def _dollars(match: re.Match[str]) -> str:
    if match["code"]:
        return match[0]
    return f"$${match['shown']}$$" if match["shown"] else f"${match['line'].strip()}$"
