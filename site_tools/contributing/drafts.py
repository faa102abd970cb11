"""What a new page takes from a draft of a chat: question, wordings, code.

The code is shown and not run, which its reason says. The sentences stay in the draft:
nobody has verified them, and their figures would pass no check.
"""

import re
from typing import NamedTuple

from site_tools.contributing.new_names import check_question
from site_tools.page.fences import scan
from site_tools.page.front_matter import read_front_matter

TO_DO = {
    "zh": "TODO：下面是聊天里的代码。要用的搬到上面那段里，然后把这些块删掉。",
    "en": "TODO: this is the code of the chat. Move what you need into the block "
    "above, then delete these.",
}
REASON = {
    "zh": "TODO：出自聊天，没有人运行过",
    "en": "TODO: from a chat, nobody has run it",
}


class Draft(NamedTuple):
    """A question of a chat, other wordings of it, and code that nobody has run."""

    question: str = ""
    aliases: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


def read_draft(text: str, name: str) -> Draft:
    """Read a draft: a page whose front matter has the question.

    Wordings that are too long for an alias are left out.

    Args:
        text: The file.
        name: Its name, for the messages.

    Raises:
        ValueError: where it is no draft, with what is missing.
    """
    meta, problems = read_front_matter(text, name)
    question, listed = meta.get("question"), meta.get("aliases") or []
    if problems or not isinstance(question, str) or not isinstance(listed, list):
        raise ValueError(f"{name} is no draft: it must begin with question: ...")
    fences, _ = scan(text, name)
    code = [fence for fence in fences if "norun" in re.findall(r"\w+", fence.info)]
    return Draft(
        question,
        tuple(filter(None, map(_alias, listed))),
        tuple("\n".join(fence.lines) for fence in code if any(fence.lines)),
    )


def _alias(text: object) -> str:
    try:
        return check_question(str(text))
    except ValueError:
        return ""


def shown(draft: Draft, language: str) -> str:
    """The code of a draft as a page shows it, with what is to be done about it."""
    if not draft.code:
        return ""
    info = f'{{ .python .norun data-reason="{REASON[language]}" }}'
    blocks = []
    for code in draft.code:
        longest = max(map(len, re.findall("`+", code)), default=0)
        fence = "`" * max(3, longest + 1)
        blocks.append(f"{fence}{info}\n{code}\n{fence}\n")
    return "\n".join([f"{TO_DO[language]}\n", *blocks]) + "\n"
