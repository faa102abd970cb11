"""Scripts, styles and pages as browsers load them."""

import re

# In scripts only whole lines: // stands in addresses too.
COMMENT = re.compile(r"^[ \t]*//.*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/\n?", re.MULTILINE)
ARTICLE = re.compile(r"(?=<article\b)|(?<=</article>)")
BLANKS = re.compile(r"[ \t]*\n\s*")
# The theme's colours, of which site.css has those that pages show.
PALETTE = re.compile(r'<link [^>]*/palette\.\w+\.min\.css">')
# Parts of code that have the colour of all the rest: names and blanks.
PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>')


def lean(code: str) -> str:
    """A script or a style sheet without its comments, a sixth of what is sent."""
    return COMMENT.sub("", code)


def lean_page(html: str) -> str:
    """A page without what its reader never sees; in an article, blanks may be code."""
    parts = ARTICLE.split(PALETTE.sub("", html))
    parts[::2] = [BLANKS.sub("\n", part) for part in parts[::2]]
    return PLAIN.sub(r"\1", "".join(parts))
