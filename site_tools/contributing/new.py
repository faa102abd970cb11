"""new: a short page that passes the checks, or one more way to ask on a page."""

import json
import posixpath
import re
from argparse import Namespace
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from string import Template

from site_tools.contributing.likeness import Known, answering, search, wordings
from site_tools.contributing.pages import (
    SKELETONS,
    check_new_name,
    check_question,
    files_of,
    language_of_text,
    page_id,
)
from site_tools.contributing.talk import Talk
from site_tools.ledger import store, store_new
from site_tools.messages import Refusal
from site_tools.source.files import read_front_matter

LINKS = 2
PAGES_SHOWN = 5  # pages that are shown: of 36 questions one of them answers 31
NO = ("n", "no", "否", "不")
DRAFT = re.compile(r"(?:.*[/\\])?(?P<file>drafts[/\\].+\.md)")


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
        store_new({root / name: text.encode() for name, text in files.items()})
    except OSError as error:
        values = {"path": error.filename, "reason": error.strerror}
        raise Refusal("unwritable", **values) from None
    talk.say("new_written", files=", ".join(files))
    talk.say("new_next", page=page, files=" ".join(files))
    if options.question != question:
        talk.say("new_draft", file=options.question)
    return 0


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


def _home(known: Sequence[Known], talk: Talk, ask: bool) -> str | None:
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
    files, name = files_of(page, root), f"docs/{language_of_text(question)}/{page}.md"
    if name not in files:
        raise Refusal("wording_other_language", file=name, other=files[0])
    text = (root / name).read_bytes().decode("utf-8")
    meta, _ = read_front_matter(text.replace("\r\n", "\n"), name)
    own = [meta.get("question"), meta.get("title"), *(meta.get("aliases") or ())]
    if _letters(question) in {_letters(str(text)) for text in own if text is not None}:
        talk.say("wording_known", file=name)
        return 0
    store(root / name, with_alias(text, question, name).encode())
    talk.say("wording_added", file=name, wording=question)
    return 0


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def with_alias(text: str, question: str, file: str) -> str:
    """A page with one alias more, last in its list; every other byte as it was."""
    end = "\r\n" if "\r\n" in text else "\n"
    front = re.match(r"---\r?\n(?:.*\n)*?(?=---)", text)
    top, quoted = front[0] if front else "", json.dumps(question, ensure_ascii=False)
    flow = re.search(r"^aliases:\s*\[(?P<inside>[^\]]*?)\s*\]", top, re.M)
    block = re.search(r"^aliases:[ \t]*\r?\n(?:(?P<dent> *)- .*\n)+", top, re.M)
    if flow:
        comma = ", " if flow["inside"] else ""
        at, added = flow.end("inside"), comma + quoted
    elif block:
        at, added = block.end(), f"{block['dent']}- {quoted}{end}"
    else:
        at, added = len(top), f"aliases:{end}  - {quoted}{end}"
    result = text[:at] + added + text[at:]
    old, _ = read_front_matter(text.replace("\r\n", "\n"), file)
    new, _ = read_front_matter(result.replace("\r\n", "\n"), file)
    if not front or new != {**old, "aliases": [*(old.get("aliases") or []), question]}:
        raise Refusal("wording_no_list", file=file)
    return result


def skeleton(
    page: str, question: str, known: Sequence[Known], root: Path
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
