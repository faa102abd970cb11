"""Proofs that a page owes: of corrections, of wrong answers; and code that none shows.

A correction names its proofs in ``docs/corrections.yml``. Each is compared with what
stands under its heading, so that a heading alone holds nothing.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from site_tools.data.corrections import Proof, read_corrections
from site_tools.messages import LANGUAGES, Message, Problem, Problems, problem
from site_tools.page.page import Page
from site_tools.source.blocks import Block
from site_tools.source.content import line_of
from site_tools.source.files import paths, text_of
from site_tools.source.includes import INCLUDE

SECTION_START = re.compile(r"\[start:([\w-]+)\]")
INCLUDED = re.compile(INCLUDE.pattern, re.M)


def check_corrections(page: Page) -> Problems:
    """The proofs of corrections that a page should have and has not.

    A heading that is missing is told with the links that lead to it.
    """
    for row in read_corrections(page.root):
        for proof in row.held:
            name, _, anchor = proof.at.partition("#")
            if name != page.id:
                continue
            section = page.content.section(anchor)
            if section and not _stands(proof, page, section.rows):
                yield problem(
                    proof.file,
                    proof.line,
                    "proof_lost",
                    id=row.id,
                    about=row.about,
                    page=page.path,
                    anchor=anchor,
                    what=Message("proofs", {"text": proof.text}, part=proof.kind),
                )


def _stands(proof: Proof, page: Page, rows: range) -> bool:
    """True if the proof stands on these lines of the page."""
    blocks, words = page.blocks_on(rows), _single_spaced(proof.text)
    match proof.kind:
        case "cites":
            named = _is_named(page.content.text_of(rows), words)
            return words in page.refs and named
        case "fact":
            return words in map(_single_spaced, _facts(blocks))
        case "prints":
            return words in map(_single_spaced, _printed_by(blocks))
        case "fails":
            return _is_among(words, _failing(blocks))
    return _is_among(words, _passing(blocks))


def _single_spaced(text: str) -> str:
    return " ".join(text.split())


def _facts(blocks: Sequence[Block]) -> list[str]:
    return [block.text for block in blocks if block.language == "fact"]


def _printed_by(blocks: Sequence[Block]) -> Iterator[str]:
    """Each line that some blocks print."""
    for block in blocks:
        if block.runs and block.expects:
            yield from block.expects.splitlines()


def _is_named(text: str, source: str) -> bool:
    """True if a text names a source, or links to it if it is a paper on arXiv."""
    return source in text or source.replace("arXiv:", "arxiv.org/abs/") in text


def _is_among(words: str, assertions: Iterable[ast.Assert]) -> bool:
    """True if one of these asserts the words, however they are laid out."""
    try:
        claim = ast.dump(ast.parse(f"assert {words}").body[0])
    except SyntaxError:
        return False
    return claim in map(ast.dump, assertions)


def _failing(blocks: Sequence[Block]) -> Iterator[ast.Assert]:
    """The assertions with whose words blocks fail."""
    for block in blocks:
        if not block.raises or not block.expects:
            continue
        failure = block.expects.rpartition("\n")[2]
        for node in _assertions(block):
            words = node.msg.value if isinstance(node.msg, ast.Constant) else ""
            if failure == f"AssertionError: {words!s}":
                yield node


def _passing(blocks: Sequence[Block]) -> Iterator[ast.Assert]:
    """The assertions of blocks that pass."""
    for block in blocks:
        if block.runs and not block.raises:
            yield from _assertions(block)


def _assertions(block: Block) -> list[ast.Assert]:
    return [node for node in block.nodes if isinstance(node, ast.Assert)]


def check_wrong_answers(page: Page) -> Problems:
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
        elif wrong.failure and not _claimed(page, section.rows):
            values = {"id": wrong.id, "failure": wrong.failure}
            yield page.problem(line, "wrong_answer_reason", **values)
        if wrong.cited and not _is_sourced(page, section.rows):
            yield page.problem(line, "wrong_answer_uncited", id=wrong.id)
        if wrong.cited and wrong.failure:
            yield page.problem(line, "wrong_answer_both", id=wrong.id)


def _claimed(page: Page, rows: range) -> bool:
    """True if each block that raises here does so on an assertion, by its own words.

    The output is compared when the block runs: where an assertion says what is printed,
    it was evaluated and is false, and no other fault came before it.
    """
    for block in page.blocks_on(rows):
        if block.raises and not any(_says(node, block) for node in _assertions(block)):
            return False
    return True


def _says(claim: ast.Assert, block: Block) -> bool:
    """True if the words of an assertion can be what its block states that it raises."""
    stated = (block.expects or "").rpartition("\n")[2]
    parts = claim.msg.values if isinstance(claim.msg, ast.JoinedStr) else [claim.msg]
    pattern = ""
    for part in parts:
        if isinstance(part, ast.Constant):
            pattern += re.escape(str(part.value))
        elif part is not None:  # what is filled in
            pattern += ".*"
    return re.fullmatch(f"AssertionError: {pattern}", stated) is not None


def _is_sourced(page: Page, rows: range) -> bool:
    """True if these lines name a source outside quotations, or show a fact."""
    if _facts(page.blocks_on(rows)):
        return True
    quoted: set[int] = set()
    for quotation in page.content.quotations:
        quoted.update(quotation.rows)
    own = [page.content.lines[row - 1] for row in rows if row not in quoted]
    text = "\n".join(own)
    return any(_is_named(text, ref) for ref in page.refs)


def check_snippet(page: Page) -> list[Problem]:
    """The sections of a page's snippet that no page shows."""
    return unshown(page.root, f"{page.id}.py")


def unshown(root: Path, name: str) -> list[Problem]:
    """The sections of a snippet, as ``gae/inputs.py``, that no page includes."""
    file = root / "snippets" / name
    if not file.is_file():
        return []
    text = text_of(file)
    lines = {}
    for match in SECTION_START.finditer(text):
        lines[match[1]] = line_of(text, match.start())
    for page in _pages_by_likeness(root, name):
        for section in _sections_shown(text_of(page), name):
            if section is None:
                return []  # the whole snippet
            lines.pop(section, None)
        if not lines:  # as a rule no other has to be read
            break
    path = f"snippets/{name}"
    return [
        problem(path, line, "section_unshown", section=section)
        for section, line in lines.items()
    ]


def _pages_by_likeness(root: Path, name: str) -> Iterator[Path]:
    """Every page, those of the snippet's own name first."""
    folders = [root / "docs" / language for language in LANGUAGES]
    own = [folder / name.replace(".py", ".md") for folder in folders]
    yield from (page for page in own if page.is_file())
    for folder in folders:
        for path in paths(folder):
            yield folder / path


def _sections_shown(text: str, name: str) -> Iterator[str | None]:
    """The sections of a snippet that a page includes; None for all of it."""
    for match in INCLUDED.finditer(text):
        if match["file"] == name:
            yield match["section"]
