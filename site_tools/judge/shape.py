"""The shape of a page: its bytes, front matter, sections, and what may stand in them.

A check yields rows: the line, the key of the message, its values.
"""

import ast
import difflib
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from site_tools.compile.navigation import question_lines
from site_tools.data.dialogues import (
    NUMBER,
    TOPICS,
    disagreements,
    read_dialogues,
)
from site_tools.page.blocks import Kind
from site_tools.page.files import page_ids
from site_tools.page.page import Page
from site_tools.page.pictures import is_notebook
from site_tools.page.prose import (
    HEADING,
    QUOTE,
    blank,
    called,
    columns,
    line_of,
    parts,
    plain,
    read_wrong_answers,
    section_text,
)
from site_tools.say import LANGUAGES, Message, Problem, problem

Row = tuple[int, str, dict[str, Any]]

SECTIONS = [
    *("answer", "picture", "code", "numbers"),
    *("why", "wrong-answers", "in-verl", "next"),
]
MANDATORY = ("answer", "code", "next")
LONGEST_LINE = 2000  # characters: what reads a line may take the square of that
WIDEST_CODE = 52  # columns that a phone shows
LONGEST_COMMENT = 8  # lines of the block that is copied as a comment
# What it may import: whoever reads the comment has nothing else.
WITH_TORCH = {"torch", *sys.stdlib_module_names}
QUESTION_KEYS = ("question", "aliases", "needs", "answers", "refs")
OTHER_KEYS = ("title", "aliases", "needs", "refs", "hide")
REF = re.compile(
    r"[A-Za-z][\w.+/-]* v?\d+(?:\.\w+)+"  # verl 0.9.1
    r"|\d{3}·\d{1,2}"  # dialogue 004, question 2
    r"|[\w./-]+#\d+"  # verl#1960
    r"|[\w.-]+/[\w.-]+@[0-9a-f]{7,40}"
    r"|arXiv:\d{4}\.\d{4,5}(?:v\d+)?"
    r"|[A-Z][A-Za-z]*-?\d+\.\d+"  # a model: GLM-5.2
    r"|[A-Z][^\d]*,? (?:§|section |equation )\d+(?:\.\d+)*"
)
# What a terminal would obey, and what shows text in another order than it has.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069]"
)
# What no body of a page may hold, by the key of the message; and no prose of it.
LEFT = {
    "html": re.compile(r"<(?!img)[A-Za-z!/][^>]*>?"),  # a picture is told by itself
    "formula_unclosed": re.compile(r"(?<!\\)\$\$.*"),
}
PATTERNS = {
    "heading_top": re.compile(r"^#[ ].*$", re.M),
    "heading_underlined": re.compile(r"^[ \t]*\S.*\n[ ]{0,3}(?:=+|-+)[ \t]*$", re.M),
    "picture_silent": re.compile(r"!\[\s*\]\("),
    "box_indent": re.compile(
        r"^(?P<dent>[ ]*)(?:[!?]{3}\+?|===)[ ].*\n+"
        r"(?!(?P=dent)[ ]{4}|[ ]*(?:[!?]{3}|===|#))[ ]*\S.*$",
        re.M,
    ),
    "include_outside": re.compile(r"^[ \t>]*;*-+8<-+.*$", re.M),
}
# The id of a displayed formula.
LABEL = re.compile(r"\\label\{([^}]*)\}")
ID = re.compile(r"[a-z][a-z0-9-]*")
# What would be a link, a picture, or HTML in a formula; KaTeX does not obey these.
REFUSED = re.compile(r"\\(?:href|url|includegraphics|html[A-Z][a-z]+)(?![A-Za-z])")


def is_question(page_id: str) -> bool:
    """Whether a page answers a question, unlike an index, the home or the reference."""
    topic, _, name = page_id.partition("/")
    return topic in TOPICS and name not in ("", "index")


