r"""The prose of a chat as the site writes it: formulas in ``$``, no HTML.

In CommonMark ``\(V_t\)`` is ``(V_t)``: see ``contribute/dialogue_log``.
"""

import re

# In this order: what stands in code is no formula.
PIECE = re.compile(
    r"(?P<code>(?<![\\`])(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<display>(?<!\\)\\\[(?P<square>(?:(?!\n\s*\n).)+?)\\\]"
    r"|(?<!\\)\$\$(?P<double>(?:(?!\n\s*\n)[^$])+)\$\$)"
    r"|(?P<inline>(?<!\\)\\\((?P<round>(?:(?!\n\s*\n).)+?)\\\)"
    r"|(?<![\\$])\$(?! ?\$)(?P<dollar>(?=\S)[^$\n]*?(?<=[^\s\\])| [^$\n]+ )"
    r"\$(?![\d$]))",
    re.DOTALL,
)
# What Markdown would take for an attribute list, an image, a tag or an include.
LIST = re.compile(r"\{(?=:|\s*[.#]|\s*[\w-]+\s*=)")
HEADING = re.compile(r"^ {0,3}(?P<marks>#{1,6})[ \t]+(?P<text>.*?)[ \t#]*$", re.M)
NUMBERED = re.compile(r"^\d+(?:\.\d+)*[.、)）]?\s+")
UNDERLINE = re.compile(r"(?m)(?<=\S)([ \t]*\n)(?=[ ]{0,3}(?:=+|-+)[ \t]*$)")


def mended(text: str) -> str:
    r"""Prose with the site's formulas and without HTML.

    Args:
        text: Prose of a chat, no fence in it.

    Example:
        >>> mended(r"\(V_t\) and `\(x\)` <b>here</b>")
        '$V_t$ and `\\(x\\)` &lt;b>here&lt;/b>'
    """
    kept, at = "", 0
    for match in PIECE.finditer(text):
        kept += _plain(text[at : match.start()])
        at = match.end()
        if match["code"]:
            kept += match[0]
        elif match["display"]:
            kept, at = _display(kept, match, text)
        else:
            formula = match["round"] or match["dollar"]
            kept += f"${' '.join(formula.split())}$"
    return UNDERLINE.sub(r"\1\n", kept + _plain(text[at:]))


def demoted(text: str, level: int, names: str, first: int, least: int) -> str:
    """Prose whose headings begin at a level and have ids of their own.

    Args:
        text: Prose, mended.
        level: Level of its highest headings.
        names: What the ids begin with.
        first: The number in the first id.
        least: Level of the highest headings as they are.

    Example:
        >>> demoted("# 1. Why", 4, "chat", 7, 1)
        '#### Why { #chat-7 }'
    """
    number = first - 1

    def heading(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        marks = "#" * min(6, len(match["marks"]) - least + level)
        return f"{marks} {NUMBERED.sub('', match['text'])} {{ #{names}-{number} }}"

    return HEADING.sub(heading, text)


def _plain(text: str) -> str:
    text = text.replace("<", "&lt;").replace("![", r"\![")
    return LIST.sub("&#123;", text)


def _display(kept: str, match: re.Match[str], text: str) -> tuple[str, int]:
    """A formula on lines of its own; one among words stays among them."""
    formula = (match["square"] or match["double"]).strip()
    before = kept.rpartition("\n")[2]
    behind = re.compile(r"[ \t]*(?:\n|\Z)").match(text, match.end())
    if before.strip() or behind is None:
        return f"{kept}${' '.join(formula.split())}$", match.end()
    lines = "\n".join(f"{before}{line.strip()}" for line in formula.splitlines())
    above = kept[: len(kept) - len(before)]
    gap = "" if not above or above.endswith("\n\n") else "\n"
    return f"{above}{gap}{before}$$\n{lines}\n{before}$$\n\n", behind.end()
