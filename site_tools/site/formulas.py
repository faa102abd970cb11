"""Formulas in rendered pages: found as TeX, typeset by KaTeX, put back as HTML.

Each formula is there twice, once for the eye and once as MathML for screen readers. The
search index needs neither, but the text.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from site_tools.ledger import store
from site_tools.say import Refusal

SCRIPT = Path(__file__).with_name("katex.mjs")
PACKAGE = Path(sys.prefix) / "node_modules" / "katex"
MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">'
    r"(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<display>.*?)\\\])</(?P=tag)>"
    r"(?P<closing>[，。、；：！？）」』》”’,.;:!?)]?)",
    re.DOTALL,
)
BARE = re.compile(r"\\\((?P<inline>.*?)\\\)(?P<display>)")
LABEL = re.compile(r"\\label\{([^}]*)\}")
ID = re.compile(r'\sid="([^"]+)"')
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")

# The styles of KaTeX, and its fonts cut to what the formulas of a site show. Each
# address ends in a digest of its content, so that no browser shows a new formula with
# an old font.
CSS = "assets/katex/katex.css"
OLD_FONTS = re.compile(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)')
FONT = re.compile(r"url\((fonts/[\w-]+\.woff2)\)")
VISIBLE = re.compile(r'<span class="katex-html".*', re.DOTALL)


class Formula(NamedTuple):
    """TeX without its delimiters and its label."""

    tex: str
    display: bool


def find(html: str) -> list[Formula]:
    return [_read(match) for match in MARKED.finditer(html)]


def _read(match: re.Match[str]) -> Formula:
    tex = match["display"] or match["inline"]
    return Formula(LABEL.sub("", unescape(tex)).strip(), bool(match["display"]))


def render(html: str, typeset: Mapping[Formula, str]) -> str:
    """Put typeset formulas in the place of marked ones; a label becomes an id.

    A browser may break a line between a formula and its punctuation, so a formula
    that it cannot break inside takes the punctuation along.
    """

    def place(match: re.Match[str]) -> str:
        tag, closing, inside = match["tag"], match["closing"], typeset[_read(match)]
        if closing and inside.count('"katex-base"') == 1:
            return f'<{tag} class="arithmatex nowrap">{inside}{closing}</{tag}>'
        label = LABEL.search(match[0])
        name = f' id="{label[1]}"' if label else ""
        return f'<{tag} class="arithmatex"{name}>{inside}</{tag}>{closing}'

    return MARKED.sub(place, html)


def render_in_title(title: str, typeset: Mapping[Formula, str]) -> str:
    return BARE.sub(lambda match: typeset[_read(match)], title)


def as_text(html: str, text: Callable[[Formula], str]) -> str:
    return MARKED.sub(lambda match: text(_read(match)) + match["closing"], html)


def typeset(
    contents: Mapping[str, str], cache: Path, package: Path = PACKAGE
) -> dict[Formula, str]:
    """The HTML of every formula of the rendered pages, from the cache if it is there.

    KaTeX runs once, for all formulas that no earlier build has typeset.
    """
    places: dict[Formula, str] = {}
    for path, html in contents.items():
        places = dict.fromkeys(find(html), path) | places
    if places and not package.exists():
        raise Refusal("katex_missing", folder=package)
    if not places:
        return {}
    version = json.loads((package / "package.json").read_text("utf-8"))["version"]
    maker = version + SCRIPT.read_text("utf-8")
    slots = {
        formula: cache / f"{_digest(maker, str(formula.display), formula.tex)}.html"
        for formula in places
    }
    missing = {f: path for f, path in places.items() if not slots[f].exists()}
    for formula, result in _run(missing, package).items():
        if "error" in result:
            values = {"tex": formula.tex, "reason": result["error"]}
            raise Refusal("katex_refused", path=missing[formula], **values)
        store(slots[formula], result["html"].encode())
    return {formula: slot.read_text("utf-8") for formula, slot in slots.items()}


def _run(formulas: Iterable[Formula], package: Path) -> dict[Formula, dict[str, str]]:
    job = [formula._asdict() for formula in formulas]
    if not job:
        return {}
    node = str(Path(sys.executable).with_name("node"))
    command = [node, str(SCRIPT), (package / "dist" / "katex.mjs").as_uri()]
    texts = json.dumps(job).encode()
    answer = subprocess.run(command, input=texts, stdout=subprocess.PIPE, check=True)
    return dict(zip(formulas, json.loads(answer.stdout), strict=True))


def assets(typeset: Iterable[str], dist: Path, cache: Path) -> dict[str, str | bytes]:
    """KaTeX's styles and fonts by address, the styles first."""
    css = OLD_FONTS.sub("", (dist / "katex.min.css").read_text("utf-8"))
    shown = characters(typeset)
    fonts: dict[str, str | bytes] = {}
    for name in FONT.findall(css):
        whole = (dist / name).read_bytes()
        made_from = whole + Path(__file__).read_bytes() + shown.encode()
        slot = cache / f"{Path(name).stem}-{_digest(made_from)}.woff2"
        if not slot.exists():
            store(slot, _cut(dist / name, shown))
        fonts[f"assets/katex/{name}"] = content = slot.read_bytes()
        css = css.replace(name, f"{name}?{_digest(content)}")
    return {CSS: css} | fonts


def address(assets: Mapping[str, str | bytes]) -> str:
    return f"{CSS}?{_digest(assets[CSS])}"


def characters(typeset: Iterable[str]) -> str:
    """Every character that the visible half of a formula shows, in order."""
    visible = (VISIBLE.search(formula) for formula in typeset)
    texts = (TAG.sub("", found[0]) for found in visible if found)
    return "".join(sorted({char for text in texts for char in unescape(text)}))


def _cut(font: Path, shown: str) -> bytes:
    """A font with the glyphs of these characters; the same bytes at every call."""
    from fontTools import subset  # slow to import, and mostly not needed

    options = subset.Options(flavor="woff2", hinting=False)
    cutter = subset.Subsetter(options)
    cutter.populate(text=shown)
    content = BytesIO()
    with subset.load_font(str(font), options) as face:
        cutter.subset(face)
        subset.save_font(face, content, options)
    return content.getvalue()


def _digest(*parts: str | bytes) -> str:
    content = b"\0".join(p.encode() if isinstance(p, str) else p for p in parts)
    return sha256(content).hexdigest()[:32]


def searched(typeset: str) -> str:
    """A typeset formula as the search index shows it: the text of its MathML."""
    mathml = MATHML.search(typeset)
    return TAG.sub("", mathml[0]) if mathml else ""