def check_bytes(data: bytes, path: str) -> list[Problem]:
    """What keeps the bytes of a page from being text as every tool reads it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        bad = data[error.start : error.end].hex(" ")
        return [problem(path, line, "bytes_not_utf8", bytes=bad)]
    problems = []
    if text.startswith("\ufeff"):
        problems.append(problem(path, 1, "bytes_mark"))
    if "\r" in text:
        line = line_of(text, text.index("\r"))
        return [*problems, problem(path, line, "bytes_crlf")]
    for number, words in enumerate(text.split("\n"), 1):
        if words.startswith(("<<<<<<< ", ">>>>>>> ")):  # and a line of = between
            return [*problems, problem(path, number, "bytes_merge", text=words)]
        if sign := UNSEEN.search(words):
            point = f"U+{ord(sign[0]):04X}"
            values = {"name": unicodedata.name(sign[0], "-").lower(), "sign": point}
            near = words[max(sign.start() - 8, 0) : sign.end() + 8]
            values["around"] = UNSEEN.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", near)
            values["column"] = str(sign.start() + 1)
            problems.append(problem(path, number, "bytes_unseen", **values))
        if (size := len(words)) > (most := LONGEST_LINE):
            problems.append(problem(path, number, "bytes_long", size=size, most=most))
    return problems


def check_shape(page: Page, root: Path) -> list[Problem]:
    """Everything about the shape of a page that does not hold."""
    rows = [*front_matter(page, root), *_code_width(page), *_body(page)]
    rows += [*_formulas(page), *_languages(page), *_comments(page)]
    if is_question(page.id):
        rows += [*_sections(page), *_answer(page), *_proof(page)]
    return [page.problem(line, key, **values) for line, key, values in rows]


def front_matter(page: Page, root: Path) -> Iterator[Row]:
    """Keys that are unknown, missing or of the wrong kind; sources; needs."""
    question = is_question(page.id)
    if "question" in page.meta and not question:
        folder = page.id.rpartition("/")[0] or "docs"
        yield 1, "question_stray", {"folder": folder, "topics": ", ".join(TOPICS)}
        return
    keys, needed = (QUESTION_KEYS, "question") if question else (OTHER_KEYS, "title")
    absent = [needed] if not isinstance(page.meta.get(needed), str) else []
    for key, value in page.meta.items():
        line, values = page.line_with(f"{key}:"), {"key": key, "value": repr(value)}
        listed = isinstance(value, list) and all(isinstance(v, str) for v in value)
        if key not in keys:
            near = [*absent, *difflib.get_close_matches(key.lower(), keys, 1), key][0]
            absent = [] if near == needed else absent
            fault = "front_key" if near == key else "front_key_meant"
            yield line, fault, {"key": key, "near": near, "keys": ", ".join(keys)}
        elif key not in ("question", "title", "hide") and not listed:
            meant = value if isinstance(value, str) else "..."
            yield line, "front_list", {**values, "meant": meant}
    for key in absent:
        yield 1, "front_missing", {"key": key}
    for ref in (ref for ref in page.refs if not REF.fullmatch(ref)):
        yield page.line_with("refs:"), "front_ref", {"ref": repr(ref)}
    sections = {heading["id"] for heading in HEADING.finditer(page.body)}
    for section in called(page.meta.get("aliases")).keys() - {"", *sections}:
        yield page.line_with(f" #{section}"), "front_alias", {"section": section}
    known = page_ids(root) if page.texts("needs") else []
    for need in (need for need in page.texts("needs") if need not in known):
        near = [*difflib.get_close_matches(need, known, n=1, cutoff=0), need][0]
        yield page.line_with("needs:"), "front_need", {"need": need, "near": near}


def _sections(page: Page) -> Iterator[Row]:
    """Sections that are unknown, missing or out of order.

    What is missing is told at a heading that is perhaps meant, and once.
    """
    lines, order = _section_lines(page), ", ".join(SECTIONS)
    missing = [name for name in MANDATORY if name not in lines]
    for name in [name for name in lines if name not in SECTIONS]:
        near = difflib.get_close_matches(name.lower(), missing or SECTIONS, 1, 0)[0]
        missing = [other for other in missing if other != near]
        values = {"name": name, "near": near, "known": order}
        yield lines[name], "section_unknown", values
    bare = len(_without_id(page))
    for name in missing[bare:]:
        names = ", ".join(MANDATORY)
        yield 1, "section_missing", {"name": name, "names": names, "order": order}
    known = [name for name in lines if name in SECTIONS]
    if not missing and known != sorted(known, key=SECTIONS.index):
        yield 1, "section_order", {"order": ", ".join(known), "due": order}


def _without_id(page: Page) -> list[re.Match[str]]:
    headings = HEADING.finditer(page.body)
    return [h for h in headings if h["id"] is None and h["level"] != "#"]


def _section_lines(page: Page) -> dict[str, int]:
    """The lines of the ``##`` headings by their ids."""
    return {
        match["id"]: line_of(page.body, match.start())
        for match in HEADING.finditer(page.body)
        if match["level"] == "##" and match["id"]
    }


