"""Docstrings of ``ppo_ref`` as mkdocstrings is to read them: an extension of griffe."""

import re

from griffe import Extension, Function, GriffeLoader, Object

SOURCE = re.compile(r"^Source:\n((?:    .*\n?)+)", re.MULTILINE)
FOLDED_SOURCE = '\n\n??? source "{file}"\n\n    ```python\n{code}\n    ```\n'


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
            obj.docstring.value += FOLDED_SOURCE.format(file=file, code=code(obj))


def code(function: Function) -> str:
    """The lines of a function in its file, without its docstring, indented."""
    doc, first = function.docstring, function.lineno or 1
    lines = [f"    {line}".rstrip() for line in function.lines]
    if doc:
        del lines[(doc.lineno or first) - first : (doc.endlineno or first) - first + 1]
    return "\n".join(lines)


def for_reading(doc: str, returns: str = "") -> str:
    """A docstring with the sections that griffe knows; a paper as a paragraph."""
    if returns:
        doc = re.sub(r"^Returns:\n +", rf"\g<0>{returns}: ", doc, flags=re.MULTILINE)
    doc = SOURCE.sub(lambda match: re.sub(r"^ {4}", "", match[1], flags=re.M), doc)
    return re.sub(r"^Example:$", "Examples:", doc, flags=re.MULTILINE)
