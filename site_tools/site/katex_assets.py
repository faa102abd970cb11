"""KaTeX's styles and fonts, cut to what the formulas of a site use.

Whole, they weigh half as much as all else on a page. Each address ends in a digest
of its content, so that no browser shows a new formula with an old font.
"""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path

from site_tools.ledger import store

CSS = "assets/katex/katex.css"
OLD_FONTS = re.compile(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)')
RULE = re.compile(r"([^{}]+)\{([^}]*)\}")
CLASSES = re.compile(r'class="([^"]*)"')
FAMILY = re.compile(r"KaTeX_\w+(?![\w-]*\.woff2)")
FONT = re.compile(r"url\((fonts/[\w-]+\.woff2)\)")
VISIBLE = re.compile(r'<span class="katex-html".*', re.DOTALL)


def assets(typeset: Iterable[str], dist: Path, cache: Path) -> dict[str, str | bytes]:
    """Styles and fonts by address, the styles first.

    Args:
        typeset: Every formula of the site, as KaTeX wrote it.
        dist: The folder of KaTeX that holds its styles and fonts.
        cache: A folder that keeps fonts between builds.
    """
    formulas = list(typeset)
    css = cut_styles((dist / "katex.min.css").read_text("utf-8"), formulas)
    shown = characters(formulas)
    fonts: dict[str, str | bytes] = {}
    for name in FONT.findall(css):
        content = _cached_font(dist / name, shown, cache)
        css = css.replace(name, f"{name}?{_digest(content)}")
        fonts[f"assets/katex/{name}"] = content
    return {CSS: css} | fonts


def address(assets: Mapping[str, str | bytes]) -> str:
    """Where a page finds the styles among these assets."""
    return f"{CSS}?{_digest(str(assets[CSS]).encode())}"


def characters(typeset: Iterable[str]) -> str:
    """Every character that the visible half of a formula shows, in order.

    Example:
        >>> characters(['<math>x</math><span class="katex-html"><b>b&lt;a</b></span>'])
        '<ab'
    """
    visible = (VISIBLE.search(formula) for formula in typeset)
    texts = (re.sub(r"<[^>]*>", "", found[0]) for found in visible if found)
    return "".join(sorted({char for text in texts for char in unescape(text)}))


def cut_styles(css: str, typeset: Iterable[str]) -> str:
    """Leave the rules that can apply to these formulas, and the fonts they name.

    Example:
        >>> css = ".katex .a{top:0}.katex .b,.katex .a>.b{top:1px}"
        >>> cut_styles(css, ['<span class="katex"><i class="a">'])
        '.katex .a{top:0}'
    """
    used = {
        name
        for formula in typeset
        for names in CLASSES.findall(formula)
        for name in names.split()
    }
    rules = RULE.findall(OLD_FONTS.sub("", css))
    kept = [
        (selectors, body)
        for selectors, body in rules
        if not selectors.startswith("@")
        and any(_applies(selector, used) for selector in selectors.split(","))
    ]
    families = {name for _, body in kept for name in FAMILY.findall(body)}
    faces = [
        (selectors, body)
        for selectors, body in rules
        if selectors.startswith("@") and families & set(FAMILY.findall(body))
    ]
    return "".join(f"{selectors}{{{body}}}" for selectors, body in faces + kept)


def _applies(selector: str, used: set[str]) -> bool:
    needed = re.sub(r":not\([^)]*\)", "", selector)
    return set(re.findall(r"\.([a-zA-Z][\w-]*)", needed)) <= used


def cut_font(font: Path, shown: str) -> bytes:
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


def _cached_font(font: Path, shown: str, cache: Path) -> bytes:
    made_from = font.read_bytes() + Path(__file__).read_bytes() + shown.encode()
    slot = cache / f"{font.stem}-{_digest(made_from)}{font.suffix}"
    if not slot.exists():
        store(slot, cut_font(font, shown))
    return slot.read_bytes()


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
