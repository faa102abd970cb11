"""The word with which an answer begins: yes, no, seldom, and so on, in both languages.

Only words that can mean nothing else are compared; an answer that begins otherwise, as
*Before* or *每个词的惊喜*, is for people to compare.
"""

import re

from site_tools.compile.navigation import question_lines
from site_tools.messages import Message, Problems
from site_tools.page.page import Page

END = r"(?=[，。：；！,.:;!—]|$)"  # behind a word that stands alone
# In this order: what hedges begins as what denies does.
WORDS = {
    "en": (
        ("seldom", r"(?:hardly ever|almost never|usually not|rarely|seldom)\b"),
        ("mostly", rf"(?:almost always|nearly always|mostly|usually){END}"),
        ("depends", r"(?:(?:it|that|this) )?depends\b|not (?:always|necessarily)\b"),
        ("depends", r"(?:only )?sometimes\b|yes and no\b|partly\b"),
        ("no", rf"(?:no|never|wrong|false|neither){END}"),
        ("no", rf"not (?:so|really|at all){END}"),
        ("yes", r"yes\b"),
        ("yes", rf"(?:right|true|correct|indeed|certainly|of course){END}"),
    ),
    "zh": (
        ("seldom", "(?:几乎|基本|通常|一般|多半)(?:都|从)?[不没]|很少|极少"),
        ("mostly", "(?:几乎总|几乎都|多半|通常|一般|大多)[是会对]"),
        ("depends", "视情况|视.{1,8}而定|看情况|[要得]看|取决于|说不准|是也不是"),
        ("depends", "不一定|不总|不都|未必|不见得|有时|不全|不完全|对?了?一半"),
        ("yes", "没错|不错|没问题|无疑|当然"),
        ("no", "不(?![止仅只但管论同])|没(?!准)|否|无(?!论)|都不"),
        ("no", "是?错|是?假的|并不|并非|并没|从不|绝不"),
        # A verb, with at most three signs behind it: 是的，要盖住，有关系。
        ("yes", f"[是对有会能要行够](?!.?[不没错假])[^，。：；！,.:;!]{{0,3}}{END}"),
        ("yes", f"(?:可以|包含|一样|正确|成立|需要|应该|确实){END}"),
    ),
}
BEFORE = re.compile(r"[\s*_“「（(]*")  # marks of emphasis, quotation marks


def read_verdict(words: str, language: str) -> str:
    """What an answer's first word says: the name of it, as ``yes``, or nothing."""
    said = BEFORE.sub("", words, count=1).replace("*", "")
    for meaning, pattern in WORDS[language]:
        if re.match(pattern, said, re.IGNORECASE):
            return meaning
    return ""


def check_verdicts(page: Page, twin: Page) -> Problems:
    """The answer, or its line on a question, that says yes where its twin says no."""
    ours, theirs = _answers(page), _answers(twin)
    for key, words in ours.items():
        other = theirs.get(key, "")
        here = read_verdict(words, page.language)
        there = read_verdict(other, twin.language)
        if here and there and here != there:
            first = words.partition("\n")[0]
            section = page.content.section("answer")
            start = section.line if section else 1
            line = page.line_with(key or first, start) or start
            values = {
                "here": first[:30],
                "means": Message("verdicts", part=here),
                "there": other.partition("\n")[0][:30],
                "says": Message("verdicts", part=there),
                "twin": twin.path,
            }
            yield page.problem(line, "pair_verdict", **values)


def _answers(page: Page) -> dict[str, str]:
    """The answer of a page, and its line on each question of a dialogue."""
    answer = page.content.text_below("answer").strip()
    return {"": answer, **question_lines(answer)}
