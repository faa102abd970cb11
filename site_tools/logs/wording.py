"""What a chat asks, in a sentence: without files, code and politeness."""

import re
import unicodedata
from collections.abc import Iterator

from site_tools.logs.markers import fence_after, lines_of

LONGEST = 120
# A file that the chat's program was pointed at, as @[verl/trainer.py] or at the start.
MENTION = re.compile(r"@\[[^\]\n]*\]|@[\w./-]+|^\s*[\w-]+(?:/[\w.-]+)+\.\w+", re.ASCII)
DECORATION = re.compile(r"^ {0,3}(?:#{1,6}|>|[-*+]|\d+[.)])[ \t]+|!\[[^\]]*\]\([^)]*\)")
SENTENCE = re.compile(
    r"(?:“[^”]*”|\"[^\"\n]*\"|「[^」]*」|(?:\.(?=\S))|[^。！？!?.])*[。！？!?.]*"
)
POLITE = re.compile(
    r"(?:好的?|嗯+|可以|行|谢谢.{0,6}|明白了?|懂了|收到|请|ok(?:ay)?|sure|yes|great|"
    r"all right|thanks?(?: you)?(?: a lot| very much)?)",
    re.I,
)
# Asks whether the sentence before it is right, and names no topic itself.
ABOUT_THE_LAST = re.compile(
    r"(?:我|这样|这么|以上)?的?(?:理解|想法|说法|看法|推导|说)?(?:正确|对)(?:么|吗|不)"
    r"|(?:is (?:that|this|it)|is my understanding|am i) (?:right|correct)"
    r"|have i got (?:that|this|it) right|right|correct",
    re.I,
)
EDGES = " \t\n。！？!?.,，、;；:：~～…"
HAN = re.compile("[㐀-鿿]")


def prose(text: str) -> str:
    r"""A text without the code in its fences.

    Example:
        >>> prose("Why?\n```\nx\n```\n")
        'Why?\n'
    """
    kept, fenced = "", ""
    for line in lines_of(text):
        before, fenced = fenced, fence_after(line, fenced)
        kept += "" if before or fenced else line
    return kept


def cleaned(question: str) -> str:
    """A question on one line: no code, no mention of a file, no marks of a layout.

    Example:
        >>> cleaned("@[verl/ray_trainer.py] What is  V?\\n```\\nx\\n```")
        'What is V?'
    """
    plain = [DECORATION.sub("", line) for line in lines_of(prose(question))]
    text = " ".join(MENTION.sub(" ", line) for line in plain)
    return _on_one_line(text) or _on_one_line(question)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a cleaned text; a mark between quotation marks ends none.

    Example:
        >>> list(sentences("好的！“1+1=2？”是什么意思？"))
        ['好的！', '“1+1=2？”是什么意思？']
    """
    for match in SENTENCE.finditer(text):
        if sentence := match[0].strip():
            yield sentence


def title(question: str) -> str:
    """The question of a page: the first sentence that asks, else the first.

    Example:
        >>> title("V(0) = r(0)+r(1). 我很奇怪。V(0) 包含 r(0) 么？谢谢！")
        'V(0) 包含 r(0) 么？'
    """
    said = [s for s in sentences(cleaned(question)) if not is_polite(s)]
    first = next(filter(_asks, said), next(iter(said), cleaned(question)))
    at = said.index(first) if first in said else 0
    if at and ABOUT_THE_LAST.fullmatch(first.strip(EDGES)):
        first = said[at - 1] + ("" if HAN.search(first) else " ") + first
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"


def _asks(sentence: str) -> bool:
    return sentence.endswith(("?", "？"))


def is_polite(sentence: str) -> bool:
    """Whether a sentence is politeness and nothing else, as "好的！"."""
    return bool(POLITE.fullmatch(sentence.strip(EDGES)))


def language(text: str) -> str:
    """``zh`` or ``en``, whichever a text is written in.

    Example:
        >>> language("为何 values 要左移一格？"), language("Why is V shifted?")
        ('zh', 'en')
    """
    words = re.findall(r"[A-Za-z]+", prose(text))
    return "zh" if len(HAN.findall(prose(text))) * 4 > len(words) else "en"


def _on_one_line(text: str) -> str:
    kinds = map(unicodedata.category, text)
    shown = (" " if k[0] == "C" else c for c, k in zip(text, kinds, strict=True))
    return " ".join("".join(shown).split())
