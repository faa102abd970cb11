"""Names of ``ppo_ref`` in the text of a page, as links to the reference."""

import ast
import posixpath
import re
from collections.abc import Collection, Mapping

NAMED = re.compile(
    r"<(?P<inert>a|h[1-6]|summary|pre)\b.*?</(?P=inert)>"
    r"|<code>(?P<name>ppo_ref(?:\.\w+)+)</code>",
    re.DOTALL,
)


def symbols(sources: Mapping[str, str]) -> set[str]:
    """Every module of the package, and every public name that it defines.

    Args:
        sources: The modules by name, as ``package_modules.read`` gives them.

    Example:
        >>> sorted(symbols({"gae": "def gae(): ...\\ndef _sum(): ..."}))
        ['ppo_ref.gae', 'ppo_ref.gae.gae']
    """
    found = {f"ppo_ref.{module}" for module in sources}
    for module, source in sources.items():
        names = (name for node in ast.parse(source).body for name in _defined(node))
        found |= {f"ppo_ref.{module}.{name}" for name in names if name[0] != "_"}
    return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [name.id for name in node.targets if isinstance(name, ast.Name)]
    return []


def link(html: str, url: str, known: Collection[str]) -> str:
    """Lead from inline code that is nothing but such a name to what says what it is.

    Args:
        html: A rendered page.
        url: Its address within the site of its language.
        known: What :func:`symbols` gives.

    Raises:
        ValueError: for a name that the package does not have.

    Example:
        >>> link("<code>ppo_ref.gae.gae</code>", "gae/inputs/", {"ppo_ref.gae.gae"})
        '<a href="../../ppo_ref/gae/#ppo_ref.gae.gae"><code>ppo_ref.gae.gae</code></a>'
    """
    up = posixpath.relpath("/", posixpath.dirname(f"/{url}"))

    def place(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return match[0]
        if name not in known:
            raise ValueError(
                f"`{name}`: must be a name of the package, which has none such; "
                "correct it, or write it without ppo_ref"
            )
        _, module, *inner = name.split(".")
        anchor = f"#{name}" if inner else ""
        return f'<a href="{up}/ppo_ref/{module}/{anchor}">{match[0]}</a>'

    return NAMED.sub(place, html)
