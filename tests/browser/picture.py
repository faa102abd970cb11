"""The pictures of both READMEs: a page of the built site, as Chromium shows it.

Run it after ``make build``: ``.venv/bin/python -m tests.browser.picture``.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from site_tools.browser import chromium
from site_tools.compile.links import SITES
from tests.browser.server import serve
from tests.layout import ROOT

PAGE = "off_policy/whose_log_prob/"  # its first code ends soonest
WIDTH, BELOW = 900, 20  # pixels
SHARPER = 1.25  # for the screens that show more
COLOURS = 64  # a page has few; it is a third of the size then


def file_of(lang: str) -> Path:
    """Where the picture of a language lies; its README names it."""
    return ROOT / ".github" / f"page_{lang}.png"


def taken(browser: Any, address: str) -> bytes:
    """A picture of a page, from its top to what its first code prints."""
    size = {"width": WIDTH, "height": WIDTH}
    context = browser.new_context(viewport=size, device_scale_factor=SHARPER)
    tab = context.new_page()
    tab.goto(address)
    tab.mouse.move(50, 50)  # which brings the theme's script
    tab.wait_for_load_state("networkidle")
    tab.evaluate("document.fonts.ready")
    output = tab.locator(".language-output").first.bounding_box()
    size["height"] = output["y"] + output["height"] + BELOW
    shot: bytes = tab.screenshot(full_page=True, clip={"x": 0, "y": 0, **size})
    context.close()
    return shot


def main() -> None:
    with chromium() as browser, serve(ROOT / "site") as address:
        for lang, site in SITES.items():
            shot = taken(browser, f"{address}{site.folder}{PAGE}")
            with Image.open(BytesIO(shot)) as picture:
                few = picture.convert("RGB").quantize(COLOURS)
            few.save(file_of(lang), optimize=True)
            print(f"{file_of(lang).relative_to(ROOT)}: a look at it, then commit it")


if __name__ == "__main__":
    main()
