"""new: a short page that passes the checks, or one more way to ask on a page."""

import json
import posixpath
import re
from argparse import Namespace
from collections.abc import Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from string import Template
from typing import Any

from site_tools.compile.links import SHORT
from site_tools.contributing.likeness import KnownPage, answering, search, wordings
from site_tools.contributing.pages import (
    SKELETONS,
    check_new_name,
    check_question,
    language_of_text,
    page_id,
    present_files,
)
from site_tools.contributing.talk import Talk
from site_tools.data.news import NEWS, read_news
from site_tools.data.rows import plain_yaml
from site_tools.ledger import store, store_all
from site_tools.messages import Refusal
from site_tools.source.files import read_front_matter

LINKS = 2
PAGES_SHOWN = 5  # pages that are shown: of 36 questions one of them answers 31
NO = ("n", "no", "否", "不")
DRAFT = re.compile(r"(?:.*[/\\])?(?P<file>drafts[/\\].+\.md)")
TOP_OF_PAGE = re.compile(r"---\r?\n(?:.*\n)*?(?=---)")
ALIASES_IN_BRACKETS = re.compile(r"^aliases:\s*\[(?P<inside>[^\]]*?)\s*\]", re.M)
ALIASES_IN_LINES = re.compile(r"^aliases:[ \t]*\r?\n(?:(?P<dent> *)- .*\n)+", re.M)


def new_page(options: Namespace, root: Path, talk: Talk) -> int:
    """Write the files of a page, or add a wording; a refusal has written nothing."""
    try:
        question = check_question(_asked(options.question, root))
        if options.alias:
            return add_wording(options.page, question, root, talk)
        page = page_id(options.page)
        check_new_name(page, root)
        known = search(wordings(root))(question)
        home = _home(known, talk, ask=not options.anyway)
        if home:
            return add_wording(home, question, root, talk)
        files = skeleton(page, question, known, root)
        numbered, number = with_short_address(page, root)
        news, row = with_news(page, root)
        changes: dict[Path, bytes | None] = {root / SHORT: numbered.encode()}
        changes[root / NEWS] = news.encode()
        for name, text in files.items():
            changes[root / name] = text.encode()
        store_all(changes)
    except OSError as error:
        values = {"path": error.filename, "reason": error.strerror}
        raise Refusal("unwritable", **values) from None
    talk.say("new_written", files=", ".join(files))
    talk.say("new_short", number=number, file=SHORT)
    talk.say("new_news", row=row, file=NEWS)
    lines = {"short": SHORT, "number": number, "news": NEWS, "row": row}
    talk.say("new_next", page=page, files=" ".join(files), **lines)
    if options.question != question:
        talk.say("new_draft", file=options.question)
    return 0


def with_short_address(page: str, root: Path) -> tuple[str, str]:
    """The file of short addresses with one more, the next; and that one."""
    text = _ended_lines(root / SHORT)
    number = f"q/{len(plain_yaml(text, SHORT) or {}) + 1}"
    return f"{text}{number}: {page}\n", number


def with_news(page: str, root: Path) -> tuple[str, int]:
    """The file of news with a row for the page, of today; and the row's number."""
    text, rows = _ended_lines(root / NEWS), read_news(root)
    day = max([date.today().isoformat(), *(row.date for row in rows)])
    row = len(rows) + 1
    return f"{text}- {{id: {row}, date: {day}, page: {page}}}\n", row


def _ended_lines(file: Path) -> str:
    """The text of a file to which a line can be added."""
    text = file.read_text("utf-8") if file.exists() else ""
    return f"{text}\n" if text and not text.endswith("\n") else text


def _asked(text: str, root: Path) -> str:
    """The question, or that of a draft of import, which is named by its file."""
    draft = DRAFT.fullmatch(text.strip())
    if not draft:
        return text
    path = root / draft["file"].replace("\\", "/")
    if not path.is_file():
        raise Refusal("new_no_draft", file=text)
    meta, _ = read_front_matter(path.read_text("utf-8", "replace"), text)
    return str(meta.get("question") or "")


