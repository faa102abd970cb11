"""The whole site in site/: both languages at the same time, or nothing new at all.

Run it from the root of the repository: ``python -m site_tools.build.publish``. A page
that is not verified as it stands fails the build; with ``--draft`` it says so.

Pages are compiled to Markdown, a generator makes a site of each language, and
that tree is finished. Then what readers and programs take along is added: llms.txt and
llms-full.txt of each language, the booklet, and offline.zip with all of it.
"""

import argparse
import os
import posixpath
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache, partial
from itertools import chain, product, repeat
from pathlib import Path

from site_tools.booklet.make import write_book
from site_tools.compile import downloads, links, llms, news
from site_tools.compile.site import (
    COMPILED,
    CONFIGS,
    Compiler,
    plain_settings,
    told,
)
from site_tools.finish import tree
from site_tools.finish.article import parsed, written
from site_tools.finish.page import Finished, Site, finish_pages
from site_tools.judge import words
from site_tools.page.page import read_page
from site_tools.run.passed import Passed, VerdictLine, read_passed, unverified
from site_tools.source.files import paths

SITE = Path("site")
ASIDE = Path(".cache", "publish")
# Material's notice of MkDocs 2, which each language would print.
QUIET = {"NO_MKDOCS_2_WARNING": "1"}
GENERATORS = ("mkdocs", "properdocs")
PAGES_AT_ONCE = 20  # pages that a process finishes, their formulas typeset together


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the site in both languages.")
    parser.add_argument("--draft", action="store_true")
    parser.add_argument("--generator", choices=GENERATORS, default=GENERATORS[0])
    asked = parser.parse_args()
    shutil.rmtree(ASIDE, ignore_errors=True)
    with ProcessPoolExecutor() as pool:
        try:
            faults = pool.map(compile_pages, CONFIGS, repeat(asked.draft))
            refuse([*chain.from_iterable(faults)])
            build_site(asked.generator, ASIDE, strict=not asked.draft)
            (ASIDE / "en").rename(ASIDE / "zh" / "en")
            finish(pool)
            add_downloads(ASIDE / "zh", pool, asked.draft)
        except ValueError as error:
            kept = f"; {SITE}/ is as it was" if SITE.exists() else ""
            sys.exit(f"{error}\nnot built{kept}")
    shutil.rmtree(SITE, ignore_errors=True)
    (ASIDE / "zh").rename(SITE)


def compile_pages(lang: str, draft: bool) -> list[str]:
    """Compile one language; what is wrong with its pages.

    In a draft a page may be unverified.
    """
    root, found = Path.cwd(), list[str]()
    Compiler(root, lang, told()).compile(found.append)
    known, every = read_passed(root), sorted(paths(root / "docs" / lang))
    for path in every if not draft else ():
        page = read_page(root, f"docs/{lang}/{path}")
        found += map(str, unverified(known, page.path))
        found += map(str, words.todo(root, page.path, page.text))
    return found


def refuse(faults: Sequence[str]) -> None:
    """Refuse to go on where something is wrong."""
    if faults:
        raise ValueError("\n".join(faults))


def build_site(generator: str, folder: Path, *, strict: bool) -> None:
    """Build both languages into a folder, at the same time."""
    running = {}
    for lang in CONFIGS:
        command = [sys.executable, "-m", generator, "build"]
        command += ["--config-file", str(Path(COMPILED, f"{lang}.yml"))]
        command += ["--site-dir", str(folder.absolute() / lang)]
        if strict:
            command.append("--strict")
        # Not --quiet: a warning that is not told fails no strict build.
        running[lang] = subprocess.Popen(
            command, env=os.environ | QUIET, stderr=subprocess.PIPE, text=True
        )
    failed = []
    for lang, process in running.items():
        _, said = process.communicate()
        told_of = [line for line in said.splitlines() if not line.startswith("INFO")]
        for line in told_of:
            print(line, flush=True)
        if process.returncode:
            failed.append(lang)
    if failed:
        raise ValueError(f"{', '.join(failed)}: see above")


def finish(pool: Executor) -> None:
    """Finish the pages of both languages, then what is made of all of them."""
    sites = [site_of(lang) for lang in CONFIGS]
    sheets = [tree.linked_sheets(site) for site in sites]
    under_way = []
    for site in sites:
        every = tree.pages_of(site)
        parts = [
            every[at : at + PAGES_AT_ONCE] for at in range(0, len(every), PAGES_AT_ONCE)
        ]
        under_way.append(pool.map(partial(finish_pages, site), parts))
    for site, linked, done in zip(sites, sheets, under_way, strict=True):
        complete(site, linked, [*chain.from_iterable(done)])


