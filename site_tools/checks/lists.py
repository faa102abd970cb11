"""Fences made from data: whether what stands in one names something."""

from pathlib import Path

from site_tools.page.blocks import Kind
from site_tools.page.page import Page
from site_tools.problems import Problem, problem
from site_tools.site.lists import derived


def check_lists(page: Page, root: Path) -> list[Problem]:
    """A problem for each fence whose list, table or facts cannot be made."""
    problems = []
    for block in page.blocks:
        if block.kind is Kind.DERIVED:
            language, attributes = block.fence.header
            line, text = block.fence.line, f"```{language} {block.text}"
            try:
                lang = attributes.values.get("data-language", "")
                derived(language, block.text, lang, root)
            except ValueError as error:
                wrong = problem(page.path, line, "list_unmade", fence=text, why=error)
                problems.append(wrong)
    return problems
