"""Every page of the built site on a phone, in the dark."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import serve
from tests.browser.watching import (
    COLOURS,
    PHONE,
    Watch,
    is_sampled,
    pages,
    tab_of,
)


def test_nothing_is_wrong_on_a_phone_in_the_dark(
    browser: Any, site: Path, address: str
) -> None:
    """Both languages share their colours; the rest was seen on a desk."""
    chinese = [path for path in sorted(pages(site)) if not path.startswith("en/")]
    with tab_of(browser, PHONE, "dark") as tab:
        watch = Watch(tab, address)
        sampled = filter(is_sampled, chinese)
        assert [f for path in sampled for f in watch.visit(path, COLOURS)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_colour_too_faint_in_the_dark_is_seen_there(
    browser: Any, tmp_path: Path, scheme: str
) -> None:
    (tmp_path / "index.html").write_text(
        """<!doctype html><title>A page</title><link rel="icon" href="data:,"><style>
        p {color: #fff; background: #000}
        @media (prefers-color-scheme: dark) {p {color: #222}}</style><p>words</p>""",
        "utf-8",
    )
    with tab_of(browser, PHONE, scheme) as tab, serve(tmp_path) as address:
        faults = Watch(tab, address).visit("", COLOURS)
    assert [fault.partition(":")[2][1:15] for fault in faults] == (
        ["color-contrast"] if scheme == "dark" else []
    )
