"""Chromium without a window, which prints the book and runs the browser tests."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from site_tools.messages import Refusal

BROWSERS = ("chromium", "google-chrome", "chromium-browser")


class Unavailable(Refusal):
    """A browser, its driver or a font is missing; the text says what installs it."""


@contextmanager
def chromium() -> Iterator[Any]:
    """The running browser.

    Raises:
        Unavailable: if the browser or what drives it is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Unavailable("browser_no_driver") from None
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise Unavailable("browser_missing")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()
