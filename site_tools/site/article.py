"""What the site adds to the text of a page: the answer box, links of names and terms,
the switch that shows where figures come from, the notice of the other language.
"""

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from markupsafe import Markup, escape

from site_tools.data.names import Name, key, pattern
from site_tools.page.accord import Accord, State
from site_tools.page.prose import FRONT, TOP
from site_tools.say import Refusal
from site_tools.site import formulas, ways
from site_tools.site.sources import Question
from site_tools.site.templates import as_plain, fill, words

SECTION = re.compile(r'<h2 id="answer">.*?(?=<h2\b|\Z)', re.DOTALL)
BOX = re.compile(r'<section class="answer">.*?(?=</section>)', re.DOTALL)
DIALOGUE = re.compile(r"(\d{3})·(\d+)")
ID = re.compile(r'\sid="([^"]+)"')
HEADING = r'<h[2-6] id="{}">(.*?)</h[2-6]>'
HEADER_LINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
BOUND = re.compile(r'<(?:span|tspan)\b[^>]*\bdata-is="')
IN_PICTURE = re.compile(r'<tspan\b[^>]*\bdata-is="([^"]*)"[^>]*>([^<]*)</tspan>')
PICTURE = re.compile(r'(?<=<figure class="picture">)(<svg\b.*?</svg>)', re.DOTALL)

# A name of ppo_ref as inline code, and where such a name is no link.
NAMED = re.compile(
    r"<(?P<inert>a|h[1-6]|summary|pre)\b.*?</(?P=inert)>"
    r"|<code>(?P<name>ppo_ref(?:\.\w+)+)</code>",
    re.DOTALL,
)
TOKEN = re.compile(
    r"<!--.*?-->"
    r"|<(?P<closing>/?)(?P<tag>[A-Za-z][\w:-]*)"
    r"(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^'\">])*)>"
    r"|(?P<text>[^<]+)",
    re.DOTALL,
)
CLASS = re.compile(r'\bclass="([^"]*)"')
VOID = re.compile("area|br|col|embed|hr|img|input|link|meta|source|track|wbr")
# Where a word is a name, a heading, code, someone else's, or linked already.
NO_TERMS = re.compile(
    "a|button|code|figure|h[1-6]|label|nav|pre|script|style|summary|svg|th"
)
NO_TERMS_CLASS = re.compile(
    "admonition-title|aliases|arithmatex|derived|fact|figure|headerlink|highlight|names"
    "|output-table|quote"
)


def answer_box(
    html: str, answers: Sequence[object], lang: str, asked: Mapping[str, Question]
) -> str:
    """Put the section ``answer`` into a box with anchors and jump links.

    Args:
        html: The rendered body of a page; without that section it is left as it is.
        answers: What the page answers; ``004·2`` becomes the anchor ``q-004-2``.
        lang: The language of the labels.
        asked: The dialogues' questions by their ids.
    """
    section = SECTION.search(html)
    if section is None:
        return html
    box = fill(
        "page.answer_box",
        lang,
        anchors(answers),
        Markup(section[0].rstrip()),
        [name for name in words(lang)["sections"] if f'<h2 id="{name}">' in html],
        [asked[str(name)] for name in answers if str(name) in asked],
    )
    return html[: section.start()] + box + html[section.end() :]


def anchors(answers: Sequence[object]) -> list[str]:
    """The ids of the dialogues' questions that a page answers.

    Example:
        >>> anchors(["004·2", "verl#1960"])
        ['q-004-2']
    """
    found = (DIALOGUE.fullmatch(str(name)) for name in answers)
    return [f"q-{match[1]}-{match[2]}" for match in found if match]


def page_ids(html: str, answers: Sequence[object]) -> list[str]:
    r"""Every id of a page as readers get it, with those of its questions and formulas.

    Example:
        >>> page_ids('<h2 id="answer">Yes</h2><p id="x">', ["004·2"])
        ['q-004-2', 'answer', 'x']
        >>> page_ids(r'<div class="arithmatex">\[a \label{sum}\]</div>', [])
        ['sum']
    """
    marked = " ".join(match[0] for match in formulas.MARKED.finditer(html))
    asked = anchors(answers) if SECTION.search(html) else []
    return [*asked, *ID.findall(html), *formulas.LABEL.findall(marked)]


def aliases(others: Sequence[object], lang: str) -> str:
    """The other wordings of a question; the search has them from the front matter."""
    return fill("page.aliases", lang, [*map(str, others)]) if others else ""