def _answer(page: Page) -> Iterator[Row]:
    """An answer without its verdict, or silent on verl's default."""
    text = section_text(page.body, "answer")
    first, *rest = re.split(r"\n\s*\n", text.strip())
    if not first:
        return
    line = line_of(page.body, page.body.index(first))
    if not first.startswith("**"):
        yield line, "answer_verdict", {"text": first[:30]}
    about_verl = page.id.partition("/")[0] != "contribute"
    asked = any(re.match(r"\d{3}·\d", each) for each in page.texts("answers"))
    if about_verl and asked and not any(p.startswith("*verl") for p in rest):
        yield line, "answer_default", {}
    yield from _lines(page, text, line)


def _lines(page: Page, answer: str, line: int) -> Iterator[Row]:
    """Questions of the dialogues, of two or more, on which the answer has no line."""
    asked = [id for id in page.texts("answers") if re.fullmatch(NUMBER, id)]
    said = question_lines(answer)
    for id in asked if len(asked) > 1 else ():
        if id not in said:
            yield line, "answer_line", {"id": id}


def _proof(page: Page) -> Iterator[Row]:
    """A section ``code`` without a block that asserts something."""
    starts = _section_lines(page)
    if first := starts.get("code"):
        last = min((at for at in starts.values() if at > first), default=10**9)
        blocks = [b for b in page.blocks if b.runs and first < b.fence.line < last]
        with suppress(SyntaxError):  # which is told when it runs
            nodes = [n for b in blocks for n in ast.walk(ast.parse(b.text))]
            claims = [node.test for node in nodes if isinstance(node, ast.Assert)]
            if all(isinstance(claim, ast.Constant) for claim in claims):
                yield first, "proof_missing", {}


def _comments(page: Page) -> Iterator[Row]:
    """What keeps a block from being copied as a comment: one a page, short, alone."""
    marked = [block for block in page.blocks if "comment" in block.classes]
    for block in marked:
        beyond = {*_imported(block.text)} - WITH_TORCH
        others = block.classes - {"comment"}
        faults = {
            "comment_twice": block is not marked[0],
            "comment_long": len(block.text.splitlines()) > LONGEST_COMMENT,
            "comment_imports": bool(beyond),
            "comment_class": bool(others),
            "comment_silent": not block.expects,
        }
        values = {"lines": len(block.text.splitlines()), "most": LONGEST_COMMENT}
        names = {"names": ", ".join(sorted(beyond)), "classes": " .".join(others)}
        for key in (key for key, holds in faults.items() if holds):
            yield block.fence.line, key, values | names


def _imported(code: str) -> Iterator[str]:
    with suppress(SyntaxError):  # which is told when it runs
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield str(node.module).partition(".")[0]


def _code_width(page: Page) -> Iterator[Row]:
    """Every line of code or output that a phone would cut."""
    shown = [block for block in page.blocks if block.kind in (Kind.RUN, Kind.OUTPUT)]
    for text, number, snippet in (line for block in shown for line in block.lines):
        if (wide := columns(text)) > WIDEST_CODE:
            values = {"source": snippet or f"{page.path}:{number}", "wide": wide}
            values |= {"most": WIDEST_CODE, "text": text.strip()[:60]}
            yield number, "code_wide", {**values, "snippet": snippet}


