"""Functions of a page's snippet, got by running its sections as the page does."""

import re
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

from tests.layout import ROOT

SECTION = re.compile(r"\[start:([\w-]+)\]\n(.*?)# --8<-- \[end:\1\]", re.DOTALL)


def defined(snippet: str, *sections: str) -> dict[str, Any]:
    """The names that these sections leave, run in this order.

    A section whose page shows that it fails ends at its assertion.
    """
    text = (ROOT / f"snippets/{snippet}.py").read_text("utf-8")
    code = dict(SECTION.findall(text))
    names: dict[str, Any] = {}
    with redirect_stdout(StringIO()), suppress(AssertionError):
        for section in sections:
            exec(code[section], names)
    return names
