"""Proofs that a page owes: of corrections, of wrong answers; and code that none shows.

A correction names its proofs in ``docs/corrections.yml``. Each is compared with what
stands under its heading, so that a heading alone holds nothing.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from site_tools.data.dialogues import Proof, read_corrections
from site_tools.page.blocks import INCLUDE, Block
from site_tools.page.files import paths
from site_tools.page.page import Page
from site_tools.page.prose import QUOTE, line_of, read_wrong_answers, stretch
from site_tools.say import LANGUAGES, Message, Problem, problem

SECTION = re.compile(r"\[start:([\w-]+)\]")
INCLUDED = re.compile(INCLUDE.pattern, re.M)


def check_corrections(page: Page, root: Path) -> list[Problem]:
    """The proofs of corrections that a page should have and has not.

    A heading that is missing is told with the links that lead to it.
    """
    problems = []
    for row in read_corrections(root):
        for proof in row.held:
            name, _, anchor = proof.at.partition("#")
            start, end = stretch(page.body, anchor)
            if name != page.id or not end or _stands(proof, page, start, end):
                continue
            lost = problem(
                proof.file,
                proof.line,
                "proof_lost",
                id=row.id,
                about=row.about,
                page=page.path,
                anchor=anchor,
                what=Message(f"proof_{proof.kind}", {"text": proof.text}),
            )
            problems.append(lost)
    return problems


def _stands(proof: Proof, page: Page, start: int, end: int) -> bool:
    """Whether the proof stands between two offsets of the page."""
    rows = range(line_of(page.body, start), line_of(page.body, end) + 1)
    blocks = [block for block in page.blocks if block.fence.line in rows]
    words = " ".join(proof.text.split())
    if proof.kind == "cites":
        return words in page.refs and _named(words, page.body[start:end])
    if proof.kind == "fact":
        facts = (block for block in blocks if block.fence.header[0] == "fact")
        return words in (" ".join(block.text.split()) for block in facts)
    if proof.kind == "prints":
        outputs = (block.expects or "" for block in blocks if block.runs)
        lines = (line for output in outputs for line in output.splitlines())
        return words in (" ".join(line.split()) for line in lines)
    asserted = _failing(blocks) if proof.kind == "fails" else _passing(blocks)
    return _form(words) in map(ast.dump, asserted)


def _named(source: str, text: str) -> bool:
    """Whether a text names a source, or links to it if it is a paper on arXiv."""
    return source in text or source.replace("arXiv:", "arxiv.org/abs/") in text


def _form(words: str) -> str:
    """An assertion as ``ast`` dumps it, however it is laid out; "" if it is none."""
    with suppress(SyntaxError):
        return ast.dump(ast.parse(f"assert {words}").body[0])
    return ""


def _failing(blocks: Sequence[Block]) -> Iterator[ast.Assert]:
    """The assertions with whose words blocks fail."""
    for block in (block for block in blocks if "raises" in block.classes):
        failure = (block.expects or "").rpartition("\n")[2]
        for node in _assertions(block):
            words = node.msg.value if isinstance(node.msg, ast.Constant) else ""
            if isinstance(words, str) and failure == f"AssertionError: {words}":
                yield node


def _passing(blocks: Sequence[Block]) -> Iterator[ast.Assert]:
    """The assertions of blocks that pass."""
    for block in blocks:
        if block.runs and "raises" not in block.classes:
            yield from _assertions(block)


def _assertions(block: Block) -> Iterator[ast.Assert]:
    with suppress(SyntaxError):  # which is told when it runs
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.Assert):
                yield node


def check_wrong_answers(page: Page) -> list[Problem]:
    """Wrong answers without a block that fails, unless they are marked as cited.

    One with the class ``cited`` names a source, other than the one it quotes, or shows
    a fact.
    """
    problems = []
    for wrong in read_wrong_answers(page.body, page.fences, page.path)[0]:
        start, end = stretch(page.body, wrong.id)
        rows = range(line_of(page.body, start), line_of(page.body, end) + 1)
        facts = [f for f in page.fences if f.line in rows and f.info == "fact"]
        text = QUOTE.sub("", page.body[start:end])
        sources = [ref for ref in page.refs if _named(ref, text)]
        faults = {
            "wrong_answer_unproved": not wrong.failure and not wrong.cited,
            "wrong_answer_uncited": wrong.cited and not sources and not facts,
            "wrong_answer_both": bool(wrong.failure) and wrong.cited,
        }
        for key in (key for key, holds in faults.items() if holds):
            problems.append(page.problem(rows[0], key, id=wrong.id))
    return problems


def check_sections(page: Page, root: Path) -> list[Problem]:
    """The sections of a page's snippet that no page shows."""
    return unshown(root, f"{page.id}.py")


def unshown(root: Path, name: str) -> list[Problem]:
    """The sections of a snippet, as ``gae/inputs.py``, that no page includes."""
    file = root / "snippets" / name
    text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
    own = {match[1]: line_of(text, match.start()) for match in SECTION.finditer(text)}
    shown = _included(root, name, own)
    path = f"snippets/{name}"
    return [
        problem(path, line, "section_unshown", section=section)
        for section, line in own.items()
        if section not in shown
    ]


def _included(root: Path, name: str, sections: Iterable[str]) -> set[str]:
    """Those of the sections of a snippet that a page includes, one by one or whole."""
    shown = set[str]()
    # The pages of its own name come first: as a rule no other has to be read.
    pages = dict.fromkeys([name.replace(".py", ".md"), *_pages(root)])
    for file in (root / "docs" / lang / page for page in pages for lang in LANGUAGES):
        if shown.issuperset(sections):
            break
        text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
        for match in INCLUDED.finditer(text):
            if match["file"] == name:
                shown |= {match["section"]} if match["section"] else {*sections}
    return shown


def _pages(root: Path) -> Iterator[str]:
    return chain(*(paths(root / "docs" / lang) for lang in LANGUAGES))
