"""The blocks of a page: what each fence is, what it includes, what is copied from it.

Every fence gets its meaning, and every output its block; what has no meaning is a
problem with its line. Code from ``snippets/`` is resolved by pymdownx itself, as on the
site, so that what runs is what is shown; here each line also keeps its origin.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

from markdown import Markdown
from pymdownx.snippets import SnippetExtension, SnippetMissingError, SnippetPreprocessor

from site_tools.page.fences import Fence
from site_tools.page.files import inside
from site_tools.problems import Problem, problem
from site_tools.say import Message, Refusal

INCLUDE = re.compile(r'^[ \t]*--8<-- "(?P<file>[^":]+)(?::(?P<section>[a-z][-\w]*))?"$')
MARKER = re.compile(r"-8<-{1,}\s+\[\s*(start|end)\s*:")


@dataclass(frozen=True)
class Line:
    """A line of code, the page line that shows it, and the snippet line it is."""

    text: str
    page_line: int
    snippet: str | None = None


def resolve(lines: tuple[str, ...], first_line: int, snippets: Path) -> list[Line]:
    """Replace each include by the lines of its section, or refuse it with its line."""
    resolved: list[Line] = []
    for number, line in enumerate(lines, first_line):
        if "8<-" not in line:
            resolved.append(Line(line, number))
            continue
        match = INCLUDE.match(line)
        if match is None:
            raise Refusal("include_form", line=number, text=repr(line.strip()))
        resolved += _included(line, number, match, snippets)
    return resolved


def _included(
    line: str, number: int, match: re.Match[str], snippets: Path
) -> list[Line]:
    name, file = match["file"], snippets / match["file"]
    if not inside(file, snippets):
        raise Refusal("include_beyond", line=number, folder=snippets.name, file=name)
    try:
        texts = _preprocessor(snippets).run([line])
        origins = _origins(file.read_text("utf-8").split("\n"), match["section"])
    except (SnippetMissingError, ValueError) as error:
        raise Refusal("include_fault", line=number, file=name, why=error) from None
    while texts and not texts[-1].strip():
        texts.pop()
    return [
        Line(text, number, f"{snippets.name}/{name}:{origin}")
        for text, origin in zip(texts, origins, strict=False)
    ]


def _origins(lines: list[str], section: str | None) -> list[int]:
    """The numbers of the lines of a section, or of a whole file."""
    first, last = 0, len(lines) + 1
    if section is not None:
        for edge in ("start", "end"):
            at = [n for n, line in enumerate(lines, 1) if f"[{edge}:{section}]" in line]
            if len(at) != 1:
                values = {"section": section, "edge": edge, "count": len(at)}
                raise Refusal("include_section", **values)
            first, last = (at[0], last) if edge == "start" else (first, at[0])
    return [n for n in range(first + 1, last) if not MARKER.search(lines[n - 1])]


@lru_cache(maxsize=4)
def _preprocessor(snippets: Path) -> SnippetPreprocessor:
    extension = SnippetExtension(
        base_path=[str(snippets)],
        check_paths=True,
        dedent_subsections=True,
        restrict_base_path=True,
    )
    return SnippetPreprocessor(extension.getConfigs(), Markdown())


class Kind(Enum):
    """How a fence is treated."""

    RUN = "code that runs"
    NORUN = "code that is shown and not run, with the reason"
    OUTPUT = "what the block above must print"
    SHOWN = "text that is only shown"
    SOURCE = "a function of ppo_ref, complete with what it needs"
    DERIVED = "text made from checked data"


LANGUAGES = {
    "python": Kind.RUN,
    "output": Kind.OUTPUT,
    **dict.fromkeys(
        ("text", "bash", "console", "json", "yaml", "toml", "diff", "markdown"),
        Kind.SHOWN,
    ),
    "source": Kind.SOURCE,
    **dict.fromkeys(("fact", "glossary", "notation", "status"), Kind.DERIVED),
    **dict.fromkeys(
        ("questions", "topic", "wrong_answers", "frameworks", "benchmarks"),
        Kind.DERIVED,
    ),
}
CLASSES = {Kind.RUN: {"cont", "raises", "norun"}}


@dataclass(frozen=True)
class Block:
    """A fence with its meaning, its includes resolved, and the output it must print."""

    fence: Fence
    kind: Kind
    classes: frozenset[str]
    lines: tuple[Line, ...]
    reason: str | None = None  # why it is not run
    output: "Block | None" = None

    @property
    def text(self) -> str:
        """The lines inside, as one string without trailing blanks."""
        return "\n".join(line.text.rstrip() for line in self.lines).strip("\n")

    @property
    def runs(self) -> bool:
        """Whether the block is executed."""
        return self.kind is Kind.RUN

    @property
    def runs_copied(self) -> bool:
        """Whether what a reader copies from it is executed."""
        return self.runs or self.kind is Kind.SOURCE

    @property
    def has_box(self) -> bool:
        """Whether readers see it as a code box, not as a list made from data."""
        return self.kind is not Kind.DERIVED

    @property
    def expects(self) -> str | None:
        """What the block must print, or None if nothing is stated."""
        return None if self.output is None else self.output.text


class Fault(Exception):
    """Why a fence has no meaning: the key of what is said of it, and its values."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.key, self.values = key, values


