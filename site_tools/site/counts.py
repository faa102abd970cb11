"""How much there is, counted in the pages themselves.

Counted in the text of a page and not by ``read_page``, which makes what derived
fences show, and one of those shows these counts.
"""

from functools import lru_cache
from typing import NamedTuple

from site_tools.page.blocks import LANGUAGES, Kind
from site_tools.page.fences import Fence, scan
from site_tools.page.prose import body, parts


class Counts(NamedTuple):
    """What the pages of one language hold."""

    pages: int
    blocks: int
    figures: int
    formulas: int


def count(texts: list[str]) -> Counts:
    """How many pages, blocks that run, bound figures, displayed formulas.

    Example:
        >>> count(["`2`{ data-is='x' }\\n\\n```python\\nx = 2\\n```\\n"])
        Counts(pages=1, blocks=1, figures=1, formulas=0)
    """
    found = [_of_page(text) for text in texts]
    return Counts(len(texts), *(sum(page[i] for page in found) for i in range(3)))


@lru_cache(maxsize=1024)
def _of_page(text: str) -> tuple[int, int, int]:
    fences, _ = scan(text, "")
    found = parts(body(text, fences))
    figures = sum("data-is" in (part.attributes or "") for part in found)
    formulas = sum(part.kind == "display" for part in found)
    return sum(map(_runs, fences)), figures, formulas


def _runs(fence: Fence) -> bool:
    try:
        language, attributes = fence.header
    except ValueError:
        return False
    running = LANGUAGES.get(language) in (Kind.RUN, Kind.SESSION)
    return running and "norun" not in attributes.classes
