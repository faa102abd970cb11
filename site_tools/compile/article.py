"""What the site adds to a page: the answer box, links of terms, the switch that shows
where figures come from, the notice of the other language, how to cite it, with what
it was verified.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from site_tools.compile import ways
from site_tools.compile.navigation import Answer, Answered, read_answer
from site_tools.compile.templates import LINK, TAG, as_plain, fill, words
from site_tools.data.dialogues import Asked
from site_tools.data.names import Name, named, pattern, vocabulary
from site_tools.finish import formulas
from site_tools.messages import Refusal
from site_tools.page.twins import Twins, TwinState
from site_tools.run.passed import VerdictLine
from site_tools.source.blocks import Block, blocks_of, copies

STEP = re.compile(r"\d+ · ")
# The innermost, so that boxes within boxes go one after the other.
ASIDE = re.compile(r"<(pre|details|svg)\b[^<]*(?:<(?!/?\1\b)[^<]*)*</\1>")
HAN, WORD = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"[A-Za-z]+")
REFUTATION = re.compile(
    r'(?P<heading><h3 id="wrong-.*?</h3>)(?P<body>.*?)(?=<h[23]\b|\Z)', re.DOTALL
)
HEADER_LINK = re.compile(r'<a class="headerlink".*?</a>')
SECTION = re.compile(r'<h2 id="answer">.*?(?=<h2\b|\Z)', re.DOTALL)
BOX = re.compile(r'<section class="answer">.*?(?=</section>)', re.DOTALL)
DIALOGUE = re.compile(r"(\d{3})·(\d+)")
BOUND = re.compile(r'<(?:span|tspan)\b[^>]*\bdata-is="')
IN_PICTURE = re.compile(r'<tspan\b[^>]*\bdata-is="([^"]*)"[^>]*>([^<]*)</tspan>')
PICTURE = re.compile(r'(?<=<figure class="picture">)(<svg\b.*?</svg>)', re.DOTALL)

# Running text, after everything in which a word is a name, a heading, code, somebody
# else's, or linked already.
RUNNING_TEXT = re.compile(
    r"<(?P<tag>a|button|code|figure|h[1-6]|label|nav|pre|script|style|summary|svg|th)\b"
    r".*?</(?P=tag)>"
    r'|<(?P<named>\w+)\b[^>]*\bclass="(?:[^"]* )?(?:admonition-title|aliases|arithmatex'
    r'|derived|fact|highlight|names|quote)[ "].*?</(?P=named)>'
    r'|<!--.*?-->|<(?:"[^"]*"|[^">])*>'
    r"|(?P<text>[^<]+)",
    re.DOTALL,
)


def answer_box(
    html: str,
    answers: Sequence[object],
    lang: str,
    asked: Mapping[str, tuple[Asked, Asked | None]],
    cited: str = "",
) -> str:
    """Put the section ``answer`` of a page into a box with anchors and jump links.

    What the page answers, as 004·2, becomes the anchor q-004-2. ``cited`` is HTML:
    how others link to the page.
    """
    section = SECTION.search(html)
    if section is None:
        return f"{cited}{html}"
    box = fill(
        "page.answer_box",
        lang,
        anchors(answers),
        Markup(section[0].rstrip()),
        [name for name in words(lang)["sections"] if f'<h2 id="{name}">' in html],
        [asked[str(name)] for name in answers if str(name) in asked],
        Markup(cited),
    )
    return html[: section.start()] + box + html[section.end() :]


def anchors(answers: Sequence[object]) -> list[str]:
    """The ids of the dialogues' questions that a page answers."""
    found = (DIALOGUE.fullmatch(str(name)) for name in answers)
    return [f"q-{match[1]}-{match[2]}" for match in found if match]


def page_ids(html: str, answers: Sequence[object]) -> list[str]:
    """Every id of a page as readers get it, also of its questions and formulas."""
    marked = " ".join(match[0] for match in formulas.MARKED.finditer(html))
    asked = anchors(answers) if SECTION.search(html) else []
    return [*asked, *formulas.ID.findall(html), *formulas.LABEL.findall(marked)]