def read_blocks(
    fences: Sequence[Fence], text: str, path: str, snippets: Path
) -> tuple[list[Block], list[Problem]]:
    """Give each fence of a page its meaning and each output its block."""
    blocks: list[Block] = []
    problems: list[Problem] = []
    above_refused = False
    for fence in fences:
        try:
            block = _read(fence, snippets)
            if block.kind is Kind.OUTPUT and not above_refused:
                blocks = _attach(block, blocks, text.split("\n"))
            blocks.append(block)
            above_refused = False
        except Fault as fault:
            problems.append(problem(path, fence.line, fault.key, **fault.values))
            above_refused = True
    return blocks, problems


def _read(fence: Fence, snippets: Path) -> Block:
    try:
        language, attributes = fence.header
    except ValueError as error:
        raise Fault("fence_info", info=repr(fence.info), why=error) from None
    if language not in LANGUAGES:
        key = "fence_language" if language else "fence_no_language"
        known = ", ".join(sorted(LANGUAGES))
        raise Fault(key, language=repr(language), known=known)
    kind = LANGUAGES[language]
    allowed = CLASSES.get(kind, set())
    if unknown := set(attributes.classes) - allowed:
        said = Message(f"kind_{kind.name.lower()}")
        name, classes = min(unknown), str(sorted(allowed))
        raise Fault("fence_class", name=name, kind=said, classes=classes)
    try:
        lines = resolve(fence.lines, fence.line + 1, snippets)
    except ValueError as error:
        raise Fault("include_unresolved", why=error) from None
    block = Block(fence, kind, frozenset(attributes.classes), tuple(lines))
    if kind is Kind.SOURCE:
        try:
            source(block.text)
        except ValueError as error:
            text = f"```source {block.text}"
            raise Fault("list_unmade", fence=text, why=error) from None
    if "norun" not in attributes.classes:
        return block
    reason = attributes.values.get("data-reason", "").strip()
    if not reason:
        raise Fault("fence_norun")
    return replace(block, kind=Kind.NORUN, reason=reason)


def _attach(output: Block, blocks: list[Block], page: list[str]) -> list[Block]:
    above = blocks[-1] if blocks else None
    if above is None or not above.runs or above.output is not None:
        raise Fault("output_astray")
    between = page[above.fence.rows.stop - 1 : output.fence.line - 1]
    if any(map(str.strip, between)):
        raise Fault("output_behind_prose")
    return [*blocks[:-1], replace(above, output=output)]


ROOT = Path(__file__).resolve().parents[2]
WIDTH = 52  # what a phone shows of a line


