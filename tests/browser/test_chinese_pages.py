"""Every Chinese page of the built site: on a desk by day, on a phone in the dark.

This crawl takes longest, and has a file of its own so that another process can do the
rest meanwhile.
"""

from pathlib import Path

from tests.browser.watching import (
    ALL,
    DESK,
    Watch,
    crawl,
    is_sampled,
    of_each_kind,
    pages,
    tab_of,
)

PICTURE = '<figure class="picture">'


def of_own_colours(site: Path, paths: list[str]) -> set[str]:
    """The pages to look at in the dark as well.

    A page with a picture has colours of its own. Those of all others are the theme's,
    as on one page of their folder.
    """
    drawn = set()
    for path in paths:
        if PICTURE in (site / path / "index.html").read_text("utf-8"):
            drawn.add(path)
    drawn -= {f"{Path(path).parent}/" for path in drawn}  # which show one of theirs
    return drawn | of_each_kind(paths) | {"debug/frameworks/"}


def test_nothing_is_wrong_with_a_chinese_page(browser, site, address):
    """Both languages share their colours."""
    chinese = [path for path in sorted(pages(site)) if not path.startswith("en/")]
    sampled = list(filter(is_sampled, chinese))
    judged = {path: ALL if path in sampled else None for path in chinese}
    dark = of_own_colours(site, sampled)
    assert dark <= {*sampled}
    with tab_of(browser, DESK, "light") as tab:
        assert list(crawl(judged, Watch(tab, address), dark)) == []
