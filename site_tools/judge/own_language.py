"""The language of a page: that of its words, its lists and its plots."""

import re

from site_tools.messages import LANGUAGES, Problems
from site_tools.page.page import Page
from site_tools.page.pictures import is_notebook

CHINESE = re.compile("[㐀-鿿]+")
WORD_SIGN = re.compile(r"\w")


def check_own_language(page: Page) -> Problems:
    """Chinese on an English page, or none on a Chinese one: copied and not written."""
    written = False
    for flow in page.flows:
        if flow.quoted and page.language == "zh":
            continue  # who reads English alone cannot read a Chinese quotation either
        text = page.without_refs(flow.prose)
        written = written or bool(WORD_SIGN.search(text))
        chinese = CHINESE.search(text)
        if chinese and page.language == "zh":
            return
        if chinese:
            piece = flow.piece_at(chinese.start())
            line = page.line_near(chinese[0], piece.line)
            yield page.problem(line, "words_chinese", text=chinese[0])
            return
    if written and page.language == "zh":
        yield page.problem(1, "words_no_chinese")


def check_lists_language(page: Page) -> Problems:
    """Lists made from data in the other language."""
    for block in page.blocks:
        shown = block.options.get("data-language", page.language)
        if shown != page.language:
            values = {"shown": shown, "own": page.language}
            yield page.problem(block.fence.line, "fence_other_language", **values)


def check_plots_language(page: Page) -> Problems:
    """Plots of a notebook whose labels are in the other language."""
    if not is_notebook(page.id):
        return
    (other,) = set(LANGUAGES) - {page.language}
    due = f'language = "{page.language}"  # or "{other}"'
    for block in page.blocks:
        for line in block.lines:
            label = line.text.startswith("language =")
            if label and line.text.rstrip() != due:
                values = {"text": line.text, "due": due}
                yield page.problem(line.page_line, "plot_language", **values)
