"""The language of a page: that of its words, its lists and its plots."""

import re

from site_tools.messages import LANGUAGES, Problems, problem
from site_tools.page.page import Page
from site_tools.page.pictures import is_notebook, picture_flows, picture_tree

CHINESE = re.compile("[㐀-鿿]+")
IN_MARKS = re.compile("“[^”]*”")
# More words in a row than a name or a title has.
ENGLISH = re.compile(r"(?:[A-Za-z][A-Za-z’'-]*[,.;:]? ){9,}[A-Za-z]+")
# In a picture, where a label has fewer words than a sentence of a page.
ENGLISH_LABEL = re.compile(r"(?:[A-Za-z][a-z’'-]*[,.;:]? ){3,}[A-Za-z]+")
WORD_SIGN = re.compile(r"\w")


def check_own_language(page: Page) -> Problems:
    """Words of the other language, outside quotations: copied and not translated."""
    if page.language == "zh":
        yield from _english_on(page)
    else:
        yield from _chinese_on(page)


def _english_on(page: Page) -> Problems:
    """A page or a sentence that nobody has translated into Chinese."""
    written, chinese = False, False
    for flow in page.flows:
        if flow.quoted:
            continue  # who reads English alone cannot read a Chinese quotation either
        text = page.without_refs(flow.prose)
        written = written or bool(WORD_SIGN.search(text))
        chinese = chinese or bool(CHINESE.search(text))
        said = IN_MARKS.sub(lambda quoted: " " * len(quoted[0]), text)
        if sentence := ENGLISH.search(said):
            line = page.line_near(sentence[0], flow.line_at(sentence.start()))
            yield page.problem(line, "words_english", text=sentence[0])
    if written and not chinese:
        yield page.problem(1, "words_no_chinese")


def _chinese_on(page: Page) -> Problems:
    """The first Chinese word of an English page."""
    for flow in page.flows:
        text = page.without_refs(flow.prose)
        if chinese := CHINESE.search(text):
            line = page.line_near(chinese[0], flow.line_at(chinese.start()))
            yield page.problem(line, "words_chinese", text=chinese[0])
            return


def check_pictures_language(page: Page) -> Problems:
    """Words of the other language that a picture shows on this page; not its code."""
    words = ENGLISH_LABEL if page.language == "zh" else CHINESE
    (other,) = set(LANGUAGES) - {page.language}
    for path in page.pictures:
        tree = picture_tree((page.root / path).read_text("utf-8"))
        for code in tree.select(".code"):
            code.clear()
        for flow in picture_flows(tree, page.language):
            if found := words.search(flow.text):
                line = flow.piece_at(found.start()).line
                values = {"text": found[0], "other": other, "own": page.language}
                yield problem(path, line, "picture_language", **values)


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
