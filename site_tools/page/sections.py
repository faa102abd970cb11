"""The sections of a page, by the ids of their headings."""

import re

SECTION = r"^## [^\n]*\{{\s*#{}\s*\}}\s*$\n(?P<text>.*?)(?=^## |\Z)"


def find_section(body: str, name: str) -> re.Match[str] | None:
    """The ``##`` section with this id, its group ``text`` without the heading."""
    return re.search(SECTION.format(re.escape(name)), body, re.M | re.S)


def section_text(body: str, name: str) -> str:
    r"""The text under the ``##`` heading with this id, up to the next one.

    Example:
        >>> section_text("## It is { #answer }\n\nYes.\n\n## Run { #code }", "answer")
        'Yes.\n\n'
    """
    match = find_section(body, name)
    return match["text"] if match else ""


def first_paragraph(text: str) -> str:
    r"""The first paragraph of a text, on one line.

    Example:
        >>> first_paragraph("\n**Yes.** It\nis.\n\nMore.")
        '**Yes.** It is.'
    """
    return " ".join(text.strip().split("\n\n")[0].split())
