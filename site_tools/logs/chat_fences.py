"""The code of a chat, in fences that the site has: shown, and not run."""

from collections.abc import Iterator
from typing import NamedTuple

from site_tools.logs.markers import lines_of
from site_tools.page.blocks import LANGUAGES, Kind
from site_tools.page.fences import OPENING

REASONS = {
    "en": "unverified: from a chat, not run",
    "zh": "未经验证：出自聊天，没有运行过",
}
OTHER_NAMES = {"sh": "bash", "shell": "bash", "zsh": "bash", "pycon": "console"}
OTHER_NAMES |= {"yml": "yaml", "md": "markdown", "patch": "diff"}


class Stretch(NamedTuple):
    """Lines of a chat: one whole fence, or all that stands between two."""

    text: str
    fenced: bool


def stretches(text: str, language: str) -> Iterator[Stretch]:
    r"""The text in stretches, its fences as the site writes them.

    A fence closes as CommonMark has it, at a line with as many marks or more; the site
    wants exactly as many, and gets them. One left open is closed at the end.

    Args:
        text: What a chat said.
        language: Of the page, for the reason why the code is not run.

    Example:
        >>> for stretch in stretches("Run\n~~~py\nx = 1\n~~~~\n", "en"):
        ...     print(stretch.text, end="")
        Run
        ~~~ { .python .norun data-reason="unverified: from a chat, not run" }
        x = 1
        ~~~
    """
    kept: list[str] = []
    fence, prefix = "", ""
    for line in lines_of(text):
        if fence:
            closed = _closes(line, prefix, fence)
            kept.append(f"{prefix}{fence}\n" if closed else line)
            if closed:
                yield Stretch("".join(kept), True)
                kept, fence = [], ""
            continue
        match = OPENING.match(line.rstrip("\n"))
        if match and not (match["fence"][0] == "`" and "`" in match["info"]):
            yield Stretch("".join(kept), False)
            fence, prefix = match["fence"], match["prefix"]
            header = _header(match["info"], language)
            kept = [f"{prefix}{match['marker']}{fence}{header}\n"]
            continue
        kept.append(line)
    if fence:
        end = "" if kept[-1].endswith("\n") else "\n"
        kept.append(f"{end}{prefix}{fence}\n")
    yield Stretch("".join(kept), bool(fence))


def _closes(line: str, prefix: str, fence: str) -> bool:
    whole = line.startswith(prefix)
    inside = line.removeprefix(prefix) if whole else line.lstrip(" \t>")
    marks = inside.strip()
    return len(marks) >= len(fence) and not marks.strip(fence[0])


def _header(info: str, language: str) -> str:
    word = info.strip().lstrip("{. ").split(" ")[0].split(":")[0].split("}")[0].lower()
    name = OTHER_NAMES.get(word, word)
    kind = LANGUAGES.get(name)
    if kind is Kind.RUN:
        return f' {{ .python .norun data-reason="{REASONS[language]}" }}'
    return name if kind is Kind.SHOWN else "text"
