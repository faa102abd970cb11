"""What a question page makes a reader download, in compressed bytes."""

from typing import Any

from bench.weight import PAGE, transferred

MOST = 100_000


def test_a_question_page_is_light(tab: Any) -> None:
    sizes = transferred(tab, lambda: tab.goto(PAGE))
    assert sizes["document"] and sizes["stylesheet"] and sizes["font"]
    assert sum(map(sum, sizes.values())) <= MOST


def test_what_a_page_fetches_is_weighed(tab: Any) -> None:
    """The bytes that come are those that are counted."""
    heavy = b"\xff" * (MOST + 1)
    tab.route("**/logo.svg", lambda route: route.fulfill(body=heavy))
    sizes = transferred(tab, lambda: tab.goto(PAGE))
    assert sum(sizes["image"]) > MOST
