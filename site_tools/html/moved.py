"""What stands where a page or an anchor was: a link that leads on, by itself if it can.

Links are relative, so that they hold at any address of the site.
"""

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from site_tools.data.redirects import Redirects
from site_tools.html import twins

STUB = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<script>
location.replace("{href}".replace(/#.*|$/, (own) => location.hash || own))
</script>
<noscript><meta http-equiv="refresh" content="0; url={href}"></noscript>
<style>:root {{ color-scheme: light dark; font-family: system-ui, sans-serif }}</style>
</head>
<body><p>{moved} <a href="{href}">{title}</a></p></body>
</html>
"""
MOVED = {"zh": "这一页已移到", "en": "This page has moved:"}
MOVED_PART = {"zh": "这一问已移到", "en": "This has moved:"}


class Target(NamedTuple):
    """A page: its address within the site of its language, and its title."""

    url: str
    title: str


def stubs(moves: Redirects, pages: Mapping[str, Target], lang: str) -> dict[str, str]:
    """The files that stand where pages were, by their path in the site.

    Args:
        moves: What ``redirects.parse`` gives.
        pages: The pages of one language, by path without suffix.
        lang: That language.
    """
    made = {}
    for old, new in moves.items():
        if old.anchor or new.page not in pages:
            continue
        folder = "" if old.page == "index" else old.page.removesuffix("/index") + "/"
        target = pages[new.page]
        link = _link(lang, folder, target.url, new.anchor)
        text = STUB.format(
            lang=lang, href=link, title=escape(target.title), moved=MOVED[lang]
        )
        made[f"{folder}index.html"] = text
    return made


def parts(moves: Redirects, pages: Mapping[str, Target], lang: str) -> dict[str, str]:
    """What to put before each page from which anchors moved, by the page's path.

    It is unseen unless a reader was sent to that anchor.

    Args:
        moves: As in :func:`stubs`.
        pages: As in :func:`stubs`.
        lang: As in :func:`stubs`.
    """
    made: dict[str, str] = {}
    for old, new in moves.items():
        if not old.anchor or old.page not in pages or new.page not in pages:
            continue
        target = pages[new.page]
        link = _link(lang, pages[old.page].url, target.url, new.anchor)
        made[old.page] = made.get(old.page, "") + (
            f'<p class="moved" id="{old.anchor}" data-search-exclude="1">'
            f'{MOVED_PART[lang]} <a href="{link}">{escape(target.title)}</a></p>'
        )
    return made


def _link(lang: str, url: str, target: str, anchor: str) -> str:
    fragment = f"#{anchor}" if anchor else ""
    return escape(twins.link(lang, url, lang, target) + fragment)
