"""The whole site in site/: both languages at the same time, or nothing new at all.

Run it from the root of the repository: ``python -m docs.theme.publish``. A block that
is not verified as it stands fails the build; with ``--draft`` it is only marked so.

To the built pages it adds what readers and programs take along: llms.txt and
llms-full.txt of each language, and offline.zip with all of it. Then each page takes its
style sheets in.
"""

import argparse
import os
import posixpath
import re
import shutil
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path

from mkdocs.__main__ import cli as mkdocs
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, ConfigurationError

from docs.theme.serve import CONFIGS
from site_tools.site import downloads, llms, ways

SITE = Path("site")
ASIDE = Path(".cache", "publish")
# Material's notice of MkDocs 2, which each language would print.
QUIET = {"NO_MKDOCS_2_WARNING": "1"}
OFFERED = re.compile(r'<span data-download="([^"]+)">([^<]+)</span>')
SHEET = re.compile(r'<link rel="stylesheet" href="([^"/:][^":]*)">')
BLANKS = re.compile(r"\s+(?=[{}])|(?<=[{};])\n\s*|(?<=[{}])\s+")
FONT = re.compile(r"url\((?=fonts/)")


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
            add_downloads(ASIDE / "zh", pool)
        except ValueError as error:
            sys.exit(f"not built: {error}")
        pages = (ASIDE / "zh").rglob("*.html")
        deque(pool.map(take_styles_in, pages, chunksize=20), maxlen=0)
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


def take_styles_in(page: Path) -> None:
    """Put its style sheets into a page, with the way to their fonts.

    A slow phone shows it a third of a second sooner: after one answer, not two.
    """

    def sheet(match: re.Match[str]) -> str:
        path = match[1].partition("?")[0]
        css = page.parent.joinpath(path).read_text("utf-8").strip()
        css = BLANKS.sub("", css)
        return f"<style>{FONT.sub(f'url({posixpath.dirname(path)}/', css)}</style>"

    page.write_text(SHEET.sub(sheet, page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
