"""A page in both languages with its lock, mended as one."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from site_tools.data.locks import lock_path, parse, write
from site_tools.fixing.locks import relocked
from site_tools.fixing.mechanical import mended
from site_tools.fixing.rerun import rerun
from site_tools.page.page import LANGUAGES
from site_tools.page.wording import wording
from site_tools.problems import Problem


@dataclass
class Mending:
    """What is to be written for a page.

    Args:
        texts: Of each of its files the text there is, and the mended one.
        outputs: Of those whose output is another now, the text with the new one.
        problems: What fails, and what only the author can decide.
    """

    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def mend(root: Path, page: str, files: list[str], runs: bool) -> Mending:
    """Mend a page; nothing is written.

    Args:
        root: The project's folder.
        page: As in ``gae/inputs``.
        files: Its files, relative to the project.
        runs: Whether its code may run, which figures and outputs need.

    Raises:
        UnicodeDecodeError: if one is no UTF-8.
    """
    before = {path: (root / path).read_bytes().decode("utf-8") for path in files}
    after, found = dict[str, str](), Mending()
    for path, text in before.items():
        twin = next((other for name, other in before.items() if name != path), None)
        after[path], problems = mended(text, page, path, twin)
        found.problems += problems
    for path, again in (rerun(root, after) if runs else {}).items():
        after[path] = again.text
        found.problems += again.problems
        if again.renewed != again.text:
            found.outputs[path] = again.renewed
    found.texts = {path: (text, after[path]) for path, text in before.items()}
    found.texts |= _lock(root, page, found.texts)
    return found


def _lock(
    root: Path, page: str, texts: dict[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """The lock before and after, where the page has both languages and a lock."""
    pairs = [texts.get(f"docs/{language}/{page}.md") for language in LANGUAGES]
    if None in pairs or all(pair and pair[0] == pair[1] for pair in pairs):
        return {}
    path = lock_path(page)
    with suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        text = (root / path).read_bytes().decode("utf-8")
        lock = parse(text, page)
        zh, en = ([wording(side) for side in pair or ()] for pair in pairs)
        new = relocked(lock, (zh[0], en[0]), (zh[1], en[1]))
        return {path: (text, text if new == lock else write(new))}
    return {}
