"""The scripts and styles of the site as browsers load them."""

import re

# In scripts only whole lines: // stands in addresses too.
COMMENT = re.compile(r"^[ \t]*//.*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/\n?", re.MULTILINE)


def lean(code: str) -> str:
    """A script or a style sheet without its comments, a sixth of what is sent."""
    return COMMENT.sub("", code)
