"""What Markdown made of a page, held to the HTML that a page may have."""

import re

from site_tools.page.page import Page
from site_tools.problems import Problem, problem
from site_tools.site import allowed


def check_shown(page: Page, html: str) -> list[Problem]:
    """Every tag and attribute of a rendered page that is not allowed.

    Args:
        page: The page.
        html: What Markdown made of it.
    """
    return [
        problem(page.path, _line(page, fault), "html_not_allowed", fault=fault)
        for fault in allowed.faults(html)
    ]


def _line(page: Page, fault: str) -> int:
    """The first line that holds what is refused, which may be spelled otherwise."""
    quoted = re.search(r'"([^"]+)"', fault)
    words = [fault.split(" ")[0].rstrip(">"), quoted[1] if quoted else ""]
    rows = [*enumerate(page.text.splitlines(), 1)]
    at = (n for word in words if word for n, row in rows if word in row)
    return next(at, 1)
