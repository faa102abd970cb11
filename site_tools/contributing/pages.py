"""What a contributor names: a page that is there, a file of facts, a new page."""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import yaml

from site_tools.checks.shape import TOPICS
from site_tools.data.rows import PAGE_ID
from site_tools.page.accord import page_ids
from site_tools.say import LANGUAGES, Refusal

EXAMPLE = "alignment/value_before_token"
FACTS = re.compile(r"(?:docs/)?facts/(?P<concept>[\w-]+)(?:\.yml)?")
HAN = re.compile("[㐀-鿿]")
LONGEST = 120  # columns of a question; a Chinese character takes two


def page_id(text: str) -> str:
    """The id of a page that was named by its id or by one of its files.

    Raises:
        Refusal: where it leads out of the pages.

    Example:
        >>> page_id("docs/zh/gae/variance.md"), page_id("snippets/gae/variance.py")
        ('gae/variance', 'gae/variance')
    """
    path = PurePosixPath(text.strip()[:200])  # no file has a longer name
    if path.is_absolute() or ".." in path.parts or "\\" in text:
        raise Refusal("page_outside", text=text)
    folder = path.parts[0] if path.parts else ""
    if folder == "docs":
        path = PurePosixPath(*path.parts[2:])
    if folder == "snippets":
        return str(PurePosixPath(*path.parts[1:]).with_suffix(""))
    return str(path.with_suffix("") if path.suffix == ".md" else path)


def files_of(text: str, root: Path) -> list[str]:
    """The files of a page in either language, relative to the project.

    Raises:
        Refusal: where there is none, with the nearest page.
    """
    page = page_id(text)
    files = [f"docs/{language}/{page}.md" for language in LANGUAGES]
    present = [file for file in files if (root / file).is_file()]
    if not present:
        nearest = difflib.get_close_matches(page, page_ids(root), n=1, cutoff=0)
        raise Refusal("page_unknown", page=page, nearest=(nearest or [EXAMPLE])[0])
    return present


def facts_of(names: Iterable[str], root: Path) -> dict[str, str]:
    """The concepts of those names that are files of facts, by the name.

    Raises:
        Refusal: where there is no such file, with the nearest.
    """
    matches = {name: FACTS.fullmatch(name.strip()) for name in names}
    concepts = {name: match["concept"] for name, match in matches.items() if match}
    known = [file.stem for file in sorted((root / "docs/facts").glob("*.yml"))]
    for concept in concepts.values():
        if concept not in known:
            nearest = difflib.get_close_matches(concept, known, n=1, cutoff=0)
            raise Refusal(
                "facts_file_unknown",
                concept=concept,
                nearest=(nearest or ["returns"])[0],
            )
    return concepts


def check_new_name(page: str, root: Path) -> None:
    """Refuse a name for a new page that is no id of a question page, or is in use."""
    topic, _, name = page.partition("/")
    if not re.fullmatch(PAGE_ID, page):
        raise Refusal("name_odd", page=page, suggestion=_suggested(page))
    if topic not in TOPICS:
        nearest = difflib.get_close_matches(topic, TOPICS, n=1, cutoff=0)[0]
        topics = ", ".join(TOPICS)
        raise Refusal("topic_unknown", topic=topic, nearest=nearest, topics=topics)
    if name == "index":
        raise Refusal("name_index", page=page)
    docs = [f"docs/{language}/{page}.md" for language in LANGUAGES]
    files = [*docs, f"snippets/{page}.py", f"snippets/{page}.svg"]
    taken = [file for file in files if (root / file).exists()]
    pages = page_ids(root)
    if taken:
        key = "name_of_page" if taken[0] in docs else "name_taken"
        others = [p.removeprefix(f"{topic}/") for p in pages if p.startswith(topic)]
        others = [other for other in others if other not in (name, "index")]
        raise Refusal(
            key,
            page=page,
            files=", ".join(taken),
            topic=topic,
            others=", ".join(others),
        )
    file = root / "docs/redirects.yml"
    # The build judges the file; here it says which names are taken.
    text = file.read_text("utf-8") if file.exists() else ""
    moves: dict[str, str] = yaml.safe_load(text) or {}
    if page in moves:
        raise Refusal("name_redirected", page=page, new=moves[page])


def _suggested(page: str) -> str:
    """An id near a name that is none: ``gae/steps`` for ``gae/2 Steps!``."""
    parts = [re.sub(r"\W+|_+", "_", part, flags=re.ASCII) for part in page.split("/")]
    parts = [part.lower().strip("_") for part in parts if part.strip("_")]
    topic = difflib.get_close_matches(parts[0], TOPICS, n=1) if parts else []
    name = "_".join(parts[1:] if topic else parts).lstrip("0123456789_")
    return f"{(topic or ['gae'])[0]}/{name or 'short_name'}"


def check_question(text: str) -> str:
    """A question as the front matter of a page can hold it: one line of words.

    Raises:
        Refusal: saying what must hold and what came.
    """
    if not text.strip():
        raise Refusal("question_empty")
    if len(text.strip().splitlines()) > 1:
        raise Refusal("question_lines", text=repr(text.strip()))
    question = " ".join(text.split())
    for sign in question:
        if not sign.isprintable():
            raise Refusal("question_invisible", sign=f"U+{ord(sign):04X}")
    if not re.search(r"[^\W_]", question):
        raise Refusal("question_wordless", text=question)
    wide = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in question)
    if wide > LONGEST:
        raise Refusal("question_long", most=LONGEST, wide=wide)
    return question


def language_of_text(text: str) -> str:
    """The language of a question: Chinese as soon as one character is."""
    return "zh" if HAN.search(text) else "en"
