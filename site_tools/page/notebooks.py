"""Notebooks: pages whose code runs once, from top to bottom, and draws plots.

Their code is the same in both languages but for one line, which says what language
the labels of the plots are in. A plot is named by its figure, as in
``plt.subplots(num="bias")``, and shown as ``![what it shows](<page>/bias.svg)``.
"""

import posixpath
import re
from collections.abc import Iterator

FOLDER = "notebooks"
LANGUAGE = re.compile(r'^language = "(\w+)"  # or "(\w+)"$', re.MULTILINE)
FILE = re.compile(r"[\w./-]+\.svg")
PICTURE = re.compile(rf"!\[(?P<alt>[^\]]*)\]\((?P<file>{FILE.pattern})\)")


def is_notebook(page_id: str) -> bool:
    """Whether a page is a notebook, by its id.

    Example:
        >>> is_notebook("notebooks/gae_laboratory"), is_notebook("gae/variance")
        (True, False)
    """
    return page_id.startswith(f"{FOLDER}/")


def plots(text: str, page_id: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The plots that a page shows: the name of each, and its place in the text.

    Example:
        >>> [name for name, _ in plots("![Low](toy/bias.svg)", "notebooks/toy")]
        ['bias']
        >>> [name for name, _ in plots("![A post](post.svg)", "notebooks/toy")]
        []
    """
    if not is_notebook(page_id):
        return
    for match in PICTURE.finditer(text):
        folder, name = posixpath.split(match["file"])
        if folder == posixpath.basename(page_id):
            yield name.removesuffix(".svg"), match


def in_no_language(code: str) -> str:
    """The code of a notebook without what its two languages do not share.

    Example:
        >>> in_no_language('language = "zh"  # or "en"')
        'language = ...'
    """
    return LANGUAGE.sub("language = ...", code)
