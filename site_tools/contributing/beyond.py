"""Asked of a page beyond its own judgement: style of its code, setting, order, moves.

The tests and ``make lint`` ask the same of all pages; here a contributor hears it of
the pages at hand.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from site_tools.compile import navigation, reference
from site_tools.compile.links import (
    REDIRECTS,
    SHORT,
    check_anchors,
    redirects,
    short,
)
from site_tools.contributing.fix import mended
from site_tools.judge.links import Pages
from site_tools.judge.typography import check_typography
from site_tools.messages import LANGUAGES, Message, Problem, Refusal, problem
from site_tools.page.page import read_page
from site_tools.source.files import page_ids, text_of
from site_tools.source.includes import INCLUDE


def check_style(root: Path, paths: Iterable[str]) -> list[Problem]:
    """The faults of style in the snippets of some pages, as ``make lint`` says."""
    files = dict[str, None]()
    for path in paths:
        for line in text_of(root / path).split("\n"):
            included = INCLUDE.search(line)
            if included:
                files[f"snippets/{included['file']}"] = None
    present = [file for file in files if (root / file).is_file()]
    if not present:
        return []
    command = [sys.executable, "-m", "ruff", "check", "--no-cache"]
    options = ["--exit-zero", "--output-format", "json"]
    settings = root / "pyproject.toml"
    if settings.is_file():
        options += ["--config", str(settings)]
    run = subprocess.run(
        [*command, *options, *present], cwd=root, capture_output=True, text=True
    )
    if run.returncode:
        raise Refusal("as_it_is", text=run.stderr.strip())
    problems = []
    for found in json.loads(run.stdout):
        file = Path(found["filename"])
        name = next(each for each in present if (root / each).resolve() == file)
        values = {"rule": found["code"], "text": found["message"]}
        line = found["location"]["row"]
        problems.append(problem(name, line, "code_style", **values))
    return problems


def check_setting(root: Path, path: str) -> Iterator[Problem]:
    """The first line that ``make fix`` would set otherwise, unless told already."""
    page = read_page(root, path)
    text = (root / path).read_bytes().decode("utf-8", errors="replace")
    rows = zip_longest(text.split("\n"), mended(text, path).split("\n"), fillvalue="")
    if any(check_typography(page)):
        return
    for number, (old, new) in enumerate(rows, 1):
        if old != new:
            values = {"old": old, "new": new, "page": page.id}
            yield problem(path, number, "page_set", **values)
            return


def check_order(root: Path, paths: Sequence[str]) -> Iterator[Problem]:
    """The pages that readers reach before what these need."""
    for path in paths:
        page = read_page(root, path)
        needs = page.texts("needs")
        if not needs:
            continue
        order = _reading_order(root, page.language)
        line = page.line_with("needs:")
        for need in needs:
            if need == page.id:
                yield page.problem(line, "needs_itself", need=need)
            elif page.id in order and need in order[order.index(page.id) :]:
                yield page.problem(line, "needs_later", need=need)


def _reading_order(root: Path, language: str) -> list[str]:
    pages = list[str]()
    for topic in (navigation.COURSE, *navigation.QUESTION_TOPICS):
        pages += [each.page for each in navigation.answers(root, language, [topic])]
    return pages


def check_moves(root: Path) -> list[Message]:
    """The first fault of the redirects, or else of the short addresses."""
    texts = []
    for name in (REDIRECTS, SHORT):
        file = root / name
        texts.append(file.read_text("utf-8") if file.is_file() else "")
    known = {*page_ids(root)}
    package = root / reference.FOLDER
    for path in reference.pages(reference.read(package), LANGUAGES[0]):
        known.add(path.removesuffix(".md"))
    try:
        moves = redirects(texts[0], known)
        _check_anchors(root, moves, REDIRECTS)
        _check_anchors(root, short(texts[1], known, moves), SHORT)
    except Refusal as fault:
        return [fault.message]
    return []


def _check_anchors(root: Path, moves: Mapping[str, str], file: str) -> None:
    """Refuse the first move to an anchor that its page has not, in a language."""
    for language in LANGUAGES:
        pages = Pages(root, language)
        ids = dict[str, set[str]]()
        for place in moves.values():
            page, _, anchor = place.partition("#")
            if anchor and pages.have(f"{page}.md"):
                known = ids.setdefault(page, pages.headings(f"{page}.md"))
                if anchor not in known:  # the others take long to know
                    known.update(pages.ids(f"{page}.md"))
        check_anchors(moves, ids, file)
