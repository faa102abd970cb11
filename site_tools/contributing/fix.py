"""fix: mend what has one right form, show it as a diff, and say what is left.

No mending changes what a page says: without blanks, and with full-width and half-width
punctuation taken as equal, the text is the same, and code, formulas and addresses are
the same to the byte.
"""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from shlex import quote

from site_tools.contributing.mend_facts import mended_facts
from site_tools.contributing.pages import (
    changed,
    facts_of,
    page_id,
    present_files,
)
from site_tools.contributing.talk import Talk
from site_tools.judge.all import judge
from site_tools.judge.outputs import MISTAKES, check_block
from site_tools.judge.typography import typeset_chinese
from site_tools.ledger import store
from site_tools.messages import LANGUAGES, Message, Problem, Refusal
from site_tools.page.page import Page, read_page
from site_tools.page.twins import with_agreement_kept
from site_tools.run.execution import Verified, start_pages
from site_tools.source.blocks import Block
from site_tools.source.fences import scan

OldAndNew = tuple[str, str]  # the text there is, and the one that replaces it


def fix_pages(options: Namespace, root: Path, talk: Talk) -> int:
    """Mend pages: all is computed and shown, then stored, or nothing is."""
    names = options.pages or changed(root, talk, "fix")
    concepts = facts_of(names, root)
    files = dict[str, list[str]]()
    for name in names:
        if name not in concepts:
            page = page_id(name)
            files[page] = present_files(page, root)
    texts, told = _mended_facts(concepts.values(), root)
    for message in told:
        talk.show(talk.of(message))
    for page, paths in files.items():
        texts.update(_mend(root, page, paths))
    talk.show(patch(texts))
    outputs = dict[str, str]()
    for paths in files.values():
        outputs.update(with_outputs(root, {path: texts[path][1] for path in paths}))
    changes = dict[str, OldAndNew]()
    whole = dict(texts)
    for path, output in outputs.items():
        old, new = texts[path]
        changes[path] = (new, output)
        whole[path] = (old, output)
    renewed = patch(changes)
    talk.show(renewed)
    if options.dry_run or options.patch:
        return _only_show(options, whole, talk)
    agreed = bool(renewed) and talk.ask("fix_outputs")
    stored = _store(root, whole if agreed else texts)
    left = list[Problem]()
    for paths in files.values():
        left += judge(root, paths)
    if stored:
        talk.say("fix_mended", files=", ".join(stored))
    if renewed and not agreed:
        talk.say("fix_declined", files=", ".join(outputs))
    elif not (stored or left or told):
        talk.say("fix_nothing")
    if left:
        talk.say("fix_left", count=len(left), pages=quote(" ".join(files)))
    return 1 if left or told else 0


def _mended_facts(
    names: Iterable[str], root: Path
) -> tuple[dict[str, OldAndNew], list[Message]]:
    """The files of facts that change, and what a person has to look at."""
    files, told = mended_facts(dict.fromkeys(names), root)
    texts = dict[str, OldAndNew]()
    for path, new in files.items():
        texts[path] = ((root / path).read_bytes().decode("utf-8"), new)
    return texts, told


def _only_show(options: Namespace, whole: dict[str, OldAndNew], talk: Talk) -> int:
    """Write no page: a patch at most, where one is asked for."""
    changes = patch(whole)
    if options.patch:
        store(Path(options.patch), changes.encode())
    talk.say("nothing_written" if changes else "fix_nothing")
    return 1 if changes else 0


def _mend(root: Path, page: str, paths: list[str]) -> dict[str, OldAndNew]:
    try:
        old = {path: (root / path).read_bytes().decode("utf-8") for path in paths}
    except UnicodeDecodeError as error:
        raise Refusal("fix_encoding", files=", ".join(paths), error=error) from None
    new = {path: mended(text, path) for path, text in old.items()}
    new = kept_agreement(page, old, new)
    return {path: (old[path], new[path]) for path in paths}


def kept_agreement(
    page: str, old: Mapping[str, str], new: Mapping[str, str]
) -> dict[str, str]:
    """The files of a page after a change that says nothing new; agreed stays agreed."""
    before = dict[str, str]()
    after = dict[str, str]()
    for language in LANGUAGES:
        file = f"docs/{language}/{page}.md"
        if file in old:
            before[language] = old[file]
            after[language] = new[file]
    kept = with_agreement_kept(before, after, page)
    return {f"docs/{language}/{page}.md": text for language, text in kept.items()}


