"""The sections of a question page, and what must stand in them."""

import ast
import re

from site_tools.compile.navigation import question_lines
from site_tools.compile.templates import LINK, words
from site_tools.data.dialogues import QUESTION_ID
from site_tools.messages import Problems, nearest
from site_tools.page.page import Page
from site_tools.page.wrong_answers import EMPTY_LINES
from site_tools.source.content import Heading, line_of

SECTIONS = (
    "answer",
    "picture",
    "code",
    "numbers",
    "why",
    "wrong-answers",
    "in-verl",
    "next",
)
MANDATORY = ("answer", "code", "next")
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
# A verdict is read at a glance, on a phone and in a list of search results.
MOST_WORDS, MOST_HANZI = 35, 70
ENGLISH_WORD, HANZI = re.compile(r"\S*\w\S*"), re.compile("[\u4e00-\u9fff]")
OF_A_CHAT = re.compile(r"\d{3}·\d+|提问者|(?i:the (?:asker|assistant))\b")
NUMBER_OF_CHAT = re.compile(r"\d{3}·\d+|对话 00\d|(?i:dialogues? 00\d)")
ABOUT_CHATS = ("contribute/", "questions/")  # pages whose subject they are


def section_lines(page: Page) -> dict[str, int]:
    """The lines of the ``##`` headings by their ids."""
    lines = {}
    for heading in page.content.headings:
        if heading.level == 2 and heading.id:
            lines[heading.id] = heading.line
    return lines


def without_id(page: Page) -> list[Heading]:
    """The headings that need an id and have none."""
    return [h for h in page.content.headings if h.level > 1 and not h.id]


def check_sections(page: Page) -> Problems:
    """Sections that are unknown, missing or out of order.

    What is missing is told at a heading that is perhaps meant, and once.
    """
    lines, order = section_lines(page), ", ".join(SECTIONS)
    missing = [name for name in MANDATORY if name not in lines]
    for name, line in lines.items():
        if name not in SECTIONS:
            near = nearest(name.lower(), missing or SECTIONS)
            if near in missing:
                missing.remove(near)
            values = {"name": name, "near": near, "known": order}
            yield page.problem(line, "section_unknown", **values)
    for name in missing[len(without_id(page)) :]:
        values = {"name": name, "names": ", ".join(MANDATORY), "order": order}
        yield page.problem(1, "section_missing", **values)
    known = [name for name in lines if name in SECTIONS]
    if not missing and known != sorted(known, key=SECTIONS.index):
        values = {"order": ", ".join(known), "due": order}
        yield page.problem(1, "section_order", **values)


def check_verdict(page: Page) -> Problems:
    """An answer without its verdict, or silent on verl's default or on a question."""
    answer = page.content.text_below("answer")
    first, *rest = EMPTY_LINES.split(answer.strip())
    if not first:
        return
    line = line_of(page.body, page.body.index(first))
    verdict = BOLD.match(first)
    if verdict is None:
        yield page.problem(line, "answer_verdict", text=first[:30])
    else:
        yield from _at_a_glance(page, line, LINK.sub(r"\1", verdict[1]))
    answered = page.texts("answers")
    in_dialogues = any(re.match(r"\d{3}·\d", name) for name in answered)
    about_verl = in_dialogues and not page.id.startswith("contribute/")
    if about_verl and not any(part.lstrip().startswith("*verl") for part in rest):
        yield page.problem(line, "answer_default")
    questions = [name for name in answered if re.fullmatch(QUESTION_ID, name)]
    if len(questions) > 1:
        said = question_lines(answer)
        for name in questions:
            if name not in said:
                yield page.problem(line, "answer_line", id=name)


def _at_a_glance(page: Page, line: int, verdict: str) -> Problems:
    """A verdict that is long, has a half stop in Chinese, or speaks of a chat."""
    if page.language == "zh":
        length, most = len(HANZI.findall(verdict)), MOST_HANZI
    else:
        length, most = len(ENGLISH_WORD.findall(verdict)), MOST_WORDS
    if length > most:
        yield page.problem(line, "verdict_long", count=length, most=most)
    if page.language == "zh" and "；" in verdict:
        yield page.problem(line, "verdict_semicolon")
    if chat := OF_A_CHAT.search(verdict):
        yield page.problem(line, "verdict_chat", text=chat[0])


def check_chats(page: Page) -> Problems:
    """A dialogue named where a reader who never saw it reads on.

    Its place is the fold of an answer that says how it was asked, and the section of
    wrong answers, in which each has its source.
    """
    if page.id.startswith(ABOUT_CHATS):
        return
    content = page.content
    named = {row for entry in page.wrong_answers[0] for row in entry.rows[1:]}
    quoted = {row for quotation in content.quotations for row in quotation.rows}
    as_asked, fold = f'??? info "{words(page.language)["as_asked"]}"', False
    for row, line in enumerate(content.lines, 1):
        if line.strip() and not line.startswith("    "):
            fold = line.startswith(as_asked)
        chat = NUMBER_OF_CHAT.search(line)
        if chat and not fold and row not in named | quoted:
            yield page.problem(row, "chat_named", text=chat[0])


def check_code_asserts(page: Page) -> Problems:
    """A section ``code`` without a block that asserts something."""
    section = page.content.section("code")
    if section is None or section.level != 2:
        return
    claims = []
    for block in page.blocks_on(section.rows):
        if not block.runs:
            continue
        if not block.nodes:  # broken, which is told when it runs
            return
        claims += [node.test for node in block.nodes if isinstance(node, ast.Assert)]
    if all(isinstance(claim, ast.Constant) for claim in claims):
        yield page.problem(section.line, "proof_missing")


def check_wrong_answer_form(page: Page) -> Problems:
    """Wrong answers without an id, what holds instead, or a quotation."""
    entries, problems = page.wrong_answers
    yield from problems
    for entry in entries:
        holds = LINK.sub(r"\1", entry.holds)
        yield from _at_a_glance(page, entry.rows.start, holds)
