"""The built tree of a language, its pages finished: what is made of them all."""

import posixpath
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from site_tools.compile import links
from site_tools.compile.links import Target
from site_tools.finish import formulas, head, search_index
from site_tools.finish.article import parsed, written
from site_tools.finish.page import Finished, Site
from site_tools.ledger import digest
from site_tools.source.files import page_ids

FIRST_SCREEN = "assets/first.css"
# In scripts only whole lines: // stands in addresses too.
COMMENT = re.compile(r"^[ \t]*//.*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/\n?", re.MULTILINE)


def pages_of(site: Site) -> list[str]:
    """Every page of a built language, by its path in it."""
    found = []
    for path in sorted(site.folder.rglob("*.html")):
        inner = path.relative_to(site.folder).as_posix()
        # The Chinese site has the English one within it.
        if site.lang == "en" or not inner.startswith("en/"):
            found.append(inner)
    return found


def first_styles(folder: Path) -> str:
    """The styles that the first screen needs, without comments and blanks."""
    return head.squeeze(lean((folder / FIRST_SCREEN).read_text("utf-8")))


def write_index(site: Site, pages: Sequence[Finished]) -> None:
    """Write the file that the search reads; first a small part of it."""
    folder = site.folder / "search"
    folder.mkdir(exist_ok=True)
    in_order = sorted(pages, key=lambda page: page.path.removesuffix("index.html"))
    found = [entry for page in in_order for entry in page.entries]
    whole = search_index.dump_index(found, site.lang)
    (folder / "search_index.json").write_text(whole, "utf-8")
    (folder / "first.json").write_text(search_index.dump_first(found), "utf-8")


def write_redirects(site: Site, pages: Sequence[Finished], name: str) -> None:
    """The stubs that stand where pages were, and the short addresses.

    A place that is not there is a ValueError.
    """
    docs = site.root / "docs"
    known = {page.id for page in pages} | {*page_ids(site.root)}
    ids = {page.id: page.ids for page in pages}
    moves = links.redirects(_read_text(docs / "redirects.yml"), known)
    links.check_anchors(moves, ids)
    short = links.short(_read_text(docs / "short.yml"), known, moves)
    links.check_anchors(short, ids, links.SHORT)
    urls = {page.path.removesuffix("index.html"): page.id for page in pages}
    found = [entry for page in pages for entry in page.entries]
    targets = search_index.cards(found, urls)
    for page in pages:
        if page.id:
            url = page.path.removesuffix("index.html")
            targets[page.id] = Target(url, page.title, page.about)
    stubs = links.redirect_stubs(
        {**moves, **short}, targets, site.lang, site.address, name
    )
    for path, html in stubs.items():
        soup = parsed(html)
        if site.first:
            head.add_policy(soup)
        (site.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (site.folder / path).write_text(written(soup), "utf-8")


def _read_text(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""


def write_formula_styles(site: Site, pages: Sequence[Finished]) -> str:
    """The styles of the site's formulas; their fonts are written."""
    each = {formula: page.path for page in pages for formula in page.formulas}
    if not each:
        return ""
    typeset = formulas.typeset_all(each, site.katex)
    shown = [{typeset[formula] for formula in page.formulas} for page in pages]
    dist = formulas.KATEX_PACKAGE / "dist"
    made = formulas.assets([one for one in shown if one], dist, site.katex)
    css = str(made.pop(formulas.CSS))
    for path, content in made.items():
        file = site.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return css


def lean(code: str) -> str:
    """A script or a style sheet without its comments, a sixth of what is sent."""
    return COMMENT.sub("", code)


def lean_assets(site: Site) -> None:
    """Our scripts and sheets without their comments."""
    ours = site.root / "docs" / "theme"
    for path in site.folder.joinpath("assets").rglob("*"):
        inner = path.relative_to(site.folder)
        widget = inner.as_posix().startswith("assets/lab/")
        if path.suffix in (".js", ".css") and (widget or (ours / inner).is_file()):
            path.write_text(lean(path.read_text("utf-8")), "utf-8")


def remove_pictures(site: Site) -> None:
    """Pictures are in the pages now."""
    for name, _ in _pictures(site):
        (site.folder / name).unlink(missing_ok=True)


def _pictures(site: Site) -> list[tuple[str, Path]]:
    found = []
    for path in site.folder.rglob("*.svg"):
        inner = path.relative_to(site.folder).as_posix()
        if not inner.startswith(("assets/", "en/")):
            found.append((inner, path))
    return found


def merge_sheets(site: Site, sheets: Sequence[str], katex: str) -> str:
    """Make one of the sheets that the pages linked; its name, which has a digest.

    Every page links the same, and they are files no more.
    """
    assets = site.folder / "assets"
    styles = []
    for sheet in sheets:
        file = site.folder / sheet
        if not any(name in sheet for name in head.UNUSED):
            way = f"{posixpath.relpath(posixpath.dirname(sheet), 'assets')}/"
            styles.append((way, file.read_text("utf-8")))
    if katex:
        styles.append(("katex/", katex))
    css = head.sheet(styles, words_of(site))
    for old in [*assets.glob("*.css"), *assets.glob("stylesheets/*")]:
        old.unlink(missing_ok=True)
    name = f"assets/site.{digest(css, 8)}.css"
    (site.folder / name).write_text(css, "utf-8")
    for path in pages_of(site):
        page = site.folder / path
        html = page.read_text("utf-8")
        page.write_text(html.replace(f'{head.SHEET}"', f'{name}"'), "utf-8")
    return name


def words_of(site: Site) -> Collection[str]:
    """Every word that may name a class, or ask for a property of the sheet.

    The styles of widgets are files of their own; the theme's search is not ours.
    """
    scripts = [*site.folder.rglob("*.js"), *site.folder.glob("assets/lab/**/*.css")]
    return head.class_names(
        (path.read_text("utf-8") for path in site.folder.rglob("*.html")),
        (path.read_text("utf-8") for path in scripts if path.parent.name != "lunr"),
    )


def linked_sheets(site: Site) -> list[str]:
    """The sheets that the theme links in the pages of a language, by their places."""
    home = parsed((site.folder / "index.html").read_text("utf-8"))
    hrefs = (str(link["href"]).partition("?")[0] for link in head.sheets(home))
    return [posixpath.normpath(href) for href in hrefs]
