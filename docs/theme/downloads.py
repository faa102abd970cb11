"""What readers and programs take along, made from the built site.

llms.txt and llms-full.txt of each language, and offline.zip with all of it.
"""

from concurrent.futures import ProcessPoolExecutor
from itertools import chain, repeat
from pathlib import Path

from mkdocs.config import load_config

from docs.theme.building import CONFIGS
from site_tools.offline.archive import pack
from site_tools.offline.copy import copy
from site_tools.plain import llms, pages
from site_tools.site import status, ways

FOLDER = "ppo-verified"  # what the zip unpacks to


def add(site: Path) -> None:
    """Put them into the site, and their sizes where it names them.

    Args:
        site: The folder with both languages.

    Raises:
        ValueError: naming a page that cannot be read, or its link that leads nowhere.
    """
    with ProcessPoolExecutor() as pool:
        texts = [*chain.from_iterable(pool.map(_texts, CONFIGS, repeat(site)))]
    _link(site, texts)
    files = sorted(path for path in site.rglob("*") if path.is_file())
    contents = {path.relative_to(site).as_posix(): path.read_bytes() for path in files}
    home = load_config(CONFIGS["zh"]).site_url or ""
    (site / status.ZIP).write_bytes(pack(copy(contents, home), FOLDER))
    _link(site, [status.ZIP])


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
    read = pages.read(Path.cwd(), lang, made.home)
    texts = {
        status.LIST: llms.listed(made, read),
        status.FULL: llms.full(made, read),
    }
    for name, text in texts.items():
        (site / folder / name).write_text(text, "utf-8")
    return [folder + name for name in texts]


def _link(site: Path, made: list[str]) -> None:
    sizes = {path: (site / path).stat().st_size for path in made}
    for home in ways.SITES.values():
        name = f"{home.folder}{status.OFFLINE}index.html"
        page = site / name
        if page.exists():
            html = page.read_text("utf-8")
            page.write_text(status.link_downloads(html, name, sizes), "utf-8")
