"""The pages that a command is about: named, changed, or new."""

import os
import posixpath
import re
import subprocess
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

import yaml

from site_tools.contributing.talk import Talk
from site_tools.data.rows import PAGE_ID
from site_tools.data.topics import TOPICS
from site_tools.messages import LANGUAGES, Refusal, nearest
from site_tools.source.content import columns
from site_tools.source.files import page_ids, text_of

SKELETONS = Path(__file__).with_name("skeletons")
BRANCHES = ("origin/main", "main", "HEAD")
EXAMPLE = "alignment/value_before_token"
FILE_OF_PAGE = re.compile(r"(?:.*/)?(?:docs/(?:zh|en)|snippets)/(?P<page>.*)")
SUFFIXES = (".md", ".py", ".svg")
FACTS = re.compile(r"(?:(?:.*/)?docs/)?facts/(?P<concept>[\w-]+)(?:\.yml)?")
MOVES = ("docs/redirects.yml", "docs/short.yml")  # checked whenever a page is
ANY_HAN = re.compile("[㐀-鿿]")
LONGEST = 120  # columns of a question; a Chinese character takes two


def page_id(text: str) -> str:
    """The id of a page that was named by its id or by one of its files.

    A path may be whole, one of Windows, or as seen from a folder of pages: that in
    which make was called is in the environment.
    """
    name = text.strip()[:200].replace("\\", "/")  # no file has a longer one
    here = FILE_OF_PAGE.match(f"{os.environ.get('PWD')}/")
    file = FILE_OF_PAGE.match(name)
    if file:
        name = file["page"]
    elif here and (name.startswith(".") or "/" not in name):
        name = posixpath.normpath(here["page"] + name)
    path = PurePosixPath(name)
    if not path.name or path.is_absolute() or ".." in path.parts or ":" in name:
        raise Refusal("page_outside", text=text or '""')
    return str(path.with_suffix("") if path.suffix in SUFFIXES else path)


def present_files(text: str, root: Path) -> list[str]:
    page = page_id(text)
    present = [file for file in _docs(page) if (root / file).is_file()]
    if not present:
        near = nearest(page, page_ids(root), EXAMPLE)
        raise Refusal("page_unknown", page=page, nearest=near)
    return present


def _docs(page: str) -> list[str]:
    return [f"docs/{language}/{page}.md" for language in LANGUAGES]


def facts_of(names: Iterable[str], root: Path) -> dict[str, str]:
    """The names that are concepts of ``docs/facts``, and the concepts."""
    known = [file.stem for file in sorted((root / "docs/facts").glob("*.yml"))]
    concepts = {}
    for name in names:
        match = FACTS.fullmatch(name.strip().replace("\\", "/"))
        if not match:
            continue
        concept = match["concept"]
        if concept not in known:
            near = nearest(concept, [*known, "returns"])
            raise Refusal("facts_file_unknown", concept=concept, nearest=near)
        concepts[name] = concept
    return concepts


def changed(root: Path, talk: Talk, command: str) -> list[str]:
    """Pages that differ from the main branch, and for check and fix facts as well."""
    try:
        files = changed_files(root)
    except Refusal as error:
        values = {"reason": error, "command": command, "page": EXAMPLE}
        raise Refusal("changed_unknown", **values) from None
    names = changed_pages(files, root)
    if command in ("check", "fix"):
        for file in files:
            data = FACTS.fullmatch(file) or file in MOVES
            if data and (root / file).is_file():
                names.append(file)
    if not names:
        talk.say("changed_none", command=command, page=EXAMPLE)
    return names


def changed_files(root: Path) -> list[str]:
    """Files that differ from the main branch, committed or not, new ones among them."""
    base = _base(root)
    tracked = _git(root, "diff", "--name-only", "-z", "--relative", base, "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    names = tracked.split("\0") + new.split("\0")
    return sorted(set(filter(None, names)))


def _base(root: Path) -> str:
    """The commit at which this branch left the main one."""
    for branch in BRANCHES:
        base = _git(root, "merge-base", "HEAD", branch).strip()
        if base:
            return base
    raise Refusal("git_without_commit")


def versions(root: Path, file: str) -> Iterator[str]:
    """The texts that a file has had in git, the newest first."""
    for commit in _git(root, "log", "--format=%H", "--", file).split():
        yield _git(root, "show", f"{commit}:./{file}")


def _git(root: Path, *words: str) -> str:
    try:
        command = ["git", "-C", str(root), *words]
        done = subprocess.run(command, capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return ""
    return done.stdout.decode(errors="surrogateescape")


def changed_pages(files: Iterable[str], root: Path) -> list[str]:
    changed = list(files)
    pages = []
    for page in page_ids(root):
        texts = []
        for file in _docs(page):
            if (root / file).is_file():
                texts.append(text_of(root / file))
        text = "\n".join(texts)
        if any(_concerns(file, page, text) for file in changed):
            pages.append(page)
    return pages


def _concerns(file: str, page: str, text: str) -> bool:
    if file.startswith("snippets/"):
        name = file.removeprefix("snippets/")
        own = name.rpartition(".")[0] == page
        return own or f'"{name}' in text or f"({name.rpartition('/')[2]})" in text
    if file.startswith("docs/facts/"):
        concept = Path(file).stem
        return any(line.startswith(f"{concept} ") for line in text.splitlines())
    return file in _docs(page)


def check_new_name(page: str, root: Path, topics: Collection[str] = TOPICS) -> None:
    """Refuse a name for a new page that is no id of a question page, or is in use."""
    topic = page.partition("/")[0]
    if not re.fullmatch(PAGE_ID, page):
        raise Refusal("name_odd", page=page)
    if topic not in topics:
        near, known = nearest(topic, topics), ", ".join(topics)
        raise Refusal("topic_unknown", topic=topic, nearest=near, topics=known)
    files = [*_docs(page), f"snippets/{page}.py", f"snippets/{page}.svg"]
    if taken := [file for file in files if (root / file).exists()]:
        raise Refusal("name_taken", page=page, files=", ".join(taken))
    # The build judges the file of redirects; here it says which names are taken.
    moves = root / "docs/redirects.yml"
    text = moves.read_text("utf-8") if moves.exists() else ""
    if new := (yaml.safe_load(text) or {}).get(page):
        raise Refusal("name_redirected", page=page, new=new)


def check_question(text: str) -> str:
    """A question as the front matter of a page can hold it: one line of words."""
    question = "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
    if not re.search(r"[^\W_]", question):
        raise Refusal("question_wordless", text=question)
    if (wide := columns(question)) > LONGEST:
        raise Refusal("question_long", most=LONGEST, wide=wide)
    return question


def language_of_text(text: str) -> str:
    """The language of a question: Chinese as soon as one character is."""
    return "zh" if ANY_HAN.search(text) else "en"
