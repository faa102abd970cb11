"""One more way to ask: put into the list as it is written, and nothing else moved."""

import pytest

from site_tools.checks.accord import State, judge
from site_tools.contributing.aliases import has_wording, lock_after, with_alias
from site_tools.data.locks import lock_of
from site_tools.page.front_matter import read_front_matter
from site_tools.page.wording import wording

BODY = "---\n\n## So { #answer }\n\naliases: [no]\n\n---\n"


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("aliases:\n  - A?\n  - B?\nneeds: []\n", "  - B?\n|  - C: D?|\n"),
        ("aliases:\n- A?\nneeds: []\n", "- A?\n|- C: D?|\n"),
        ("aliases:\n    - A? # why\n# needs\nneeds: []\n", "# why\n|    - C: D?|\n# n"),
        ('aliases: ["A?"]\nneeds: []\n', '["A?"|, "C: D?"|]'),
        ("aliases: []\n", 'aliases: [|"C: D?"|]'),
        ("aliases: [\n  A?,\n]\n", 'A?,\n| "C: D?"|]'),
        ("question: Q?\nneeds: []\n", "question: Q?\n|aliases:\n  - C: D?|\nneeds"),
        ("needs: []\naliases:\n  - A?\n", "  - A?\n|  - C: D?|\n---"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_it_is_written_as_the_list_is(front: str, line: str, end: str) -> None:
    text = f"---\n{front}{BODY}".replace("\n", end)
    before, added, after = line.replace("\n", end).split("|")
    changed = with_alias(text, "C: D?", "a.md")
    quoted = added.replace("- C: D?", "- 'C: D?'")
    assert before + quoted + after in changed
    gone = changed.replace(quoted + (end if after[:1] in "\r\n" else ""), "", 1)
    assert gone == text, "something else changed"
    meta, problems = read_front_matter(changed.replace(end, "\n"), "")
    assert problems == [] and meta["aliases"][-1] == "C: D?"


@pytest.mark.parametrize(
    "asked", ['Is "a" b?', "- x", "yes", "!!python/object:os.system x", "# a", "a\\b"]
)
@pytest.mark.parametrize("front", ["aliases: [A?]\n", "aliases:\n  - A?\n"])
def test_whatever_is_asked_is_a_text(asked: str, front: str) -> None:
    meta, _ = read_front_matter(with_alias(f"---\n{front}{BODY}", asked, "a.md"), "")
    assert meta == {"aliases": ["A?", asked]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# A\n", r"added to a\.md, which has no front matter"),
        (f"---\naliases: A?\n{BODY}", r"added to a\.md, which has none in a list"),
        (f"---\naliases:\n{BODY}", r"added to a\.md, which has none in a list"),
        (f"---\na: [\n{BODY}", r"added to a\.md, whose front matter is no YAML"),
    ],
)
def test_a_page_without_a_list_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_alias(text, "C?", "a.md")


def test_the_same_wording_is_known_in_other_dress() -> None:
    meta = {"question": "Why is λ=1?", "aliases": ["V 是什么？"]}
    assert has_wording(meta, "why is  λ=1") and has_wording(meta, "Ｖ是什么?")
    assert not has_wording(meta, "Why is λ=0?") and not has_wording({}, "Why?")


def test_an_alias_leaves_the_accord_of_the_languages_as_it_was() -> None:
    zh = f"---\nquestion: 甲？\naliases: []\n{BODY}"
    en = f"---\nquestion: A?\naliases: []\n{BODY}"
    after = with_alias(zh, "乙？", "a.md")
    recorded = lock_of(wording(zh), wording(en))
    told = judge("a", wording(after), wording(en), recorded)
    assert told.state is State.ZH_AHEAD, "an alias counts among the words of a page"
    kept = lock_after(recorded, "zh", zh, after)
    assert judge("a", wording(after), wording(en), kept).state is State.ACCORD
    changed = after.replace("甲？", "丙？")
    late = lock_after(recorded, "zh", zh.replace("甲？", "丙？"), changed)
    assert judge("a", wording(changed), wording(en), late).state is State.ZH_AHEAD