def notice(html: str, accord: Accord, lang: str, url: str) -> str:
    """A page with its notice: above the text if behind, below it if alone."""
    there, w = ways.other(lang), words(lang)
    if accord.state in (State.MISSING_ZH, State.MISSING_EN):
        # Told to those who came for the other language, so written in that one.
        missing = fill("page.notice", there, words(there)["no_translation"], there)
        return f"{html}\n{missing}"
    changed = {"zh": accord.zh, "en": accord.en}
    late = [section for section in changed[there] if section != FRONT]
    if not late:
        return html
    names = w["sections"] | {"answer": w["answer"], TOP: w["beginning"]}

    def named(section: str) -> tuple[str, str | Markup]:
        heading = re.search(HEADING.format(re.escape(section)), html, re.DOTALL)
        known = Markup(HEADER_LINK.sub("", heading[1])) if heading else section
        return "" if section == TOP else section, names.get(section, known)

    both = [*map(named, (s for s in late if s in changed[lang]))]
    newer = [*map(named, (s for s in late if s not in changed[lang]))]
    changes = [(w["newer"], newer), (w["both_changed"], both)]
    told = fill("page.newer", lang, changes, ways.link(lang, url, there, url), there)
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


def symbols(sources: Mapping[str, str]) -> dict[str, str]:
    """Where every module of the package is, and every public name that it defines.

    Example:
        >>> symbols({"kl": "def k1(): ...\\ndef _sum(): ..."})
        {'ppo_ref.kl': 'ppo_ref/kl/', 'ppo_ref.kl.k1': 'ppo_ref/kl/#ppo_ref.kl.k1'}
    """
    found = {}
    for name, source in sources.items():
        module = f"ppo_ref.{name}".removesuffix(".__init__")
        found[module] = page = f"{module.replace('.', '/')}/"
        for node in ast.parse(source).body:
            for defined in _defined(node):
                if not defined.startswith("_"):
                    found[f"{module}.{defined}"] = f"{page}#{module}.{defined}"
    return found


def _defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def link_symbols(html: str, url: str, known: Mapping[str, str]) -> str:
    """Lead from inline code that is nothing but a name of the package to its reference.

    Raises:
        Refusal: for a name that the package does not have.
    """
    up = posixpath.relpath("/", posixpath.dirname(f"/{url}"))

    def place(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return match[0]
        if name not in known:
            raise Refusal("symbol_unknown", name=name)
        return f'<a href="{up}/{known[name]}">{match[0]}</a>'

    return NAMED.sub(place, html)


def link_terms(html: str, names: Sequence[Name], lang: str) -> str:
    """Make the first occurrence of each term in each ``##`` section a quiet link.

    It leads to the glossary, and its tooltip is the meaning. Only running text counts.
    """
    return "".join(_with_terms(html, tuple(names), lang)) if names else html


def _with_terms(html: str, names: tuple[Name, ...], lang: str) -> Iterator[str]:
    known, found = _vocabulary(names, lang)
    seen: set[str] = set()
    closed: list[str] = []  # open elements, from the outermost that keeps terms out

    def place(match: re.Match[str]) -> str:
        word = key(match[0])
        name = known.get(word) or known[word.removesuffix("s")]
        if name.id in seen:
            return match[0]
        seen.add(name.id)
        meaning = escape(as_plain(getattr(name, f"meaning_{lang}")))
        href = f"/reference/glossary/#{name.id}"
        return f'<a class="term" href="{href}" title="{meaning}">{match[0]}</a>'

    for token in TOKEN.finditer(html):
        tag = token["tag"]
        if token["text"] and not closed:
            yield found.sub(place, token["text"])
            continue
        yield token[0]
        if tag is None or VOID.fullmatch(tag) or token[0].endswith("/>"):
            continue
        if token["closing"]:
            while closed and closed.pop() != tag:
                pass
        elif closed or _keeps_terms_out(tag, token["attributes"]):
            closed.append(tag)
            if tag == "h2":
                seen.clear()


def _keeps_terms_out(tag: str, attributes: str) -> bool:
    found = CLASS.search(attributes)
    classes = found[1].split() if found else []
    return bool(NO_TERMS.fullmatch(tag)) or any(map(NO_TERMS_CLASS.fullmatch, classes))


@lru_cache(maxsize=4)
def _vocabulary(
    names: tuple[Name, ...], lang: str
) -> tuple[dict[str, Name], re.Pattern[str]]:
    """The terms, and one pattern of them all."""
    known = {
        key(word): name
        for name in names
        for word in [getattr(name, lang), *getattr(name, f"also_{lang}")]
    }
    return known, pattern(known, lang)
