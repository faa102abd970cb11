"""The anatomy of a question page: front matter, sections, short answer."""

import re
import unicodedata
from collections.abc import Iterator

from site_tools.blocks import Kind
from site_tools.languages import HEADING
from site_tools.page import Page
from site_tools.problems import Problem
from site_tools.prose import QUOTE, blank, line_of, parts

TOPICS = (
    "pipeline rewards alignment bootstrap gae critic on_policy contribute".split()
)
SECTIONS = "answer picture code numbers why wrong-answers in-verl next".split()
MANDATORY = ("answer", "code", "next")
QUESTION_KEYS = ("question", "aliases", "needs", "answers", "refs")
OTHER_KEYS = ("title", "refs", "hide")
LONGEST_ANSWER = {"zh": 90, "en": 60}
WIDEST_CODE = 52
TAG = re.compile(r"<[A-Za-z!/][^>\n]*>?")
ALT = re.compile(r"!\[\s*\]\(")


def is_question(page_id: str) -> bool:
    """Whether a page answers a question (and is no index, home or reference).

    Example:
        >>> is_question("gae/inputs"), is_question("gae/index"), is_question("index")
        (True, False, False)
    """
    topic, _, name = page_id.partition("/")
    return topic in TOPICS and name not in ("", "index")


def check_structure(page: Page) -> list[Problem]:
    """Everything about the shape of a page that does not hold."""
    checks = [_front_matter, _headings, _html, _alt_texts, _quotations, _code_width]
    if is_question(page.id):
        checks += [_sections, _answer]
    return [
        Problem(page.path, *row) for check in checks for row in check(page)
    ]


Row = tuple[int, str, str, str]


def _front_matter(page: Page) -> Iterator[Row]:
    question = is_question(page.id)
    keys, needed = (QUESTION_KEYS, "question") if question else (OTHER_KEYS, "title")
    for key in page.meta:
        if key not in keys:
            yield 1, f"key {key!r} in the front matter", f"one of {keys}", "remove it"
    if not isinstance(page.meta.get(needed), str):
        yield 1, f"no {needed}", f"a line {needed}: ... between two --- lines", "add it"
    for key in set(page.meta) - {"question", "title", "hide"}:
        value = page.meta[key]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            yield 1, f"{key}: {value!r}", "a list of texts", f'write {key}: ["..."]'


def _headings(page: Page) -> Iterator[Row]:
    seen: set[str] = set()
    for match in HEADING.finditer(page.body):
        line = line_of(page.body, match.start())
        if match["level"] == "#":
            fix = "put the title into the front matter and start at ##"
            yield line, match[0], "no # heading: the front matter has the title", fix
        elif match["id"] is None:
            fix = f"write {match[0].strip()} {{ #short-id }}"
            yield line, match[0], "an id of its own, equal in both languages", fix
        elif match["id"] in seen:
            yield line, f"#{match['id']} twice", "one id per heading", "rename one"
        seen.add(match["id"] or "")


def _sections(page: Page) -> Iterator[Row]:
    found = [
        (match["id"], line_of(page.body, match.start()))
        for match in HEADING.finditer(page.body)
        if match["level"] == "##" and match["id"]
    ]
    ids = [name for name, _ in found]
    for name, line in found:
        if name not in SECTIONS:
            fix = "use one of them, or ### for a part of a section"
            yield line, f"## section #{name}", f"one of {SECTIONS}", fix
    for name in MANDATORY:
        if name not in ids:
            fix = f"add ## ... {{ #{name} }}"
            yield 1, f"no section #{name}", f"the sections {MANDATORY}", fix
    known = [name for name in ids if name in SECTIONS]
    if known != sorted(known, key=SECTIONS.index):
        yield 1, f"sections in the order {known}", f"the order {SECTIONS}", "move them"


def _answer(page: Page) -> Iterator[Row]:
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
    asked = any(re.match(r"\d{3}·\d", a) for a in page.meta.get("answers") or ())
    if asked and not any(re.match(r"\*verl", p) for p in paragraphs[1:]):
        fix = "add a paragraph *verl's default*: ... (zh: *verl 默认*：...)"
        yield line, "no line on verl's default", "what changes at gamma=lambda=1", fix


def section_text(body: str, name: str) -> str:
    """The text under the ``##`` heading with this id, up to the next one."""
    pattern = rf"^## .*\{{\s*#{name}\s*\}}\s*$\n(.*?)(?=^## |\Z)"
    match = re.search(pattern, body, re.M | re.S)
    return match[1] if match else ""


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


def _html(page: Page) -> Iterator[Row]:
    text = page.body
    for part in parts(page.body):
        if part.kind != "comment":
            text = blank(text, part.start, part.end)
    for match in TAG.finditer(text):
        line = line_of(text, match.start())
        fix = "write Markdown, or put it between backticks"
        yield line, match[0], "no HTML in a page", fix


def _alt_texts(page: Page) -> Iterator[Row]:
    for match in ALT.finditer(page.body):
        line = line_of(page.body, match.start())
        yield line, match[0], "a text that stands for the picture", "write ![what it shows]"


def _quotations(page: Page) -> Iterator[Row]:
    known = [*page.refs, *map(str, page.meta.get("answers") or ())]
    for match in QUOTE.finditer(page.body):
        if not any(source in match["source"] for source in known):
            line = line_of(page.body, match.start())
            fix = "name it in refs of the front matter"
            yield line, f"a quotation of {match['source']!r}", f"one of {known}", fix


def _code_width(page: Page) -> Iterator[Row]:
    for block in page.blocks:
        if block.kind not in (Kind.RUN, Kind.OUTPUT):
            continue
        for line in block.lines:
            wide = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line.text)
            if wide > WIDEST_CODE:
                found = f"{wide} columns: {line.text.strip()}"
                where = f" in {line.snippet}" if line.snippet else ""
                fix = f"break the line{where}"
                yield line.page_line, found, f"at most {WIDEST_CODE} (a phone)", fix
