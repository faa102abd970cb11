"""The whole site in site/: both languages at the same time, or nothing new at all.

Run it from the root of the repository: ``python -m site_tools.build.publish``. A page
that is not verified as it stands fails the build; with ``--draft`` it says so.

Each built page gets one style sheet and a policy of what may run in it. Then what
readers and programs take along is added: llms.txt and llms-full.txt of each language,
and offline.zip with all of it.
"""

import argparse
import os
import posixpath
import re
import shutil
import sys
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path

from mkdocs.__main__ import cli as mkdocs
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, ConfigurationError

from site_tools.build.serve import CONFIGS
from site_tools.compile import downloads, llms, ways
from site_tools.finish import finished
from site_tools.ledger import digest

SITE = Path("site")
ASIDE = Path(".cache", "publish")
# Material's notice of MkDocs 2, which each language would print.
QUIET = {"NO_MKDOCS_2_WARNING": "1"}
OFFERED = re.compile(r'<span data-download="([^"]+)">([^<]+)</span>')
FIRST = "assets/first.css"


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the site in both languages.")
    parser.add_argument("--draft", action="store_true")
    strict = [] if parser.parse_args().draft else ["--strict"]
    shutil.rmtree(ASIDE, ignore_errors=True)
    os.environ.update(QUIET)
    import_plugins()
    with ProcessPoolExecutor() as pool:
        ended = zip(CONFIGS, pool.map(build, CONFIGS, repeat(strict)), strict=True)
        failed = [lang for lang, well in ended if not well]
        if failed:
            kept = f"; {SITE}/ is as it was" if SITE.exists() else ""
            sys.exit(f"not built: {', '.join(failed)}, see above{kept}")
        (ASIDE / "en").rename(ASIDE / "zh" / "en")
        try:
            finish_pages(ASIDE / "zh", pool)
            add_downloads(ASIDE / "zh", pool)
        except ValueError as error:
            sys.exit(f"not built: {error}")
    shutil.rmtree(SITE, ignore_errors=True)
    (ASIDE / "zh").rename(SITE)


def import_plugins() -> None:
    """Import what a build needs, which takes as long, before this process is forked."""
    with suppress(Abort, ConfigurationError):  # which each build says again
        load_config(CONFIGS["zh"])


def build(lang: str, options: Sequence[str]) -> bool:
    """Build one language aside; whether that went well."""
    folder = str(ASIDE.absolute() / lang)
    try:
        mkdocs.main(["build", *options, "-f", CONFIGS[lang], "-d", folder])
    except SystemExit as end:
        return not end.code
    return True


def finish_pages(site: Path, pool: Executor) -> None:
    """Give every page of both languages its sheet and its policy."""
    texts = [*site.rglob("*.html"), *site.rglob("*.js")]
    known = finished.words(path.read_text("utf-8") for path in texts)
    for home in ways.SITES.values():
        folder = site / home.folder
        first = finished.sheet([("", (folder / FIRST).read_text("utf-8"))], known)
        name = _merge_sheets(folder, known)
        pages = [
            page
            for page in folder.rglob("*.html")
            if folder != site or not page.is_relative_to(site / "en")
        ]
        finish = pool.map(finish_page, pages, repeat(name), repeat(first), chunksize=20)
        deque(finish, maxlen=0)


def _merge_sheets(folder: Path, known: Collection[str]) -> str:
    """Make one of the sheets that the pages of a language link; its place there.

    Every page links the same, and they are files no more.
    """
    home = (folder / "index.html").read_text("utf-8")
    sheets = [folder / href for href in finished.SHEET.findall(home)]
    assets = folder / "assets"
    styles = [
        (f"{sheet.parent.relative_to(assets).as_posix()}/", sheet.read_text("utf-8"))
        for sheet in sheets
    ]
    css = finished.sheet(styles, known)
    name = f"assets/site.{digest(css, 8)}.css"
    for old in [*assets.glob("*.css"), *assets.glob("stylesheets/*"), *sheets]:
        old.unlink(missing_ok=True)
    (folder / name).write_text(css, "utf-8")
    return name


def finish_page(page: Path, sheet: str, first: str) -> None:
    html = finished.link_sheet(page.read_text("utf-8"), sheet, first)
    page.write_text(finished.add_policy(html), "utf-8")


def add_downloads(site: Path, pool: Executor) -> None:
    """Put them into the folder of both languages, their sizes where it names them.

    A page that cannot be read, or its link that leads nowhere, is a ValueError.
    """
    texts = [*chain.from_iterable(pool.map(_texts, CONFIGS, repeat(site)))]
    _link(site, texts)
    made = shutil.make_archive(str(ASIDE / "site"), "zip", site)
    Path(made).rename(site / downloads.ZIP)
    _link(site, [downloads.ZIP])


def _texts(lang: str, site: Path) -> list[str]:
    """Write those of one language; their paths in the site."""
    config = load_config(CONFIGS[lang])
    folder = ways.SITES[lang].folder
    made = llms.Site(
        lang,
        config.site_name,
        config.copyright or "",
        root=config.site_url or "",
        wheel=next((site / folder).glob("*.whl"), Path()).name,
    )
    pages = llms.read(Path.cwd(), made)
    texts = {
        downloads.LIST: llms.listed(made, pages),
        downloads.FULL: llms.full(made, pages),
    }
    for name, text in texts.items():
        (site / folder / name).write_text(text, "utf-8")
    return [folder + name for name in texts]


def link_downloads(html: str, page: str, sizes: Mapping[str, int]) -> str:
    """Link what has been made, with its size."""

    def link(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[1]))
        if path not in sizes:
            return match[0]
        count = sizes[path]
        size = f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
        return f'<a href="{match[1]}">{match[2]}</a> ({size})'

    return OFFERED.sub(link, html)


def _link(site: Path, made: list[str]) -> None:
    sizes = {path: (site / path).stat().st_size for path in made}
    for home in ways.SITES.values():
        name = f"{home.folder}{downloads.OFFLINE}index.html"
        page = site / name
        if page.exists():
            html = page.read_text("utf-8")
            page.write_text(link_downloads(html, name, sizes), "utf-8")


if __name__ == "__main__":
    main()
