"""A page as the checks see it: its front matter, blocks, figures and pictures."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import PageElement

from site_tools.page.blocks import Block, Copy, copies, read_blocks
from site_tools.page.fences import Fence, scan
from site_tools.page.figures import Figure, Prose, read_figures
from site_tools.page.files import inside, link, read_front_matter
from site_tools.page.pictures import FILE, plots, read_picture
from site_tools.page.prose import body
from site_tools.page.rendered import Lines, parse, render_as_written
from site_tools.problems import Problem, problem

LANGUAGES = ("zh", "en")


@dataclass(frozen=True)
class Page:
    """A page of one language, read but not yet run.

    Args:
        path: Relative to the project, as in ``docs/zh/gae/inputs.md``.
        language: ``zh`` or ``en``.
        id: Path below the language without the ending, as in ``gae/inputs``.
        text: The file.
        meta: Its front matter.
        body: The text with front matter and fences blanked; offsets are kept.
        fences: Code fences by the line scan.
        blocks: The same with their meaning.
        figures: Figures in the prose.
        pictures: Figures in the page's pictures, by the path of the picture.
        problems: What was found wrong while reading.
        root: The project's folder.
    """

    path: str
    language: str
    id: str
    text: str
    meta: dict[str, Any]
    body: str
    fences: tuple[Fence, ...]
    blocks: tuple[Block, ...]
    figures: tuple[Figure, ...]
    pictures: dict[str, tuple[Figure, ...]]
    problems: tuple[Problem, ...]
    root: Path

    @property
    def refs(self) -> tuple[str, ...]:
        """Versions and citations that the front matter knows."""
        return self.texts("refs")

    @property
    def sources(self) -> tuple[str, ...]:
        """What a quotation may come from: refs, and the questions answered."""
        return (*self.refs, *self.texts("answers"))

    @cached_property
    def html(self) -> str:
        """The page by the site's own Markdown; fences stand as they are written."""
        return render_as_written(self.text, self.root)

    @cached_property
    def tree(self) -> BeautifulSoup:
        """The same as a tree, which all who read it share: not to be changed."""
        return parse(self.text, self.root)

    def line_of(self, what: PageElement | str, after: int = 1) -> int:
        """The line of the page that a node of the tree, or a text, stands on.

        Args:
            what: A node of ``tree``, or a text as it stands in the file.
            after: For a text: the first line that may hold it. This is the answer
                where none does.
        """
        if not isinstance(what, str) or isinstance(what, PageElement):
            return self._lines.of(what)
        lines = self.text.split("\n")
        numbers = range(after, len(lines) + 1)
        return next((n for n in numbers if what in lines[n - 1]), after)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.tree, self.body)

    @cached_property
    def copies(self) -> list[Copy]:
        """What is copied from each block, in the order of ``blocks``."""
        return copies(self.blocks)

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts listed under a key of the front matter."""
        return _texts(self.meta, key)


def read_page(root: Path, path: str, text: str | None = None) -> Page:
    """Read a page of the project at ``root``.

    Args:
        root: The project's folder.
        path: The page, relative to it.
        text: Its text, where it is not the file's.
    """
    if text is None:
        text = (root / path).read_text("utf-8")
    _, language, *rest = Path(path).with_suffix("").parts
    fences, problems = scan(text, path)
    blocks, wrong = read_blocks(fences, text, path, root / "snippets")
    meta, unreadable = read_front_matter(text, path)
    if (root / path).is_symlink():
        unreadable.append(link(root / path, path))
    prose = body(text, fences)
    refs, tree = _texts(meta, "refs"), parse(text, root)
    figures, unbound = read_figures(Prose(path, text, prose, meta, refs, blocks, tree))
    pictures, missing = _pictures(root, text, tree, path, "/".join(rest))
    return Page(
        path,
        language,
        "/".join(rest),
        text,
        meta,
        prose,
        tuple(fences),
        tuple(blocks),
        tuple(figures),
        pictures,
        tuple([*problems, *wrong, *unreadable, *unbound, *missing]),
        root,
    )


def _texts(meta: dict[str, Any], key: str) -> tuple[str, ...]:
    values = meta.get(key)
    if not isinstance(values, list):
        return ()
    return tuple(value for value in values if isinstance(value, str))


def _pictures(
    root: Path, text: str, tree: BeautifulSoup, path: str, page_id: str
) -> tuple[dict[str, tuple[Figure, ...]], list[Problem]]:
    """The figures of the pictures that lie beside the page's code, by their paths."""
    pictures: dict[str, tuple[Figure, ...]] = {}
    problems: list[Problem] = []
    drawn = {match["file"] for _, match in plots(text, page_id)}
    rows = text.split("\n")
    for image in tree.select("img"):
        src = str(image.get("src", ""))
        if src in drawn:
            continue
        at = (n for n, row in enumerate(rows, 1) if f"]({src})" in row)
        line = next(at, 0)
        file = root / "snippets" / Path(page_id).parent / src
        if not line or not FILE.fullmatch(src):
            line = line or next((n for n, row in enumerate(rows, 1) if src in row), 1)
            problems.append(problem(path, line, "picture_elsewhere", src=src))
        elif not inside(file, root / "snippets"):
            problems.append(problem(path, line, "picture_outside", src=src))
        elif not file.is_file():
            name = file.relative_to(root).as_posix()
            problems.append(problem(path, line, "picture_missing", src=src, name=name))
        else:
            name = file.relative_to(root).as_posix()
            figures, unbound = read_picture(file.read_text("utf-8"), name)
            pictures[name] = tuple(figures)
            problems += unbound
    return pictures, problems
