"""Links from elsewhere to what has moved still arrive."""

from hashlib import sha256

import pytest

from site_tools.compile import links
from site_tools.compile.links import Target, check_anchors
from site_tools.compile.links import redirects as parse
from site_tools.data.rows import plain_yaml
from tests.layout import ROOT

PAGES = {"gae/a", "gae/b", "rewards/index", "index"}


def test_pages_and_anchors_move():
    moves = parse("gae/old: gae/a\ngae/a#q-004-1: gae/b#q-004-1\n", PAGES)
    assert {str(old): str(new) for old, new in moves.items()} == {
        "gae/old": "gae/a",
        "gae/a#q-004-1": "gae/b#q-004-1",
    }


FAULTS = {
    "gae/old: gae/c": "gae/old: must lead to a page that exists, got gae/c",
    "gae/a: gae/b": "gae/a: the page still exists; remove the line",
    "gae/a#x: gae/b#y\ngae/b#y: gae/b#z": "gae/a#x: gae/b#y is itself redirected; "
    "lead to where that goes, gae/b#z",
    "gae/x: gae/y\ngae/y: [gae/a]": "a place must be folder/page or folder",
    "gae/x: gae/x": "gae/x: gae/x leads back to a place that is redirected",
    "gae/x: gae/y\ngae/y: gae/x": "gae/x: gae/y leads back to a place that is",
    "gae/x: gae/y\ngae/y: gae/z\ngae/z: gae/a": "gae/x: gae/y is itself redirected; "
    "lead to where that goes, gae/a",
    "gae/old.md: gae/a": "a place must be folder/page or folder/page#anchor, got gae",
    "gae/old: https://example.org": "a place must be folder/page or .*, got https:",
    "- gae/a": "must hold lines of the form old: new",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_refused(text):
    with pytest.raises(
        ValueError, match=rf"^docs/redirects\.yml(:\d+)?: {FAULTS[text]}"
    ):
        parse(text, PAGES)


def moves(text: str) -> dict[str, str]:
    return parse(text, PAGES)


def test_the_anchors_of_a_page_are_held():
    anchors = {"gae/a": {"code"}, "gae/b": {"q-004-1"}}
    check_anchors(moves("gae/a#q-004-1: gae/b#q-004-1"), anchors)
    check_anchors(moves("gae/a#x: rewards/index#y"), anchors)  # not in this language
    with pytest.raises(
        ValueError, match="gae/b#why must be there, and the page has no"
    ):
        check_anchors(moves("gae/old: gae/b#why"), anchors)


TARGETS = {
    "gae/a": Target("gae/a/", "A?"),
    "gae/b": Target("gae/b/", "B?"),
}


def test_what_is_not_written_in_a_language_is_not_led_to():
    text = "gae/old: rewards/index\ngae/a#x: rewards/index#x\nrewards/index#y: gae/a"
    assert links.redirect_stubs(moves(text), TARGETS, "zh") == {}
    titles = {"gae/a": "A?"}
    assert links.moved_parts(moves(text), titles, "zh", "gae/a") == []


def test_a_part_that_moved_leads_on_from_where_it_was():
    text = "gae/a#x: gae/b#y\nrewards/index#z: gae/a"
    titles = {"gae/a": "A?", "gae/b": "B?"}
    moved = links.moved_parts(moves(text), titles, "zh", "gae/a")
    assert moved == [("x", "../b/#y", "B?")]
    assert links.moved_parts(moves(text), titles, "en", "gae/b") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("q/1: gae/a\nq/3: gae/b", "numbers must follow .*: q/2 here, got q/3"),
        ("q/1: gae/c", "q/1: must lead to a page that exists, got gae/c"),
    ],
)
def test_a_short_address_without_its_number_or_its_page_is_refused(text, fault):
    with pytest.raises(ValueError, match=rf"^docs/short\.yml: {fault}"):
        links.short(text, PAGES, {})


# Others have them in their threads. Who publishes more of them raises both.
PUBLISHED = 62, "fd4e716ded3c2858"


@pytest.mark.pages
def test_a_published_short_address_keeps_its_place():
    count, digest = PUBLISHED
    places = [
        *plain_yaml((ROOT / links.SHORT).read_text("utf-8"), links.SHORT).values()
    ]
    now = sha256("\n".join(places[:count]).encode()).hexdigest()
    assert now.startswith(digest), "append to docs/short.yml; change no line of it"
    assert len({*places}) == len(places)
