"""The built site on a phone, in the dark: the colours of its pages."""

from pathlib import Path

import pytest

from tests.browser.server import serve
from tests.browser.watching import (
    COLOURS,
    PHONE,
    Watch,
    is_sampled,
    of_each_kind,
    pages,
    tab_of,
)

PICTURE = '<figure class="picture">'


def test_nothing_is_wrong_on_a_phone_in_the_dark(browser, site, address):
    """Both languages share their colours; the rest was seen on a desk.

    A page with a picture has colours of its own. Those of all others are the theme's,
    as on one page of their folder.
    """
    sampled = filter(is_sampled, sorted(pages(site)))
    chinese = [path for path in sampled if not path.startswith("en/")]
    files = {path: site / path / "index.html" for path in chinese}
    drawn = {path for path in files if PICTURE in files[path].read_text("utf-8")}
    drawn -= {f"{Path(path).parent}/" for path in drawn}  # which show one of theirs
    with tab_of(browser, PHONE, "dark") as tab:
        watch = Watch(tab, address)
        judged = sorted(drawn | of_each_kind(chinese))
        assert [f for path in judged for f in watch.visit(path, COLOURS)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_colour_too_faint_in_the_dark_is_seen_there(browser, tmp_path, scheme):
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
