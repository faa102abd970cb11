"""The copy buttons of a page give what runs, and a line says where ppo_ref is."""

import re
from collections.abc import Callable, Sequence
from html import escape

from site_tools.html.code_boxes import Addition, decorate
from site_tools.page.blocks import Block, Kind
from site_tools.page.copying import Copy, copies

IMPORTS = re.compile(r"^[ \t]*(?:from|import) ppo_ref\b", re.MULTILINE)
PLOTS = re.compile(r"^(?:from|import) matplotlib\b", re.MULTILINE)
INSTALL = {"zh": "这些代码要用 ppo_ref：", "en": "These blocks use ppo_ref:"}
COPY = {"zh": "复制安装命令", "en": "Copy the install command"}


def complete(
    html: str, blocks: Sequence[Block], lang: str, wheel: Callable[[], str]
) -> str:
    """Give the code boxes of a page what is copied from them.

    Where that is another text than the one shown, the theme's button finds it in
    ``data-copy``. The first box whose code runs and imports ``ppo_ref`` gets the line
    that installs it.

    Args:
        html: The rendered body of the page.
        blocks: Its blocks, in order.
        lang: Its language.
        wheel: Gives the address of the wheel; called only if a block needs it.

    Raises:
        ValueError: if the page has other code boxes than its blocks.
    """
    more = "matplotlib " if any(map(_plots, blocks)) else ""
    boxes = [copy for copy in copies(blocks) if copy.block.has_box]
    first = next((n for n, copy in enumerate(boxes) if _needs_package(copy)), None)
    additions = [
        Addition(
            {} if copy.text == _shown(copy) else {"data-copy": copy.text},
            install_line(wheel(), lang, more) if number == first else "",
        )
        for number, copy in enumerate(boxes)
    ]
    return decorate(html, additions)


def _needs_package(copy: Copy) -> bool:
    return copy.block.runs_copied and bool(IMPORTS.search(copy.text))


def _plots(block: Block) -> bool:
    return block.runs and bool(PLOTS.search(block.text))


def _shown(copy: Copy) -> str:
    block = copy.block
    return copy.text if block.kind is Kind.SOURCE else block.text


def install_line(address: str, lang: str, more: str = "") -> str:
    """What installs ``ppo_ref`` from the site itself.

    A script completes the address, and lets the button copy the command.

    Args:
        address: Of the wheel, relative to the page or absolute.
        lang: The language of the words.
        more: Other packages that are needed, a blank behind each.

    Example:
        >>> print(install_line("../p.whl", "en", "numpy "))
        <p class="install more" data-search-exclude="1">
        <span>These blocks use ppo_ref:</span>
        <code>pip install numpy <a href="../p.whl">p.whl</a></code>
        <button class="md-code__button" data-md-type="copy" type="button" hidden
        title="Copy the install command"></button></p>
    """
    kind = "install more" if more else "install"
    shown = address.rpartition("/")[2] if address.startswith("..") else address
    return (
        f'<p class="{kind}" data-search-exclude="1">\n<span>{INSTALL[lang]}</span>\n'
        f'<code>pip install {more}<a href="{escape(address)}">{escape(shown)}'
        "</a></code>\n"
        '<button class="md-code__button" data-md-type="copy" type="button" hidden\n'
        f'title="{COPY[lang]}"></button></p>'
    )
