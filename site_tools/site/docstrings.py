"""Docstrings of ``ppo_ref`` as mkdocstrings is to read them: an extension of griffe."""

import re

from griffe import Extension, Function, GriffeLoader, Object

SOURCE = re.compile(r"^Source:\n((?:    .*\n?)+)", re.MULTILINE)
FOLDED = """

??? source "{file}"

    ```source
    {name}
    ```
"""


def for_reading(doc: str, returns: str = "") -> str:
    r"""The sections under the names that griffe knows; a paper as a paragraph.

    Args:
        doc: The docstring.
        returns: The type of what is returned. Without it before the description, a
            colon there would end what griffe takes for the type.

    Example:
        >>> for_reading("Sum.\n\nSource:\n    Paper, eq. 1.\n\nExample:\n    >>> 1\n")
        'Sum.\n\nPaper, eq. 1.\n\nExamples:\n    >>> 1\n'
        >>> for_reading("Cut.\n\nReturns:\n    One a row: its end.", "TokenMask")
        'Cut.\n\nReturns:\n    TokenMask: One a row: its end.'
    """
    if returns:
        doc = re.sub(r"^Returns:\n +", rf"\g<0>{returns}: ", doc, flags=re.MULTILINE)
    doc = SOURCE.sub(lambda match: re.sub(r"^ {4}", "", match[1], flags=re.M), doc)
    return re.sub(r"^Example:$", "Examples:", doc, flags=re.MULTILINE)


class Docstrings(Extension):
    """Each docstring made readable; under that of a function, its code, folded."""

    def on_object(self, *, obj: Object, loader: GriffeLoader, **kwargs: object) -> None:
        """Called by griffe for each thing that it has read."""
        if obj.docstring is None:
            return
        returns = obj.returns if isinstance(obj, Function) else None
        obj.docstring.value = for_reading(obj.docstring.value, str(returns or ""))
        if isinstance(obj, Function) and obj.parent is obj.module:
            file = obj.module.path.replace(".", "/") + ".py"
            obj.docstring.value += FOLDED.format(file=file, name=obj.path)
