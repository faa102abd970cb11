"""All that is wrong with a page: the one judgement, for the tests and the commands."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from site_tools.data.topics import is_question
from site_tools.judge import (
    allowed,
    assertions,
    body,
    census,
    chance,
    claims,
    code,
    exercises,
    front_matter,
    headings,
    identities,
    links,
    own_language,
    proofs,
    sections,
    signs,
    typography,
    upstream,
    upstream_defaults,
    words,
)
from site_tools.judge.figures import check_figures, check_plots
from site_tools.judge.file_bytes import check_bytes
from site_tools.judge.languages import compare, twin_path
from site_tools.judge.outputs import check_block
from site_tools.judge.shown import check_lists, shown_tree
from site_tools.messages import LANGUAGES, Problem, Problems, Refusal
from site_tools.page.page import Page, read_page
from site_tools.page.twins import check_agreed
from site_tools.run.execution import Verified, start_pages
from site_tools.run.worker import start_servers
from site_tools.source.files import FRONT_MATTER

# What is asked of a page as it is written, in this order.
RULES: tuple[Callable[[Page], Iterable[Problem]], ...] = (
    front_matter.check_front_matter,
    claims.check_claims,
    signs.check_signs,
    code.check_code_width,
    code.check_output_size,
    chance.check_chance,
    body.check_patterns,
    headings.check_heading_ids,
    headings.check_seen_headings,
    body.check_quotations,
    body.check_left,
    body.check_seen_marks,
    identities.check_commands,
    own_language.check_own_language,
    own_language.check_lists_language,
    own_language.check_plots_language,
    own_language.check_pictures_language,
    code.check_comments,
    assertions.check_assertions,
    census.check_collected,
    exercises.check_exercises,
    typography.check_typography,
    identities.check_identities,
    proofs.check_wrong_answers,
    proofs.check_snippet,
    proofs.check_corrections,
    words.check_terms,
    words.check_phrases,
    upstream.check_upstream,
    upstream_defaults.check_said_defaults,
)
# What is asked of a page that answers a question, besides.
QUESTION_RULES: tuple[Callable[[Page], Iterable[Problem]], ...] = (
    sections.check_sections,
    sections.check_verdict,
    sections.check_code_asserts,
    sections.check_wrong_answer_form,
    sections.check_chats,
    front_matter.check_answers,
)

# Faults of a fence which leave the rest of the page unread.
FATAL = ("fence_beside", "fence_unclosed", "fence_closed_otherwise")


def judge(root: Path, paths: Sequence[str]) -> list[Problem]:
    """Everything that is wrong with these pages, and with their other language.

    Problems come by file in the order given, by line; what is in other files, as in
    pictures, at the end. Where a file or a fence cannot be read, nothing but that is
    told, which the rest follows from.
    """
    start_servers()
    pages = [read_page(root, path) for path in paths]
    broken = [unreadable(page, (root / page.path).read_bytes()) for page in pages]
    if any(broken):
        return _told_once([*chain(*broken)])
    running = start_pages(pages)
    try:
        problems = _unrun(pages, root)
    finally:  # the children come to their end, whatever the data are
        verified = [page.verified for page in running]
    for page_that_ran in verified:
        problems += check_run(page_that_ran)
    order = {path: number for number, path in enumerate(paths)}

    def place(each: Problem) -> tuple[int, str, int]:
        return order.get(each.path, len(paths)), each.path, each.line

    return _told_once(sorted(problems, key=place))


def check_run(verified: Verified) -> list[Problem]:
    """The problems of a page that has run: blocks, figures, plots."""
    problems = []
    for copy in verified.copies:
        if problem_of_block := check_block(verified, copy.block):
            problems.append(problem_of_block)
    return problems + check_figures(verified) + check_plots(verified)


def _told_once(problems: Sequence[Problem]) -> list[Problem]:
    """Each once, where code that both languages include is judged twice."""
    slips = dict[tuple[str, str], Problem]()
    for each in problems:
        place = each.snippet or each.place
        slips.setdefault((place, each.remarks()), each)
    return [*slips.values()]


def unreadable(page: Page, data: bytes) -> list[Problem]:
    """Problems that keep a page from being read, from which all else would follow."""
    problems = check_bytes(data, page.path)
    if problems:
        return problems
    front = FRONT_MATTER.match(page.text)
    if front is None:
        begun = page.text.startswith("---\n")
        return [page.problem(1, "front_unclosed" if begun else "front_absent")]
    last = front[0].count("\n")
    above = [fault for fault in page.faults if fault.line <= last]
    if above and not page.meta:
        return above[:1]
    below = [fault for fault in page.faults if fault.line > last]
    for fault in below:
        if fault.message.key in FATAL:
            return [fault]
    return below


def _unrun(pages: Sequence[Page], root: Path) -> list[Problem]:
    problems: list[Problem] = []
    paths = [page.path for page in pages]
    for page in pages:
        problems += check_written(page)
        # A pair is judged once, so that a slip is told once.
        first = page.language == LANGUAGES[0]
        if first or twin_path(page.path) not in paths:
            problems += check_pair(page)
    return problems


def check_written(page: Page) -> list[Problem]:
    """Problems of a page as it stands there, before it runs."""
    problems = list(page.problems)
    problems += check_agreed(page)
    problems += judge_rules(page)
    try:
        shown = shown_tree(page)
    except Refusal:
        return [*problems, *check_lists(page)]
    if not problems:  # else a fence that could not be read would be named twice
        problems += census.check_boxes(page, shown)
        problems += allowed.check_html(page, shown)
    problems += links.check_links(page, shown)
    return problems


def judge_rules(page: Page) -> Problems:
    """Problems that the rules find in a page, rule by rule."""
    for rule in RULES:
        yield from rule(page)
    if is_question(page.id):
        for rule in QUESTION_RULES:
            yield from rule(page)


def check_pair(page: Page) -> list[Problem]:
    """How a page differs from its twin in more than words; nothing without a twin."""
    twin = twin_path(page.path)
    if not (page.root / twin).is_file():
        return []
    return compare(page, read_page(page.root, twin))
