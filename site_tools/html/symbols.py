"""Names of ``ppo_ref`` in the text of a page, as links to the reference."""

import ast
import posixpath
import re
from collections.abc import Mapping

NAMED = re.compile(
    r"<(?P<inert>a|h[1-6]|summary|pre)\b.*?</(?P=inert)>"
    r"|<code>(?P<name>ppo_ref(?:\.\w+)+)</code>",
    re.DOTALL,
)


def symbols(sources: Mapping[str, str]) -> dict[str, str]:
    """Where every module of the package is, and every public name that it defines.

    Args:
        sources: The modules by name, as ``reference.read`` gives them.

    Example:
        >>> symbols({"kl": "def k1(): ...\\ndef _sum(): ..."})
        {'ppo_ref.kl': 'ppo_ref/kl/', 'ppo_ref.kl.k1': 'ppo_ref/kl/#ppo_ref.kl.k1'}
    """
    found = {}
    for name, source in sources.items():
        module = f"ppo_ref.{name}".removesuffix(".__init__")
        found[module] = page = f"{module.replace('.', '/')}/"
        names = (name for node in ast.parse(source).body for name in _defined(node))
        public = [f"{module}.{name}" for name in names if name[0] != "_"]
        found |= {name: f"{page}#{name}" for name in public}
    return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [name.id for name in node.targets if isinstance(name, ast.Name)]
    return []


def link(html: str, url: str, known: Mapping[str, str]) -> str:
    """Lead from inline code that is nothing but such a name to what says what it is.

    Args:
        html: A rendered page.
        url: Its address within the site of its language.
        known: What :func:`symbols` gives.

    Raises:
        ValueError: for a name that the package does not have.

    Example:
        >>> link("<code>ppo_ref.gae</code>", "", {"ppo_ref.gae": "ppo_ref/gae/"})
        '<a href="./ppo_ref/gae/"><code>ppo_ref.gae</code></a>'
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
        return f'<a href="{up}/{known[name]}">{match[0]}</a>'

    return NAMED.sub(place, html)