def _body(page: Page) -> Iterator[Row]:
    """Headings without an id, HTML, includes outside fences, quotations of nobody."""
    text = page.body
    title = "question" if "question" in page.meta else "title"
    for key, pattern in PATTERNS.items():
        for match in pattern.finditer(text):
            values = {"text": match[0].strip(), "title": title}
            yield line_of(text, match.start()), key, values
    missing = [n for n in MANDATORY if n not in _section_lines(page)]
    for match in _without_id(page):
        bare = re.fullmatch(r"(?P<words>.*\S)[ ]+#(?P<id>[\w-]+)", match[0].strip())
        name = bare["id"] if bare else (*missing, "short-id")[0]
        heading = {"text": match[0].strip(), "id": name}
        heading["words"] = bare["words"] if bare else heading["text"]
        yield line_of(text, match.start()), "heading_without_id", heading
    for match in QUOTE.finditer(text):
        source = match["source"]
        if not any(f" {source}".endswith(f" {known}") for known in page.sources):
            known = Message("refs_known", {"sources": ", ".join(page.sources)})
            known = known if page.sources else Message("refs_empty")
            given = {"source": source, "known": known}
            yield line_of(text, match.start()), "quote_source", given
    for part in (part for part in parts(text) if part.kind != "comment"):
        text = blank(text, part.start, part.end)
    for number, line in enumerate(text.split("\n"), 1):  # one word on each
        for key, pattern in LEFT.items():
            if left := pattern.search(line):
                yield number, key, {"text": left[0]}
                break


def _formulas(page: Page) -> Iterator[Row]:
    """Commands of formulas that are more than a formula."""
    for node in page.tree.select(".arithmatex"):
        for name in REFUSED.findall(node.get_text()):
            yield page.line_of(node, name), "formula_command", {"name": name}


def _languages(page: Page) -> Iterator[Row]:
    """Words, lists or plots in the other language: a page copied and not written."""
    own, other = page.language, LANGUAGES[1 - LANGUAGES.index(page.language)]
    # Who reads English only cannot read a Chinese quotation either.
    text = page.without_refs(plain(page.body, quoted=own == "en"))
    han = re.search("[㐀-鿿]+", text)
    if own == "en" and han:
        yield line_of(text, han.start()), "words_chinese", {"text": han[0]}
    if own == "zh" and text.strip() and not han:
        yield 1, "words_no_chinese", {}
    meant = f'language = "{own}"  # or "{other}"'
    for block in page.blocks:
        shown = block.fence.header[1].values.get("data-language", own)
        if shown != own:
            yield block.fence.line, "fence_other_language", {"shown": shown, "own": own}
        for line in block.lines if is_notebook(page.id) else ():
            if line.text.startswith("language =") and line.text.rstrip() != meant:
                yield line.page_line, "plot_language", {"text": line.text, "due": meant}


def check_identities(page: Page, root: Path) -> list[Problem]:
    """Every displayed formula of a page that lacks its id or its property test."""
    problems: list[Problem] = []
    taken: set[str] = set()
    tests = property_tests(root)
    for node in page.tree.select("div.arithmatex"):
        tex = node.get_text().strip()[2:-2]
        label, formula = LABEL.search(tex), LABEL.sub("", tex).strip()
        name = label[1] if label else ""
        test = f"test_{name.replace('-', '_')}"
        tested = tests.get(test, "")
        faults = {
            "identity_without_id": not label,
            "identity_id": not ID.fullmatch(name),
            "identity_twice": name in taken,
            "identity_untested": test not in tests,
            "identity_other": _squeeze(formula) not in _squeeze(tested),
        }
        if key := next((key for key, holds in faults.items() if holds), None):
            line = page.line_of(node, tex.strip().split("\n")[0])
            values = {"name": name, "test": test, "formula": formula, "tested": tested}
            values["written"] = label[0] if label else ""
            problems.append(page.problem(line, key, **values))
        taken.add(name)
    return problems


def _squeeze(tex: str) -> str:
    return "".join(tex.split())


@lru_cache(maxsize=1)
def property_tests(root: Path) -> dict[str, str]:
    """Docstrings of the test functions in ``tests/properties``, by name."""
    return {
        node.name: ast.get_docstring(node, clean=False) or ""
        for file in (root / "tests" / "properties").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def check_answers(page: Page, root: Path) -> list[Problem]:
    """Where a question page disagrees with the dialogues, or hides a wrong answer."""
    if not is_question(page.id):
        return []
    _, problems = read_wrong_answers(page.body, page.fences, page.path)
    line = page.line_with("answers:") or 1
    wrong = disagreements(read_dialogues(root), {page.id: page.texts("answers")})
    homes = (page.problem(line, "answers_home", why=why) for why in wrong)
    return [*problems, *homes]