def patch(texts: dict[str, OldAndNew]) -> str:
    """A unified diff that ``git apply`` takes; empty where nothing changes."""
    rows = list[str]()
    for path, (old, new) in texts.items():
        before, after = _git_lines(old), _git_lines(new)
        rows += unified_diff(before, after, f"a/{path}", f"b/{path}")
    end = "\n\\ No newline at end of file\n"
    return "".join(row if row.endswith("\n") else row + end for row in rows)


def _git_lines(text: str) -> list[str]:
    """Lines as git counts them: they end in a line feed, and in nothing else."""
    *lines, last = text.split("\n")
    rows = [f"{line}\n" for line in lines]
    if last:
        rows.append(last)
    return rows


def _store(root: Path, texts: dict[str, OldAndNew]) -> list[str]:
    for path, (old, _) in texts.items():
        if (root / path).read_bytes() != old.encode("utf-8"):
            raise Refusal("fix_meanwhile", file=path)
    stored = [path for path, (old, new) in texts.items() if old != new]
    for path in stored:
        store(root / path, texts[path][1].encode("utf-8"))
    return stored


def mended(text: str, path: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _trimmed(text)
    return typeset_chinese(text) if path.startswith("docs/zh/") else text


def _trimmed(text: str) -> str:
    """No blanks at the end of a line, but in code, and two that break a paragraph."""
    fences, problems = scan(text, "")
    if problems or not text.strip():
        return text
    code = set[int]()
    for fence in fences:
        closing = fence.line + len(fence.lines) + 1
        code.update(range(fence.line, closing + 1))
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        following = lines[number] if number < len(lines) else ""
        breaks = line.strip() and line.endswith("  ") and following.strip()
        if number not in code and not breaks:
            lines[number - 1] = line.rstrip(" \t")
    return "\n".join(lines).rstrip("\n") + "\n"


def with_outputs(root: Path, texts: dict[str, str]) -> dict[str, str]:
    """The pages whose blocks print something new, with what they print now.

    A draw without a seed counts as a failure, so it is never renewed.
    """
    pages = []
    for path, text in texts.items():
        page = read_page(root, path, text)
        if any(block.runs for block in page.blocks):
            pages.append(page)
    renewed = {}
    for running in start_pages(pages):
        page = running.page
        outputs = list(_to_renew(running.verified))
        if outputs:
            renewed[page.path] = _renewed(page, outputs)
    return renewed


def _to_renew(verified: Verified) -> Iterator[tuple[Block, str]]:
    """The blocks that show an output that can be renewed, and what they print."""
    for place, block in enumerate(verified.running):
        if not check_block(verified, block):
            continue
        shown = block.output.lines if block.output else ()
        included = any(line.snippet for line in shown)
        text = _printed(verified, place, block)
        if text and "```" not in text and not included:
            yield block, text


def _printed(verified: Verified, place: int, block: Block) -> str | None:
    """The output it must have; None where the block does not do what it must."""
    result = verified.run.results[place]
    printed, failure = result.printed, result.failure
    if bool(failure) != ("raises" in block.classes):
        return None
    if failure:
        last_line = (block.expects or "").rpartition("\n")[2]
        stated = last_line.partition(":")[0]
        another = stated and stated != failure.type
        if another or failure.type in (*MISTAKES, "TimeLimit", "ProcessEnded"):
            return None  # it fails for another reason than the one it is to show
        printed += f"{failure.type}: {failure.message}"
    return "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")


def _renewed(page: Page, outputs: Sequence[tuple[Block, str]]) -> str:
    lines = page.text.split("\n")
    for block, text in reversed(outputs):
        fence = (block.output or block).fence
        first, last = fence.line, fence.line + len(fence.lines)
        opening = lines[fence.line - 1]
        indent = opening[: len(opening) - len(opening.lstrip(" "))]
        shown = [f"{indent}{line}".rstrip() for line in text.split("\n")]
        if block.output is None:
            first = last = last + 1
            shown = ["", f"{indent}```output", *shown, f"{indent}```"]
        lines[first:last] = shown
    return "\n".join(lines)
