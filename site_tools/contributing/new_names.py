"""What a new page may be called, and what a question may be."""

import difflib
import re
import unicodedata
from pathlib import Path

from site_tools.checks.accord import page_ids
from site_tools.checks.shape import TOPICS
from site_tools.data import redirects
from site_tools.data.rows import PAGE_ID
from site_tools.page.page import LANGUAGES

LONGEST = 120  # columns; a Chinese character takes two
HAN = re.compile("[㐀-鿿]")


def check_name(page: str) -> None:
    """Refuse what is no id of a question page.

    Raises:
        ValueError: saying which characters are allowed, with what could be meant.

    Example:
        >>> check_name("GAE/Why-Sum")
        Traceback (most recent call last):
        ValueError: A page is topic/name in small letters, digits and _, the name \
beginning with a letter; got GAE/Why-Sum; as in gae/why_sum
    """
    topic, _, name = page.partition("/")
    if topic not in TOPICS and re.fullmatch(PAGE_ID, page):
        nearest = difflib.get_close_matches(topic, TOPICS, n=1, cutoff=0)[0]
        raise ValueError(
            f"No topic {topic}; the nearest is {nearest}, all are {', '.join(TOPICS)}"
        )
    if name == "index":
        raise ValueError(f"{page} is the list of a topic; a page needs another name")
    if not re.fullmatch(PAGE_ID, page):
        raise ValueError(
            "A page is topic/name in small letters, digits and _, the name beginning "
            f"with a letter; got {page}; as in {suggested(page)}"
        )


def suggested(page: str) -> str:
    """What somebody may have meant who gave no id of a page.

    Example:
        >>> suggested("gae/2 Steps!"), suggested("为什么")
        ('gae/steps', 'gae/short_name')
    """
    parts = [re.sub(r"\W+|_+", "_", part, flags=re.ASCII) for part in page.split("/")]
    parts = [part.lower().strip("_") for part in parts if part.strip("_")]
    topic = difflib.get_close_matches(parts[0], TOPICS, n=1) if parts else []
    name = "_".join(parts[1:] if topic else parts).lstrip("0123456789_")
    return f"{(topic or ['gae'])[0]}/{name or 'short_name'}"


def check_free(page: str, root: Path) -> None:
    """Refuse an id that is in use, or was.

    Args:
        page: As in ``gae/why_sum``.
        root: The project's folder.

    Raises:
        ValueError: naming the files in the way and the other names of the topic.
    """
    topic, _, name = page.partition("/")
    docs = [f"docs/{language}/{page}.md" for language in LANGUAGES]
    files = [*docs, *(f"snippets/{page}.{kind}" for kind in ("py", "svg"))]
    taken = [file for file in files if (root / file).exists()]
    pages = page_ids(root)
    used = [at.rpartition("/")[2] for at in pages if at.startswith(f"{topic}/")]
    others = ", ".join(other for other in used if other not in ("index", name))
    if taken:
        told = f"{page} is taken: {', '.join(taken)}; also in use in {topic}: {others}"
        if taken[0] not in docs:
            raise ValueError(told)
        raise ValueError(
            f"{told}; to add a wording there: make new PAGE={page} Q=... ARGS=--alias"
        )
    moves = root / "docs" / "redirects.yml"
    rows = redirects.parse(moves.read_text("utf-8"), pages) if moves.exists() else {}
    for old, new in rows.items():
        if old.page == page:
            raise ValueError(f"{page} is taken: docs/redirects.yml leads it to {new}")


def check_question(text: str) -> str:
    """A question as it can stand in the front matter: one line of words.

    Raises:
        ValueError: saying what must hold and what came.

    Example:
        >>> check_question("Why　add deltas? ")
        'Why add deltas?'
    """
    if not text.strip():
        raise ValueError('The question is empty; as in Q="Why add deltas?"')
    if len(text.strip().splitlines()) > 1:
        raise ValueError(f"A question must stand on one line, got {text.strip()!r}")
    question = " ".join(text.split())
    for sign in question:
        if not sign.isprintable():
            raise ValueError(
                f"A question must have no invisible characters, got U+{ord(sign):04X}"
            )
    if not re.search(r"[^\W_]", question):
        raise ValueError(f"A question must have words, got {question}")
    wide = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in question)
    if wide > LONGEST:
        raise ValueError(
            f"A question must have at most {LONGEST} columns (a Chinese character "
            f"takes two), got {wide}; put the rest into the answer"
        )
    return question


def language_of(question: str) -> str:
    """The language that a question is asked in.

    Example:
        >>> language_of("GAE 是什么？"), language_of("What is GAE?")
        ('zh', 'en')
    """
    return "zh" if HAN.search(question) else "en"
