"""What can be taken along: named on its page, linked once it is made, with its size.

The zip holds that page, so the page cannot say in it how large the zip is; nor does it
need to, where the zip has been unpacked.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping

from site_tools.html import twins

ADDRESS = "about/offline/"  # the page
ZIP, LIST, FULL = "offline.zip", "llms.txt", "llms-full.txt"
SAYS = {
    "zh": {
        ZIP: "整个网站，两种语言",
        LIST: "每一页的地址和简答，给程序读的目录",
        FULL: "每一页的全文，Markdown",
    },
    "en": {
        ZIP: "the whole site in both languages",
        LIST: "every page with its address and short answer, a list for programs",
        FULL: "the full text of every page, in Markdown",
    },
}
COLON = {"zh": "：", "en": ": "}
PLACE = re.compile(r'<span data-download="([^"]+)">([^<]+)</span>')


def items(lang: str) -> Iterator[str]:
    """What there is, as HTML; each is a name until :func:`fill` makes it a link."""
    for name, says in SAYS[lang].items():
        owner = "zh" if name == ZIP else lang  # one zip for both, at the root
        href = twins.link(lang, ADDRESS, owner, name)
        place = f'<span data-download="{href}">{name}</span>'
        yield f"{place}{COLON[lang]}{says}"


def fill(html: str, page: str, sizes: Mapping[str, int]) -> str:
    """Link what has been made.

    Args:
        html: A built page.
        page: Its path in the site.
        sizes: Bytes of what has been made, by path in the site.

    Example:
        >>> place = '<span data-download="../x.txt">x.txt</span>'
        >>> fill(place, "about/index.html", {"x.txt": 1_260_000})
        '<a href="../x.txt">x.txt</a> (1.3 MB)'
        >>> fill(place, "about/index.html", {}) == place
        True
    """

    def link(match: re.Match[str]) -> str:
        folder = posixpath.dirname(page)
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        if path not in sizes:
            return match[0]
        return f'<a href="{match[1]}">{match[2]}</a> ({size(sizes[path])})'

    return PLACE.sub(link, html)


def size(count: int) -> str:
    """Bytes as readers count them.

    Example:
        >>> size(1_260_000), size(41_500)
        ('1.3 MB', '42 kB')
    """
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
