"""The ids of a page as readers get it, to which links lead."""

import re
from collections.abc import Iterable

from site_tools.html import answer, formulas

ID = re.compile(r'\sid="([^"]+)"')


def ids(html: str, answers: Iterable[str], lang: str) -> list[str]:
    r"""Every id of a rendered page, with those of its questions and formulas.

    Args:
        html: What ``rendering.render`` gives.
        answers: What its front matter says that it answers.
        lang: Its language.

    Example:
        >>> ids('<h2 id="answer">Yes</h2><p id="x">', ["004·2"], "en")
        ['q-004-2', 'answer', 'x']
        >>> ids(r'<div class="arithmatex">\[a \label{sum}\]</div>', [], "en")
        ['sum']
    """
    marked = " ".join(match[0] for match in formulas.MARKED.finditer(html))
    labels = formulas.LABEL.findall(marked)
    return [*ID.findall(answer.wrap(html, answers, lang)), *labels]
