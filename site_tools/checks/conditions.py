r"""Conditions on gamma and lambda: spelled one way, so that a slip is one no more.

Both lie in [0, 1], so that \lambda=2 holds nowhere, \lambda<2 everywhere, and
\lambda\ne1 is \lambda<1.
"""

import re
from collections.abc import Iterator

from site_tools.checks.anatomy import Row
from site_tools.page.page import Page
from site_tools.page.prose import line_of, parts

NAME = r"\\(?:gamma|lambda)"
ABOUT = re.compile(rf"(?:{NAME}|[\d.]|[-+=<>]|\\(?:ne|le|ge|leq|geq|approx)|\s)+")
RELATION = re.compile(r"[=<>]|\\(?:ne|le|ge|leq|geq|approx)")
SPELLED = re.compile(
    rf"(?:{NAME})+(?:={NAME})*=(?:[01])?|{NAME}[<]1|{NAME}>0|0<{NAME}<1"
)
WANTED = r"=0, =1, <1 or >0 behind \gamma or \lambda, or 0<\lambda<1"


def conditions(page: Page) -> Iterator[Row]:
    """Conditions on gamma and lambda that hold nowhere, everywhere, or by detour."""
    for part in parts(page.body):
        tex = "".join(part.text.split())
        if part.kind != "inline" or not ABOUT.fullmatch(tex):
            continue
        about = re.search(NAME, tex) and RELATION.search(tex)
        if about and not SPELLED.fullmatch(tex):
            line = line_of(page.body, part.start)
            yield line, f"${part.text}$", WANTED, "write the condition so"
