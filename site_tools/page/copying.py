"""What a reader gets who copies a block: all that it takes to run."""

import ast
import doctest
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from site_tools.page.blocks import Block, Kind
from site_tools.page.includes import Line
from site_tools.page.package_source import source

PROMPT = re.compile(r"\s*(?:>>>|\.\.\.)(?: (.*)|$)")
ANNOTATION = re.compile(r"\s*# \(\d+\)!$")


@dataclass(frozen=True)
class Copy:
    """What the copy button of a code box gives.

    Args:
        chain: The blocks it is made of: the earlier ones it needs, then its own.
        lines: Their lines, with an empty one between two blocks.
    """

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
        return "\n".join(filter(None, map(_printed, self.chain)))


def copies(blocks: Sequence[Block]) -> list[Copy]:
    """What the copy button of each block of a page gives.

    A block without ``.cont`` runs alone. One with it brings along all blocks from the
    last one without it, but those that are meant to raise. A session comes without its
    prompts, annotated code without its marks, a function of ``ppo_ref`` with its
    imports.

    Args:
        blocks: The blocks of the page, in order.
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
    if block.kind is Kind.SESSION:
        typed = ((line, PROMPT.match(line.text)) for line in block.lines)
        return [replace(line, text=match[1] or "") for line, match in typed if match]
    if block.kind is Kind.RUN:
        plain = ((line, ANNOTATION.sub("", line.text)) for line in block.lines)
        return [replace(line, text=text) for line, text in plain]
    return list(block.lines)


def _printed(block: Block) -> str:
    """What a block prints when it is run and not typed in."""
    if block.kind is not Kind.SESSION:
        return block.expects or ""
    examples = doctest.DocTestParser().get_examples(block.text)
    return "".join(e.want for e in examples if not _shows_a_value(e.source)).strip("\n")


def _shows_a_value(source: str) -> bool:
    match ast.parse(source).body:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="print")))]:
            return False
        case [ast.Expr()]:
            return True
    return False
