"""A page as the checks see it: its front matter, blocks, figures and pictures."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from site_tools.messages import Problem
from site_tools.page.figures import Figure, read_figures
from site_tools.page.pictures import Figures, read_pictures
from site_tools.page.text import PageText
from site_tools.page.wrong_answers import WrongAnswer, read_wrong_answers
from site_tools.source.blocks import Copy, copies, read_blocks
from site_tools.source.content import read_content
from site_tools.source.files import symbolic_link, text_of


@dataclass(frozen=True)
class Page(PageText):
    """A page of one language, read but not yet run; ``problems`` are of the reading."""

    faults: tuple[Problem, ...] = ()  # of the front matter and the fences

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Figures in the prose."""
        return tuple(self._figures[0])

    @cached_property
    def pictures(self) -> Figures:
        """Figures in the page's pictures, by the path of the picture."""
        return self._pictures[0]

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of reading the page, before it is judged."""
        return (*self.faults, *self._figures[1], *self._pictures[1])

    @cached_property
    def _figures(self) -> tuple[list[Figure], list[Problem]]:
        return read_figures(self)

    @cached_property
    def _pictures(self) -> tuple[Figures, list[Problem]]:
        return read_pictures(self)

    @cached_property
    def wrong_answers(self) -> tuple[list[WrongAnswer], list[Problem]]:
        """The wrong answers that it refutes, and what is wrong with their form."""
        return read_wrong_answers(self.content, self.path)

    @cached_property
    def copies(self) -> list[Copy]:
        """The text that is copied from each block, in the order of ``blocks``."""
        return copies(self.blocks)


def read_page(root: Path, path: str, text: str | None = None) -> Page:
    """Read a page, as ``docs/zh/gae/inputs.md``, or a text in its place.

    Bytes that are no text are left to the checks.
    """
    if text is None:
        text = text_of(root / path)
    _, language, *rest = Path(path).with_suffix("").parts
    content = read_content(text, path)
    blocks, wrong = read_blocks(content.fences, text, path, root / "snippets")
    if (root / path).is_symlink():
        wrong.append(symbolic_link(root / path, path))
    return Page(
        path=path,
        language=language,
        id="/".join(rest),
        text=text,
        content=content,
        blocks=tuple(blocks),
        root=root,
        faults=(*content.faults, *wrong),
    )
