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

from site_tools.data.corrections import Proof, read_corrections
from site_tools.messages import LANGUAGES, Message, Problem, problem
from site_tools.page.page import Page
from site_tools.source.blocks import Block
from site_tools.source.content import line_of
from site_tools.source.files import paths, text_of
from site_tools.source.includes import INCLUDE

SECTION_START = re.compile(r"\[start:([\w-]+)\]")
INCLUDED = re.compile(INCLUDE.pattern, re.M)


def check_corrections(page: Page) -> Iterator[Problem]:
    """The proofs of corrections that a page should have and has not.

    A heading that is missing is told with the links that lead to it.
    """
    for row in read_corrections(page.root):
        for proof in row.held:
            name, _, anchor = proof.at.partition("#")
            section = page.content.section(anchor) if name == page.id else None
            if section and not _stands(proof, page, section.rows):
                what = Message("proofs", {"text": proof.text}, part=proof.kind)
                yield problem(
                    proof.file,
                    proof.line,
                    "proof_lost",
                    id=row.id,
                    about=row.about,
                    page=page.path,
                    anchor=anchor,
                    what=what,
                )


def _stands(proof: Proof, page: Page, rows: range) -> bool:
    """True if the proof stands on these lines of the page."""
    blocks, words = page.blocks_on(rows), _squeezed(proof.text)
    if proof.kind == "cites":
        return words in page.refs and _is_named(page.content.text_of(rows), words)
    if proof.kind == "fact":
        facts = [block for block in blocks if block.language == "fact"]
        return words in [_squeezed(block.text) for block in facts]
    if proof.kind == "prints":
        return any(words in _printed_lines(block) for block in blocks if block.runs)
    asserted = _failing(blocks) if proof.kind == "fails" else _passing(blocks)
    return _dumped(words) in map(ast.dump, asserted)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _printed_lines(block: Block) -> list[str]:
    return [_squeezed(line) for line in (block.expects or "").splitlines()]


def _is_named(text: str, source: str) -> bool:
    """True if a text names a source, or links to it if it is a paper on arXiv."""
    return source in text or source.replace("arXiv:", "arxiv.org/abs/") in text


def _dumped(words: str) -> str:
    """An assertion as ``ast`` dumps it, however it is laid out; "" if it is none."""
    with suppress(SyntaxError):
        return ast.dump(ast.parse(f"assert {words}").body[0])
    return ""


def _failing(blocks: Sequence[Block]) -> Iterator[ast.Assert]:
    """The assertions with whose words blocks fail."""
    for block in blocks:
        if "raises" in block.classes:
            failure = (block.expects or "").rpartition("\n")[2]
            for node in _assertions(block):
                words = node.msg.value if isinstance(node.msg, ast.Constant) else ""
                if failure == f"AssertionError: {words!s}":
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


def check_wrong_answers(page: Page) -> Iterator[Problem]:
    """Wrong answers without a block that fails, unless they are marked as cited.

    One with the class ``cited`` names a source, other than the one it quotes, or shows
    a fact.
    """
    for wrong in page.wrong_answers[0]:
        section = page.content.section(wrong.id)
        if section is None:
            continue
        line = section.line
        if not wrong.failure and not wrong.cited:
            yield page.problem(line, "wrong_answer_unproved", id=wrong.id)
        if wrong.cited and not _is_sourced(page, section.rows):
            yield page.problem(line, "wrong_answer_uncited", id=wrong.id)
        if wrong.cited and wrong.failure:
            yield page.problem(line, "wrong_answer_both", id=wrong.id)


def _is_sourced(page: Page, rows: range) -> bool:
    """True if these lines name a source outside quotations, or show a fact."""
    if any(fence.info == "fact" for fence in page.content.fences_on(rows)):
        return True
    quoted: set[int] = set()
    for quotation in page.content.quotations:
        quoted.update(quotation.rows)
    lines = [page.content.lines[row - 1] for row in rows if row not in quoted]
    return any(_is_named("\n".join(lines), ref) for ref in page.refs)


def check_snippet(page: Page) -> list[Problem]:
    """The sections of a page's snippet that no page shows."""
    return unshown(page.root, f"{page.id}.py")


def unshown(root: Path, name: str) -> list[Problem]:
    """The sections of a snippet, as ``gae/inputs.py``, that no page includes."""
    file = root / "snippets" / name
    text = text_of(file) if file.is_file() else ""
    own = {m[1]: line_of(text, m.start()) for m in SECTION_START.finditer(text)}
    shown = _sections_shown(root, name, own)
    path = f"snippets/{name}"
    return [
        problem(path, line, "section_unshown", section=section)
        for section, line in own.items()
        if section not in shown
    ]


def _sections_shown(root: Path, name: str, sections: Iterable[str]) -> set[str]:
    """Sections of a snippet that some page includes, one by one or whole."""
    shown = set[str]()
    # The pages of its own name come first: as a rule no other has to be read.
    every = chain(*(paths(root / "docs" / lang) for lang in LANGUAGES))
    for page in dict.fromkeys(chain([name.replace(".py", ".md")], every)):
        for lang in LANGUAGES:
            if shown.issuperset(sections):
                return shown
            file = root / "docs" / lang / page
            text = text_of(file) if file.is_file() else ""
            for match in INCLUDED.finditer(text):
                if match["file"] == name and match["section"]:
                    shown.add(match["section"])
                elif match["file"] == name:
                    shown.update(sections)
    return shown