def reading(html: str, page: str, lang: str, pages: Sequence[Answer]) -> str:
    """Begin a page with what to read first; a step of the course with all steps too.

    A step says how long it takes, besides.
    """
    known = {answer.page: answer for answer in pages}
    if page not in known:
        return html
    in_course = STEP.match(known[page].title)
    steps = [a for a in pages if STEP.match(a.title)] if in_course else []
    before = [known[need] for need in known[page].needs if need in known]
    if not (steps or before):
        return html
    time = minutes(html) if steps else 0
    return fill("page.reading", lang, steps, page, before, time) + html


def minutes(html: str) -> int:
    """How long a page takes to read, without its code and what is folded.

    At 300 Chinese characters or 200 words a minute.
    """
    while (rest := ASIDE.sub(" ", html)) != html:
        html = rest
    text = TAG.sub(" ", html)
    return max(1, round(len(HAN.findall(text)) / 300 + len(WORD.findall(text)) / 200))


def aliases(others: Sequence[object], lang: str) -> str:
    """The other wordings of a question; the search has them from the front matter."""
    return fill("page.aliases", lang, [*map(str, others)]) if others else ""


def fold_refutations(html: str) -> str:
    """Fold each refuted claim under its heading, which stays in sight."""
    return REFUTATION.sub(_folded, html)


def _folded(claim: re.Match[str]) -> str:
    heading = HEADER_LINK.sub("", claim["heading"])  # a summary acts as a whole
    opening = f'<details class="refuted"><summary>{heading}</summary>'
    return f"{opening}\n{claim['body'].strip()}</details>"


def notice(html: str, twins: Twins, lang: str, url: str) -> str:
    """A page with its notice: above the text if behind, below it if alone."""
    there = ways.other(lang)
    if twins.state in (TwinState.MISSING_ZH, TwinState.MISSING_EN):
        # Told to those who came for the other language, so written in that one.
        missing = fill("page.notice", there, words(there)["no_translation"], there)
        return f"{html}\n{missing}"
    ahead = TwinState.ZH_AHEAD if there == "zh" else TwinState.EN_AHEAD
    if twins.state not in (ahead, TwinState.BOTH_CHANGED):
        return html
    told = fill("page.newer", lang, ways.link(lang, url, there, url), there)
    return f"{fill('page.notice', lang, Markup(told), '')}\n{html}"


def provenance(html: str, lang: str) -> str:
    """Add the switch where a page has bound figures, hidden until a script wakes it.

    The figures themselves carry their expression; a picture gets a list of them below.
    """
    if not BOUND.search(html):
        return html
    html = PICTURE.sub(_listed, html)
    box = BOX.search(html)
    end = box.end() if box else len(html)
    return f"{html[:end]}{fill('page.provenance_switch', lang)}{html[end:]}"


def _listed(picture: re.Match[str]) -> str:
    figures = dict.fromkeys(IN_PICTURE.findall(picture[0]))
    items = "".join(f"<li>{shown} = <code>{is_}</code></li>" for is_, shown in figures)
    opening = '<ul class="provenance" data-search-exclude="1">'
    return f"{picture[0]}{opening}{items}</ul>" if items else picture[0]


def link_terms(html: str, names: Sequence[Name], lang: str) -> str:
    """Make the first occurrence of each term in each ``##`` section a quiet link.

    It leads to the glossary, and its tooltip is the meaning. Only running text counts.
    """
    terms, _ = vocabulary(tuple(names), lang)
    written, seen = pattern(tuple(terms), lang), set[str]()

    def link(match: re.Match[str]) -> str:
        name = named(match[0], terms)
        if name is None or name.id in seen:
            return match[0]
        seen.add(name.id)
        meaning = escape(as_plain(getattr(name, f"meaning_{lang}")))
        href = f"/reference/glossary/#{name.id}"
        return f'<a class="term" href="{href}" title="{meaning}">{match[0]}</a>'

    def place(piece: re.Match[str]) -> str:
        if piece["tag"] == "h2":
            seen.clear()
        return written.sub(link, piece[0]) if piece["text"] else piece[0]

    return RUNNING_TEXT.sub(place, html) if names else html


# How others link to a page: a short address, a comment to paste, threads it answers.

FEW = 4  # threads that stand at the end of a page unfolded
BINDING = re.compile(r'(?<=`)\{ *data-is="[^"]*" *\}')


def cited(root: Path, path: str, text: str, lang: str) -> str:
    """What the answer box of a page says of citing it, as HTML."""
    page = path.removeprefix(f"docs/{lang}/").removesuffix(".md")
    made, short = "", ways.addresses(root).get(page, "")
    if ".comment" in text:
        blocks, _ = blocks_of(root, path, text)
        answer = read_answer(text, path, path)
        made = comment(answer.title, answer.verdict, blocks, lang)
    return fill("page.cited", lang, short, made) if short or made else ""


