"""The anatomy of a question page: its sections, and the short answer first."""

import ast
import re
from collections.abc import Iterator

from site_tools.checks.features import HEADING
from site_tools.page.page import Page
from site_tools.page.prose import line_of, parts
from site_tools.page.sections import section_text

TOPICS = [
    "pipeline",
    "rewards",
    "alignment",
    "bootstrap",
    "gae",
    "critic",
    "on_policy",
    "contribute",
]
SECTIONS = [
    "answer",
    "picture",
    "code",
    "numbers",
    "why",
    "wrong-answers",
    "in-verl",
    "next",
]
MANDATORY = ("answer", "code", "next")
LONGEST_ANSWER = {"zh": 90, "en": 60}

# Line, what was found, what must hold, how to mend it.
Row = tuple[int, str, str, str]


def is_question(page_id: str) -> bool:
    """Whether a page answers a question (and is no index, home or reference).

    Example:
        >>> is_question("gae/inputs"), is_question("gae/index"), is_question("index")
        (True, False, False)
    """
    topic, _, name = page_id.partition("/")
    return topic in TOPICS and name not in ("", "index")


def sections(page: Page) -> Iterator[Row]:
    """Sections that are unknown, missing or out of order."""
    found = [
        (match["id"], line_of(page.body, match.start()))
        for match in HEADING.finditer(page.body)
        if match["level"] == "##" and match["id"]
    ]
    ids = [name for name, _ in found]
    for name, line in found:
        if name not in SECTIONS:
            fix = "use one of them, or ### for a part of a section"
            yield line, f"## section #{name}", f"one of {', '.join(SECTIONS)}", fix
    for name in MANDATORY:
        if name not in ids:
            expected = f"the sections {', '.join(MANDATORY)}"
            yield 1, f"no section #{name}", expected, _place(name, ids)
    known = [name for name in ids if name in SECTIONS]
    if known != sorted(known, key=SECTIONS.index):
        shown = f"sections in the order {', '.join(known)}"
        yield 1, shown, f"the order {', '.join(SECTIONS)}", "move them"


def _place(name: str, ids: list[str]) -> str:
    """How to add a section: behind the last of those that come before it."""
    earlier = SECTIONS[: SECTIONS.index(name)]
    before = [other for other in ids if other in earlier]
    if before:
        return f"add ## ... {{ #{name} }} behind #{before[-1]}"
    return f"add ## ... {{ #{name} }} as the first section"


def answer(page: Page) -> Iterator[Row]:
    """A short answer without its verdict, too long, or silent on verl's default."""
    text = section_text(page.body, "answer")
    paragraphs = [p for p in re.split(r"\n\s*\n", text.strip()) if p.strip()]
    if not paragraphs:
        return
    line = line_of(page.body, page.body.index(paragraphs[0]))
    short = paragraphs[0]
    if not short.startswith("**"):
        fix = "write **Yes.** ... or **对。** ..."
        yield line, short[:30], "the verdict first, in bold", fix
    size, most = length(short, page.language), LONGEST_ANSWER[page.language]
    if size > most:
        unit = "characters" if page.language == "zh" else "words"
        yield line, f"{size} {unit}", f"at most {most} {unit}", "shorten the answer"
    about_verl = page.id.partition("/")[0] != "contribute"
    asked = any(re.match(r"\d{3}·\d", a) for a in page.meta.get("answers") or ())
    if about_verl and asked and not any(re.match(r"\*verl", p) for p in paragraphs[1:]):
        fix = "add a paragraph *verl's default*: ... (zh: *verl 默认*：...)"
        yield line, "no line on verl's default", "what changes at gamma=lambda=1", fix


def proof(page: Page) -> Iterator[Row]:
    """A section ``code`` without a block that asserts something."""
    starts = {
        match["id"]: line_of(page.body, match.start())
        for match in HEADING.finditer(page.body)
        if match["level"] == "##"
    }
    if "code" not in starts:
        return
    first = starts["code"]
    last = min((at for at in starts.values() if at > first), default=10**9)
    blocks = [b for b in page.blocks if b.runs and first < b.fence.line < last]
    if not any(_asserts(block.text) for block in blocks):
        fix = "assert what the answer claims, about what the block computes"
        yield first, "no assertion in section #code", "a block that asserts it", fix


def _asserts(code: str) -> bool:
    try:
        nodes = ast.walk(ast.parse(code))
    except SyntaxError:
        return True
    return any(
        isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant)
        for node in nodes
    )


def length(text: str, language: str) -> int:
    """Han characters (zh) or words (en); a formula, code or Latin word is one.

    Example:
        >>> length("V 准就够。", "zh"), length("Enough if `V` is exact.", "en")
        (4, 5)
    """
    for part in reversed(list(parts(text))):
        text = text[: part.start] + " x " + text[part.end :]
    text = text.replace("*", "")
    if language == "en":
        return len(re.findall(r"\S*\w\S*", text))
    return len(re.findall(r"[㐀-鿿]|[^\W㐀-鿿]+", text))
