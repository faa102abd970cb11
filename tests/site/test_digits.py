"""Teeth: change any one digit of any figure on the first page, and it fails there."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from site_tools.checks.languages import compare
from site_tools.problems import Problem
from site_tools.running import verification
from site_tools.source.blocks import Kind
from site_tools.source.page import Page, read_page
from tests.site.sample import ROOT

PATHS = [f"docs/{lang}/alignment/value_before_token.md" for lang in ("zh", "en")]


def digits(page: Page) -> Iterator[int]:
    """Offsets of every digit that a figure or an output of the page shows."""
    for figure in page.figures:
        yield from _digits(page.text, figure.start + 1, len(figure.shown))
    lines = page.text.splitlines(keepends=True)
    for block in page.blocks:
        if block.kind is Kind.OUTPUT:
            start = len("".join(lines[: block.fence.line]))
            yield from _digits(
                page.text,
                start,
                len(
                    "".join(
                        lines[
                            block.fence.line : block.fence.line + len(block.fence.lines)
                        ]
                    )
                ),
            )


def _digits(text: str, start: int, length: int) -> Iterator[int]:
    for match in re.finditer(r"\d", text[start : start + length]):
        yield start + match.start()


def changed(text: str, at: int) -> str:
    return text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]


def judge(page: Page, run: verification.Run) -> list[Problem]:
    verified = verification.Verified(page, run)
    blocks = [verification.check_block(verified, b) for b in verified.running]
    figures = verification.check_figures(page.figures, run.values, page.path)
    return [*page.problems, *filter(None, blocks), *figures]


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_any_changed_digit_fails_at_its_line(path: str) -> None:
    page = read_page(ROOT, path)
    run = verification.run(page).run
    run = replace(run, values=run.values[: len(page.figures)])
    assert judge(page, run) == []
    places = list(digits(page))
    assert len(places) > 200
    for at in places:
        mutant = read_page(ROOT, path, changed(page.text, at))
        line = page.text.count("\n", 0, at) + 1
        assert line in [problem.line for problem in judge(mutant, run)], (line, at)


def test_a_digit_changed_in_one_language_only_is_seen_by_the_other() -> None:
    zh, en = (read_page(ROOT, path) for path in PATHS)
    assert compare(zh, en) == []
    for at in list(digits(en))[::7]:
        mutant = read_page(ROOT, en.path, changed(en.text, at))
        assert compare(zh, mutant), at
