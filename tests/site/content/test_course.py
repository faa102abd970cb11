"""The course leads on to no page that uses what it has not taught by then."""

import posixpath
import re
import shutil
from pathlib import Path

import pytest

from site_tools.compile.navigation import Answer, answers
from site_tools.data.names import named, pattern, read_names, vocabulary
from site_tools.data.topics import TOPICS
from site_tools.source.content import read_content
from site_tools.source.inline import plain_prose
from tests.layout import ROOT

LANGUAGES = ("zh", "en")
# Where to go from these is for all who have finished.
ENDS = {"course/one_file", "course/test"}
LAB = "notebooks/index"  # to be played with, not to be read
LINK = re.compile(r"\]\(([\w./]+)\.md(?:#([\w-]+))?\)")
EXPLAINED = re.compile(r"(\*{1,2})(?!\s)([^*\n]+)\1")
NAMES = read_names(ROOT)
WORDS = {lang: vocabulary(NAMES, lang)[0] for lang in LANGUAGES}
PATTERN = {lang: pattern(tuple(WORDS[lang]), lang) for lang in LANGUAGES}


def pages(root: Path, lang: str) -> dict[str, Answer]:
    """The pages that say what they build on."""
    folders = ("course", *TOPICS, "notebooks")
    return {answer.page: answer for answer in answers(root, lang, folders)}


def body(root: Path, lang: str, page: str) -> str:
    return read_content((root / f"docs/{lang}/{page}.md").read_text("utf-8")).body


def section(text: str, name: str) -> str:
    """The text below the heading with this id, if there is one, up to the next."""
    _, _, begun = text.partition(f"{{ #{name} }}\n")
    return re.split(r"^#{2,} ", begun, flags=re.M)[0]


def needed(page: str, known: dict[str, Answer]) -> set[str]:
    """The page and all that it builds on."""
    return {page}.union(*(needed(need, known) for need in known[page].needs))


def links_on(root: Path, lang: str) -> list[tuple[str, str, str]]:
    """Where the end of a step leads: the step, a page that is no step, its anchor."""
    found = []
    steps = {page for page in pages(root, lang) if page.startswith("course/")}
    for step in sorted(steps - ENDS):
        text = body(root, lang, step)
        for path, anchor in LINK.findall(section(text, "next")):
            page = posixpath.normpath(posixpath.join("course", path))
            if not page.startswith("course/") and page != LAB:
                found.append((step, page, anchor))
    return found


def taught(root: Path) -> dict[str, set[str]]:
    """The steps that teach each idea: by the glossary, or a term in bold or italics."""
    steps: dict[str, set[str]] = {}
    for name in NAMES:
        page = name.where.partition("#")[0]
        steps[name.id] = {page} if page.startswith("course/") else set()
    for lang in LANGUAGES:
        for page in (page for page in pages(root, lang) if page.startswith("course/")):
            for _, term in EXPLAINED.findall(body(root, lang, page)):
                if name := named(term.rstrip("."), WORDS[lang]):
                    steps[name.id].add(page)
    return steps


def too_early(root: Path, lang: str) -> list[str]:
    """Each link from a step to what needs a later one, with what it needs."""
    known, lessons = pages(root, lang), taught(root)
    faults = []
    for step, page, anchor in links_on(root, lang):
        link, so_far = f"{page}#{anchor}" if anchor else page, needed(step, known)
        if page not in known:
            if not anchor:
                faults.append(
                    f"{step} leads to {link}, which says nothing of its needs"
                )
        elif not anchor:
            later = {need for need in needed(page, known) if need.startswith("course/")}
            later -= so_far
            if later:
                faults.append(f"{step} leads to {link}, which needs {sorted(later)}")
        text = plain_prose(section(body(root, lang, page), anchor or "answer"))
        for word in {match[0] for match in PATTERN[lang].finditer(text)}:
            name = named(word, WORDS[lang])
            if name and lessons[name.id] and lessons[name.id].isdisjoint(so_far):
                faults.append(f"{step} leads to {link}, which says {name.id}")
    return sorted({*faults})


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_step_leads_to_nothing_that_uses_a_later_one(lang):
    assert len(links_on(ROOT, lang)) > 10
    assert "\n".join(too_early(ROOT, lang)) == ""


def test_a_link_that_comes_too_early_is_told(tmp_path):
    for lang in LANGUAGES:
        shutil.copytree(ROOT / f"docs/{lang}", tmp_path / f"docs/{lang}")
    step = tmp_path / "docs/en/course/goal.md"
    targets = ("pipeline/four_modules.md", "debug/symptoms.md#kl", "debug/symptoms.md")
    links = " ".join(f"[here](../{target})" for target in targets)
    step.write_text(f"{step.read_text('utf-8')}{links}\n", "utf-8")
    faults = too_early(tmp_path, "en")
    starts = ("needs ['course/", "says critic", "says kl", "says nothing of its needs")
    for told in starts:
        assert any(told in fault for fault in faults), told
    assert all(fault.startswith("course/goal leads to ") for fault in faults)


STEP = re.compile(r"^(\d+) · ")
# A link to a step that says its number: its text, the page.
NUMBERED = re.compile(
    r"\[(?:(?:[Ss]tep |第 )(\d+)|(\d+) · )[^\]]*\]"
    r"\((?:\.\./course/|course/)?(\w+)\.md"
)


def wrong_numbers(root: Path, lang: str) -> list[str]:
    """Steps that are not numbered as they are read, links that say another number."""
    titles = {
        answer.page.removeprefix("course/"): STEP.match(answer.title)
        for answer in answers(root, lang, ("course",))
    }
    steps = {page: int(match[1]) for page, match in titles.items() if match}
    faults = [
        f"{page} is step {number}, read as step {place}"
        for place, (page, number) in enumerate(steps.items())
        if number != place
    ]
    for file in sorted((root / f"docs/{lang}").rglob("*.md")):
        for by_name, in_list, page in NUMBERED.findall(file.read_text("utf-8")):
            said = by_name or in_list
            if page in steps and int(said) != steps[page]:
                faults.append(f"{file.stem} says {said} of {page}, step {steps[page]}")
    return faults


@pytest.mark.parametrize("lang", LANGUAGES)
def test_steps_are_numbered_as_they_are_read(lang, tmp_path):
    assert wrong_numbers(ROOT, lang) == []
    shutil.copytree(ROOT / f"docs/{lang}", tmp_path / f"docs/{lang}")
    step = tmp_path / f"docs/{lang}/course/goal.md"
    text = step.read_text("utf-8")
    step.write_text(f"{text}\n[3 · x](policy_gradient.md)\n", "utf-8")
    assert wrong_numbers(tmp_path, lang) == ["goal says 3 of policy_gradient, step 2"]