def comment(title: str, verdict: str, blocks: Sequence[Block], lang: str) -> str:
    """A verdict, the block that shows it and its output, as Markdown for a thread.

    Last comes what was asked, and its address, which is added where the page is read.
    """
    block = next((block for block in blocks if "comment" in block.classes), None)
    if block is None or not verdict:
        return ""
    said = LINK.sub(r"\1", BINDING.sub("", verdict))
    stop = "" if said.endswith(tuple("?!？！")) else words(lang)["stop"]
    code = f"```python\n{block.text}\n```\n\n```text\n{block.expects}\n```"
    return f"{said}{stop}\n\n{code}\n\n{title} "


def cite_sections(html: str, page: str, root: Path, lang: str) -> str:
    """Put their short addresses into the headings of a page, seen like their links."""
    for place, short in ways.addresses(root).items():
        name, _, anchor = place.partition("#")
        if not anchor or name != page:
            continue
        if heading := re.search(rf'<h[23] id="{anchor}".*?(?=</h[23]>)', html):
            link = fill("page.short_section", lang, short)
            html = html[: heading.end()] + link + html[heading.end() :]
    return html


def threads(page: str, every: Sequence[Answered], lang: str) -> str:
    """The threads that a page answers, for its end, as HTML."""
    here = [each for each in every if each.page == page]
    return fill("page.threads", lang, here, FEW) if here else ""


# Code boxes, and what is copied from each; with what the page was verified.

# As Markdown writes the div around the code of a fence: values in double quotes.
CODE_BOX = re.compile(
    r'<div(?P<begin>[^">]*\bclass="[^"]*)(?P<end>"(?:[^">]|"[^"]*")*)>(?=<pre\b)'
)
IMPORTS = re.compile(r"^[ \t]*(?:from|import) ppo_ref\b", re.MULTILINE)
PLOTS = re.compile(r"^(?:from|import) matplotlib\b", re.MULTILINE)


def complete_boxes(
    html: str,
    blocks: Sequence[Block],
    lang: str,
    wheel: Callable[[], str],
) -> str:
    """Give the code boxes of a page what is copied from them.

    Where another text is copied than the one shown, the theme's button finds it in
    ``data-copy``; one that goes on from the one before has only the rest, in
    ``data-more``, and assets/site.js puts the two together. The first box whose code
    runs and imports ``ppo_ref`` gets the line that installs it from the site itself;
    only then is the wheel made.
    """
    plots = any(block.runs and PLOTS.search(block.text) for block in blocks)
    boxes = [copy for copy in copies(blocks) if copy.block.has_box]
    shown, drawn = len(CODE_BOX.findall(html)), len(re.findall(r"<pre\b", html))
    if not len(boxes) == shown == drawn:
        raise Refusal("boxes_differ", fences=len(boxes), boxes=drawn)
    importing = (c for c in boxes if c.block.runs and IMPORTS.search(c.text))
    first = next(importing, None)
    others = [c.text if c.text != c.block.text else "" for c in boxes]
    rest = iter(zip(boxes, copied_texts(others), strict=True))

    def place(match: re.Match[str]) -> str:
        copy, copied = next(rest)
        opening = f"<div{match['begin']}{match['end']}{copied}>"
        if copy is not first:
            return opening
        at = wheel()
        name = at.rpartition("/")[2] if at.startswith("..") else at
        return opening + fill("page.install", lang, at, name, "matplotlib " * plots)

    return CODE_BOX.sub(place, html)


def copied_texts(texts: Iterable[str]) -> Iterator[str]:
    """The attribute that holds each text, "" where there is none."""
    before = ""
    for text in texts:
        goes_on = before and text.startswith(before)
        name, held = ("more", text[len(before) :]) if goes_on else ("copy", text)
        yield Markup(' data-{}="{}"').format(name, held) if text else ""
        before = text or before


def verdict(line: VerdictLine | None, lang: str, meaning: str) -> str:
    """One line at the end of a page: with what it was verified, or that it was not.

    A page without code and figures says nothing of having passed.
    """
    if line and not (line.blocks or line.figures):
        return ""
    return fill("page.verdict", lang, line, meaning)
