"""Chromium without a window, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Unavailable(Exception):
    """A browser or its driver is missing; the text says what installs it."""


@contextmanager
def chromium() -> Iterator[Any]:
    """The running browser.

    Raises:
        Unavailable: if the browser or what drives it is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Unavailable("no driver of Chromium: make tools") from None
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise Unavailable("no Chromium here (apt install chromium)")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()
