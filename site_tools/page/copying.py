"""What a reader gets who copies a block: all that it takes to run, and no more."""

import ast
import doctest
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from site_tools.page.bindings import Bindings, bindings
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

    A block without ``.cont`` runs alone. One with it brings along, of the running
    blocks above that leave their names behind, the latest to bind each name that the
    chain reads, and each ``.cont`` block that may have changed what the chain works
    on. A session comes without its prompts, annotated code without their marks, a
    function of ``ppo_ref`` with its imports.

    Args:
        blocks: The blocks of the page, in order.
    """
    names = [_names(block) for block in blocks]
    chains: list[set[int]] = []
    for place, block in enumerate(blocks):
        above = [n for n in range(place) if _leaves_names(blocks[n])]
        continues = block.runs and "cont" in block.classes
        chains.append(_chain(place, above, names, chains) if continues else {place})
    return [_copy([blocks[n] for n in sorted(chain)]) for chain in chains]


def _leaves_names(block: Block) -> bool:
    return block.runs and "raises" not in block.classes


def _chain(
    place: int, above: list[int], names: list[Bindings], chains: list[set[int]]
) -> set[int]:
    found, before = {place}, set[int]()
    while found != before:
        before = found.copy()
        imported: dict[str, int] = {}
        # A function reads its global names when it is called, so from later blocks too.
        wanted = names[place].later - names[place].binds | names[place].reads
        wanted |= {name for n in found - {place} for name in names[n].later}
        for n in reversed(above):
            modules = wanted & names[n].imports.keys()
            imported |= dict.fromkeys(modules, n)
            wanted -= modules
            # What runs alone shares no block with the chain, so none of its objects.
            shared = names[n].changes and found & chains[n]
            if names[n].may_bind & wanted or shared:
                found |= chains[n]
            if n in found:
                wanted -= names[n].binds
        for name, n in imported.items():  # any link that imports the same will do
            if not any(_imports(names[m], names[n], name) for m in found):
                found |= chains[n]
    return found


def _imports(link: Bindings, latest: Bindings, name: str) -> bool:
    return link.imports.get(name) == latest.imports[name]


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


def _names(block: Block) -> Bindings:
    code = _code(block) if block.runs else []
    try:
        return bindings("\n".join(line.text for line in code))
    except SyntaxError:  # said where the block is run
        return bindings("")


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
