"""One more way to ask, added to the front matter of a page."""

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from site_tools.contributing.ideas import fold
from site_tools.data.locks import Lock, digest
from site_tools.page.wording import FRONT, wording
from site_tools.page.yaml_limits import LOADER

TOP = re.compile(r"\A---\r?\n(?P<yaml>.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def has_wording(meta: Mapping[str, Any], asked: str) -> bool:
    """Whether a page already has a wording, capitals, width and marks apart."""
    own = [meta.get("question"), meta.get("title"), *(meta.get("aliases") or ())]
    return _bare(asked) in {_bare(str(text)) for text in own if text is not None}


def _bare(text: str) -> str:
    return re.sub(r"[\s?。.!]+", "", fold(text))


def with_alias(text: str, asked: str, file: str) -> str:
    """A page with one alias more, last in its list; every other byte as it was.

    Args:
        text: The page, its line ends as they are in the file.
        asked: The wording, on one line.
        file: Its path, for the messages.

    Raises:
        ValueError: where its front matter is none, or its aliases are no list.

    Example:
        >>> page = "---\\nquestion: A?\\naliases: [B?]\\n---\\n"
        >>> print(with_alias(page, "C, D?", "docs/en/gae/a.md"))
        ---
        question: A?
        aliases: [B?, "C, D?"]
        ---
        <BLANKLINE>
    """
    top = TOP.match(text)
    if top is None:
        raise ValueError(
            f"No aliases can be added to {file}, which has no front matter between "
            "two lines ---"
        )
    try:
        front = yaml.compose(top["yaml"], Loader=LOADER)
    except yaml.YAMLError as error:
        raise ValueError(
            f"No aliases can be added to {file}, whose front matter is no YAML: {error}"
        ) from None
    pairs = front.value if isinstance(front, yaml.MappingNode) else []
    listed = next((node for name, node in pairs if name.value == "aliases"), None)
    at, added = _addition(top["yaml"], pairs, listed, asked, file)
    at += top.start("yaml")
    return text[:at] + added + text[at:]


def _addition(
    front: str, pairs: list[Any], listed: Any, asked: str, file: str
) -> tuple[int, str]:
    """Where the alias is put, and how it is written there."""
    end = "\r\n" if "\r\n" in front else "\n"
    if listed is None and pairs:
        at = _behind(front, pairs[0][1].end_mark.index)
        return at, f"aliases:{end}  - {_scalar(asked)}{end}"
    if not isinstance(listed, yaml.SequenceNode):
        raise ValueError(
            f"No aliases can be added to {file}, which has none in a list; write "
            "aliases: [] there"
        )
    if listed.flow_style:
        at = front.rindex("]", 0, listed.end_mark.index)
        before = front[listed.start_mark.index + 1 : at].rstrip()
        between = "" if not before else " " if before.endswith(",") else ", "
        return at, between + json.dumps(asked, ensure_ascii=False)
    at = _behind(front, listed.value[-1].end_mark.index)
    indent = " " * listed.start_mark.column
    return at, f"{indent}- {_scalar(asked)}{end}"


def _behind(front: str, index: int) -> int:
    """The beginning of the next line, or here where one begins."""
    return index if front[index - 1] == "\n" else front.index("\n", index) + 1


def _scalar(text: str) -> str:
    """The text as YAML, in quotes only where it needs them."""
    written = yaml.safe_dump([text], allow_unicode=True, width=10**6)
    return str(written).removeprefix("- ").removesuffix("\n")


def lock_after(lock: Lock, language: str, before: str, after: str) -> Lock:
    """The lock of a page that got an alias in one language.

    An alias states nothing that the other language would have to say too, so what was
    in accord stays so; what waited before goes on waiting.

    Args:
        lock: What was recorded.
        language: That of the page with the alias, ``zh`` or ``en``.
        before: The page without it.
        after: The page with it.
    """
    old, new = (digest(wording(text).get(FRONT, "")) for text in (before, after))
    if FRONT not in lock or getattr(lock[FRONT], language) != old:
        return lock
    return {**lock, FRONT: lock[FRONT]._replace(**{language: new})}