def source(name: str, root: Path = ROOT) -> str:
    """A function of ``ppo_ref`` with the imports and private helpers that it needs.

    Docstrings are left out. What is public in its module is imported from there.

    Example:
        >>> print(source("ppo_ref.kernels.scan.token_places"))
        from torch import Tensor
        <BLANKLINE>
        def token_places(response_mask: Tensor) -> Tensor:
            counts = response_mask.long()
            return counts.cumsum(-1).mul_(counts)
    """
    module, _, function = name.strip().rpartition(".")
    file = root / f"{module.replace('.', '/')}.py"
    if not module.startswith("ppo_ref.") or not file.is_file():
        raise Refusal("package_source_form", name=name.strip())
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    defined = _definitions(tree)
    if not isinstance(defined.get(function), ast.FunctionDef):
        raise Refusal("package_source_unknown", module=module, name=function)
    codes, imported, shown = dict[str, str](), set[str](), [function]
    for each in shown:
        codes[each] = _code_of(defined[each], text.split("\n"))
        nodes = [*ast.walk(ast.parse(codes[each]))]
        own = {node.arg for node in nodes if isinstance(node, ast.arg)} | {*shown}
        read = {node.id for node in nodes if isinstance(node, ast.Name)} - own
        private = [n for n in sorted(read) if n.startswith("_") and n in defined]
        shown += private
        imported |= read - {*private}
    public = sorted(n for n in imported if n in defined and n not in shown)
    lines = [*_imports(tree, imported), *_import(f"from {module} ", public)]
    parts = ["\n".join(lines), *(codes[n] for n in defined if n in codes)]
    return "\n\n".join(filter(None, parts))


def _definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """What a module defines, by name and in order."""
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                defined[name] = node
    return defined


def _code_of(node: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    code = lines[start - 1 : node.end_lineno]
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
        docstring = node.body[0]
        first, last = docstring.lineno - start, (docstring.end_lineno or 0) - start
        code = code[:first] + code[last + 1 :]
    return "\n".join(code)


def _imports(tree: ast.Module, names: set[str]) -> list[str]:
    """The import lines of a module, cut down to these names."""
    lines = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = {a: a.asname or a.name.partition(".")[0] for a in node.names}
            used = [ast.unparse(alias) for alias in bound if bound[alias] in names]
            start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
            lines += _import(start, used)
    return lines


def _import(start: str, names: list[str]) -> list[str]:
    line = f"{start}import {', '.join(names)}"
    if not names or len(line) <= WIDTH or not start:
        return [line] if names else []
    return [f"{start}import (", *(f"    {name}," for name in names), ")"]


@dataclass(frozen=True)
class Copy:
    """What a copy button gives: the blocks that it is made of, and their lines."""

    chain: tuple[Block, ...]
    lines: tuple[Line, ...]

    @property
    def block(self) -> Block:
        """The block whose button it is."""
        return self.chain[-1]

    @property
    def text(self) -> str:
        """The lines as one text without trailing blanks."""
        return "\n".join(line.text.rstrip() for line in self.lines).strip("\n")

    @property
    def states(self) -> str:
        """What it must print: the outputs of the chain, joined in order."""
        return "\n".join(part.expects for part in self.chain if part.expects)


def copies(blocks: Sequence[Block]) -> list[Copy]:
    """What the copy button of each block of a page gives.

    A block without ``.cont`` runs alone. One with it brings along all blocks from the
    last one without it, but those that are meant to raise. A function of ``ppo_ref``
    comes with its imports.
    """
    chain: list[Block] = []
    made = []
    for block in blocks:
        continues = block.runs and "cont" in block.classes
        above = chain if continues else []
        made.append(_copy([*above, block]))
        if block.runs and "raises" not in block.classes:
            chain = [*above, block]
    return made


def _copy(chain: list[Block]) -> Copy:
    lines: list[Line] = []
    for block in chain:
        code = _code(block)
        gap = [replace(code[0], text="")] if lines and code else []
        lines += [*gap, *code]
    return Copy(tuple(chain), tuple(lines))


def _code(block: Block) -> list[Line]:
    """The lines of a block as they run."""
    if block.kind is Kind.SOURCE:
        code = source(block.text)
        return [Line(text, block.fence.line) for text in code.splitlines()]
    return list(block.lines)