def _home(known: Sequence[KnownPage], talk: Talk, ask: bool) -> str | None:
    """Show the nearest pages; the one that gets the wording, or None for a new page.

    Likeness can err, and misses what is said in other words: a person decides, and
    ``--yes`` does not do it for anybody.
    """
    near = [other for other in known[:PAGES_SHOWN] if other.likeness]
    perhaps = answering(known)
    for number, other in enumerate(near, 1):
        key = "new_answering" if other in perhaps else "new_near"
        talk.say(key, number=number, page=other.page, wording=other.wording)
    if not (ask and near):
        return None
    typed = None if talk.agreed else talk.typed("new_which", most=len(near))
    if typed is None and perhaps:
        raise Refusal("new_undecided")
    answer = "n" if typed is None else typed.strip().lower()
    if answer in NO:
        return None
    if answer not in map(str, range(1, len(near) + 1)):
        raise Refusal("nothing_written")
    return near[int(answer) - 1].page.partition("#")[0]


def add_wording(page: str, question: str, root: Path, talk: Talk) -> int:
    page = page_id(page)
    files = present_files(page, root)
    name = f"docs/{language_of_text(question)}/{page}.md"
    if name not in files:
        raise Refusal("wording_other_language", file=name, other=files[0])
    text = (root / name).read_bytes().decode("utf-8")
    if _only_letters(question) in _own_wordings(text, name):
        talk.say("wording_known", file=name)
        return 0
    store(root / name, with_alias(text, question, name).encode())
    talk.say("wording_added", file=name, wording=question)
    return 0


def _own_wordings(text: str, file: str) -> set[str]:
    """The letters of each wording that the front matter of a page has already."""
    meta = _meta(text, file)
    own = [meta.get("question"), meta.get("title")]
    own += meta.get("aliases") or []
    return {_only_letters(str(wording)) for wording in own if wording is not None}


def _only_letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _meta(text: str, file: str) -> dict[str, Any]:
    meta, _ = read_front_matter(text.replace("\r\n", "\n"), file)
    return meta


def with_alias(text: str, question: str, file: str) -> str:
    """A page with one alias more, last in its list; every other byte as it was."""
    front = TOP_OF_PAGE.match(text)
    if not front:
        raise Refusal("wording_no_list", file=file)
    end = "\r\n" if "\r\n" in text else "\n"
    quoted = json.dumps(question, ensure_ascii=False)
    flow = ALIASES_IN_BRACKETS.search(front[0])
    block = ALIASES_IN_LINES.search(front[0])
    if flow:
        at = flow.end("inside")
        added = f", {quoted}" if flow["inside"] else quoted
    elif block:
        at = block.end()
        added = f"{block['dent']}- {quoted}{end}"
    else:
        at = len(front[0])
        added = f"aliases:{end}  - {quoted}{end}"
    result = text[:at] + added + text[at:]
    due = _meta(text, file)
    due["aliases"] = [*(due.get("aliases") or []), question]
    if _meta(result, file) != due:
        raise Refusal("wording_no_list", file=file)
    return result


def skeleton(
    page: str, question: str, known: Sequence[KnownPage], root: Path
) -> dict[str, str]:
    """The files of a new page in the question's language, from ``skeletons``.

    What has to be replaced says TODO, which ``check`` lists and no build lets through.
    It links to the nearest of the ``known`` pages that the language has.
    """
    language, snippet = language_of_text(question), f"snippets/{page}.py"
    docs = root / "docs" / language
    near = (k.page for k in known if (docs / f"{k.page}.md").exists())
    folder = posixpath.dirname(page)
    links = [
        f"- [TODO: {other}]({posixpath.relpath(f'{other}.md', folder)})"
        for other in islice(near, LINKS)
    ]
    text = Template((SKELETONS / f"{language}.md").read_text("utf-8")).substitute(
        snippet=snippet,
        page=page,
        links="\n".join(links),
        question=json.dumps(question, ensure_ascii=False),
    )
    code = (SKELETONS / "snippet.txt").read_text("utf-8")
    return {f"docs/{language}/{page}.md": text, snippet: code}