def complete(site: Site, sheets: Sequence[str], pages: Sequence[Finished]) -> None:
    """All that is made of the finished pages of a language."""
    tree.lean_assets(site)
    tree.write_index(site, pages)
    tree.write_redirects(site, pages, plain_settings(site.root, site.lang)["site_name"])
    tree.merge_sheets(site, sheets, tree.write_formula_styles(site, pages))
    tree.remove_pictures(site)


def site_of(lang: str) -> Site:
    folder = ASIDE.absolute() / "zh" / links.SITES[lang].folder
    first = tree.first_styles(folder)
    publisher = told()
    address, repository = publisher.of(lang), publisher.repository
    return Site(Path.cwd(), lang, folder, address, repository, first, verdict_line)


def verdict_line(page: str) -> VerdictLine | None:
    """With what a page was verified, as its last line says it."""
    return _passed().verdict_line(page)


@cache
def _passed() -> Passed:
    return read_passed(Path.cwd())


def add_downloads(site: Path, pool: Executor, draft: bool) -> None:
    """Put them into the folder of both languages, their sizes where it names them.

    A draft has no PDF, which takes longer than all else.
    A page that cannot be read, or its link that leads nowhere, is a ValueError.
    """
    texts = [*chain.from_iterable(pool.map(_texts, CONFIGS, repeat(site)))]
    (site / downloads.SKILL).parent.mkdir(parents=True)
    shutil.copy(downloads.SKILL, site / downloads.SKILL)
    feeds = [home.folder + news.FEED for home in links.SITES.values()]
    texts += [name for name in feeds if (site / name).is_file()]
    for names in pool.map(_booklet, CONFIGS, repeat(site), repeat(not draft)):
        texts += names
    _link(site, [*texts, downloads.SKILL])
    made = shutil.make_archive(str(ASIDE / "site"), "zip", site)
    Path(made).rename(site / downloads.ZIP)
    _link(site, [downloads.ZIP])


def _texts(lang: str, site: Path) -> list[str]:
    """Write those of one language; their paths in the site."""
    config, folder = plain_settings(Path.cwd(), lang), links.SITES[lang].folder
    made = llms.LlmsSite(
        lang,
        config["site_name"],
        config["copyright"],
        root=told().address,
        wheel=next((site / folder).glob("*.whl"), Path()).name,
    )
    pages = llms.plain_pages(Path.cwd(), made, Path(COMPILED, lang))
    texts = {
        downloads.LLMS: llms.listed(made, pages),
        downloads.FULL: llms.full(made, pages),
    }
    for name, text in texts.items():
        (site / folder / name).write_text(text, "utf-8")
    for page in pages:
        file = site / folder / page.address / downloads.PAGE
        file.write_text(f"# {page.title}\n\n{page.text_beside}\n", "utf-8")
    return [folder + name for name in texts]


def _booklet(lang: str, site: Path, printed: bool) -> list[str]:
    """Write the course and the short answers as a book; the paths in the site."""
    folder = links.SITES[lang].folder
    made = write_book(Path.cwd(), lang, site / folder, printed=printed)
    return [folder + name for name in made]


def link_downloads(html: str, page: str, sizes: Mapping[str, int]) -> str:
    """Link what has been made, with its size."""
    soup = parsed(html)
    for place in soup.find_all("span", attrs={"data-download": True}):
        href = str(place["data-download"])
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), href))
        if path in sizes:
            size = _size(sizes[path])
            link = soup.new_tag("a", attrs={"href": href})
            link.extend(list(place.children))
            place.replace_with(link, f" ({size})")
    return written(soup)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _link(site: Path, made: list[str]) -> None:
    sizes = {path: (site / path).stat().st_size for path in made}
    offering = (downloads.OFFLINE, links.address(news.NEWS_PAGE))
    for home, url in product(links.SITES.values(), offering):
        name = f"{home.folder}{url}index.html"
        page = site / name
        if page.exists():
            html = page.read_text("utf-8")
            page.write_text(link_downloads(html, name, sizes), "utf-8")


if __name__ == "__main__":
    main()
