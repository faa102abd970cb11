"""new: a short page that passes the checks, or one more way to ask on a page."""

import json
import posixpath
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from site_tools.contributing.likeness import MOST, Known, answering, nearest, wordings
from site_tools.contributing.pages import (
    check_new_name,
    check_question,
    files_of,
    language_of_text,
    page_id,
)
from site_tools.contributing.talk import LANGUAGES, Refusal, Talk, data_is_read
from site_tools.data import locks
from site_tools.data.rows import figure_in
from site_tools.ledger import store, store_together
from site_tools.page import tree
from site_tools.page.fences import scan
from site_tools.page.front_matter import read_front_matter
from site_tools.page.prose import FRONT_MATTER
from site_tools.page.wording import FRONT, wording

SKELETONS = Path(__file__).with_name("skeletons")
LINKS = 2


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    parser.add_argument("page", metavar="TOPIC/ID", help=talk.text("new_page"))
    parser.add_argument("--question", default="", help=talk.text("new_question"))
    choices = (*LANGUAGES, "both")
    parser.add_argument("--write", choices=choices, help=talk.text("new_write"))
    parser.add_argument("--alias", action="store_true", help=talk.text("new_alias"))
    parser.add_argument("--anyway", action="store_true", help=talk.text("new_anyway"))
    parser.add_argument("--draft", metavar="FILE", help=talk.text("new_draft"))


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Write the files, or say why not.

    Raises:
        Refusal: where the id or the question cannot be taken; nothing is written.
    """
    try:
        draft = read_draft(options.draft) if options.draft else NOTHING
        question = check_question(options.question or draft.question)
        if options.alias:
            return add_wording(options.page, question, root, talk)
        page = page_id(options.page)
        check_new_name(page, root)
        with data_is_read():
            known = nearest(question, wordings(root))
        home = show_answering(known, talk)
        if not options.anyway and (old := _home(home, talk)):
            return add_wording(old, question, root, talk)
        return _write(page, question, options, known, draft, root, talk)
    except OSError as error:
        reason = Refusal("as_it_is", text=error.strerror)
        raise Refusal("new_unwritable", file=error.filename, reason=reason) from None


def _write(
    page: str,
    question: str,
    options: Namespace,
    known: Sequence[Known],
    draft: "Draft",
    root: Path,
    talk: Talk,
) -> int:
    choice = options.write or language_of_text(question)
    languages = LANGUAGES if choice == "both" else (choice,)
    with data_is_read():
        links = links_to(page, known, languages, root)
    files = skeleton(page, question, languages, links, draft)
    store_together({root / name: text.encode() for name, text in files.items()})
    talk.say("new_written", files=", ".join(files))
    if options.draft:
        talk.say("new_draft_stays", file=options.draft)
    talk.say("new_next", page=page, files=" ".join(files))
    return 0


def show_answering(known: Sequence[Known], talk: Talk) -> list[Known]:
    """Show the nearest pages, and return those that perhaps answer the question."""
    found = answering(known)
    for other in known[:MOST]:
        key = "new_answering" if other in found else "new_near"
        if other.likeness:
            talk.say(key, page=other.page, wording=other.wording)
    return found


def _home(found: Sequence[Known], talk: Talk) -> str | None:
    """The page that gets the wording, or None where a new one is to be written.

    Likeness can err: a person decides, and ``--yes`` does not do it for anybody.

    Raises:
        Refusal: where nobody decides, or neither is wanted.
    """
    for other in found:
        if _decided(talk.decide("new_is_it", page=other.page)):
            return other.page.partition("#")[0]
    if found and not _decided(talk.decide("new_all_the_same")):
        raise Refusal("nothing_written")
    return None


def _decided(answer: bool | None) -> bool:
    if answer is None:
        raise Refusal("new_undecided")
    return answer


# One more way to ask, on a page that is there.


def add_wording(page: str, question: str, root: Path, talk: Talk) -> int:
    """Add a wording to a page in its own language, and keep the page's lock true.

    Raises:
        Refusal: where there is no such page in the language of the wording, or its
            front matter or its lock cannot be read.
    """
    page = page_id(page)
    files, language = files_of(page, root), language_of_text(question)
    name = f"docs/{language}/{page}.md"
    if name not in files:
        raise Refusal("wording_other_language", file=name, other=files[0])
    before = (root / name).read_bytes().decode("utf-8")
    meta, _ = read_front_matter(before.replace("\r\n", "\n"), name)
    own = [meta.get("question"), meta.get("title"), *(meta.get("aliases") or ())]
    if _bare(question) in {_bare(str(text)) for text in own if text is not None}:
        talk.say("wording_known", file=name)
        return 0
    after = with_alias(before, question, name)
    lock = root / locks.lock_path(page)
    with data_is_read():
        text = lock.read_text("utf-8") if lock.is_file() else ""
        recorded = locks.parse(text, page)
    kept = lock_after(recorded, language, before, after)
    store(root / name, after.encode())
    talk.say("wording_added", file=name, wording=question)
    if kept != recorded:
        store(lock, locks.write(kept).encode())
        talk.say("wording_lock", lock=locks.lock_path(page))
    return 0


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def with_alias(text: str, question: str, file: str) -> str:
    """A page with one alias more, last in its list; every other byte as it was.

    Raises:
        Refusal: where the list cannot be extended without touching more.

    Example:
        >>> print(with_alias("---\\naliases: [B?]\\n---\\n", "C, D?", "a.md"), end="")
        ---
        aliases: [B?, "C, D?"]
        ---
    """
    end = "\r\n" if "\r\n" in text else "\n"
    front = FRONT_MATTER.match(text.replace("\r\n", "\n"))
    if front is None:
        raise Refusal("wording_no_front_matter", file=file)
    top = front[0].replace("\n", end)
    quoted = json.dumps(question, ensure_ascii=False)
    flow = re.search(r"^aliases:\s*\[(?P<inside>[^\]]*)\]", top, re.M)
    block = re.search(r"^aliases:[ \t]*\r?\n(?:(?P<dent> *)- .*\n)+", top, re.M)
    if flow:
        inside = flow["inside"].rstrip()
        between = "" if not inside else " " if inside.endswith(",") else ", "
        at, added = flow.end() - 1, between + quoted
    elif block:
        at, added = block.end(), f"{block['dent']}- {quoted}{end}"
    elif "aliases" not in top:
        at, added = len(top.rstrip()) - 3, f"aliases:{end}  - {quoted}{end}"
    else:
        raise Refusal("wording_no_list", file=file)
    result = text[:at] + added + text[at:]
    old, _ = read_front_matter(text.replace("\r\n", "\n"), file)
    new, _ = read_front_matter(result.replace("\r\n", "\n"), file)
    if new != {**old, "aliases": [*(old.get("aliases") or []), question]}:
        raise Refusal("wording_no_list", file=file)
    return result


def lock_after(lock: locks.Lock, language: str, before: str, after: str) -> locks.Lock:
    """The lock of a page that got an alias in one language.

    An alias states nothing that the other language would have to say too, so what was
    in accord stays so; what waited before goes on waiting.
    """
    old, new = (locks.digest(wording(text).get(FRONT, "")) for text in (before, after))
    if FRONT not in lock or getattr(lock[FRONT], language) != old:
        return lock
    return {**lock, FRONT: lock[FRONT]._replace(**{language: new})}


# A new page.


class Draft(NamedTuple):
    """What a page takes from a draft of ``import``: no sentence, nobody verified them.

    Args:
        question: As it was asked.
        aliases: Other wordings of it.
        code: Blocks that nobody has run.
    """

    question: str = ""
    aliases: tuple[str, ...] = ()
    code: tuple[str, ...] = ()


NOTHING = Draft()


def read_draft(name: str) -> Draft:
    """Read a draft: a page whose front matter has the question.

    Raises:
        Refusal: where it is none.
    """
    try:
        text = Path(name).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal("draft_encoding", file=name) from None
    meta, problems = read_front_matter(text, name)
    question, aliases = meta.get("question"), meta.get("aliases") or []
    if problems or not isinstance(question, str) or not isinstance(aliases, list):
        raise Refusal("draft_unlike", file=name)
    code = [f for f in scan(text, name)[0] if "norun" in re.findall(r"\w+", f.info)]
    return Draft(
        question,
        tuple(str(alias) for alias in aliases if _fits(str(alias))),
        tuple("\n".join(fence.lines) for fence in code if any(fence.lines)),
    )


def _fits(alias: str) -> bool:
    try:
        return bool(check_question(alias))
    except Refusal:
        return False


def skeleton(
    page: str,
    question: str,
    languages: Sequence[str],
    links: Mapping[str, str],
    draft: Draft = NOTHING,
) -> dict[str, str]:
    """The files of a new page and what they hold.

    Their texts lie in ``skeletons``. What has to be replaced says TODO, which ``check``
    lists and no build lets through.

    Args:
        page: As in ``gae/why_sum``.
        question: As it was asked.
        languages: Those to write.
        links: The last lines of the page, in each language.
        draft: Of a chat, where the page begins with one.
    """
    snippet, files = f"snippets/{page}.py", {}
    for language in languages:
        talk, own = Talk(language), language_of_text(question) == language
        translated = talk.text("skeleton_translate", question=question)
        title = question if own or len(languages) == 1 else translated
        aliases = [a for a in draft.aliases if language_of_text(a) == language]
        row = yaml.safe_dump({"question": title}, allow_unicode=True, width=10**6)
        text = (SKELETONS / f"{language}.md").read_text("utf-8")
        files[f"docs/{language}/{page}.md"] = (
            text.replace("{snippet}", snippet)
            .replace("{page}", page)
            .replace("{links}", links[language])
            .replace("{chat}", _code(draft, talk))
            .replace("{aliases}", json.dumps(aliases, ensure_ascii=False))
            .replace("{question}", row.rstrip("\n"))  # last: it may hold any braces
        )
    return {**files, snippet: (SKELETONS / "snippet.txt").read_text("utf-8")}


def _code(draft: Draft, talk: Talk) -> str:
    """The code of a draft as a page shows it, with what is to be done about it."""
    if not draft.code:
        return ""
    reason = talk.text("skeleton_code_reason")
    text = talk.text("skeleton_code") + "\n\n"
    for code in draft.code:
        mark = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
        info = f'{{ .python .norun data-reason="{reason}" }}'
        text += f"{mark}{info}\n{code}\n{mark}\n\n"
    return text


def links_to(
    page: str, known: Sequence[Known], languages: Sequence[str], root: Path
) -> dict[str, str]:
    """A line for each of the nearest pages that all these languages have.

    A page whose title has a figure is left out: nothing would bind it here.

    Raises:
        ValueError: naming a page that cannot be read.
    """
    titles = {language: _titles(root / "docs" / language) for language in languages}
    near = [k.page for k in known if all(k.page in own for own in titles.values())]
    folder = posixpath.dirname(page)
    return {
        language: "\n".join(
            f"- [{own[other]}]({posixpath.relpath(f'{other}.md', folder)})"
            for other in near[:LINKS]
        )
        for language, own in titles.items()
    }


def _titles(docs: Path) -> dict[str, Any]:
    fronts = tree.front_matters(docs).items()
    titles = {
        p: str(front.get("question", front.get("title", ""))) for p, front in fronts
    }
    return {
        path.removesuffix(".md"): title
        for path, title in titles.items()
        if title and not figure_in(title)
    }
