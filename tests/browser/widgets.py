"""Widgets of a page, operated: brought in sight, moved by keys, read, copied from."""

from typing import Any

from tests.copied_code import printed_by

DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def settle(tab: Any) -> None:
    """Wait until what was changed is drawn: the widgets draw once a frame."""
    tab.evaluate(DRAWN)


def in_sight(tab: Any, name: str, part: str) -> Any:
    """The widget of this name, once it is mounted and has this part."""
    widget = tab.locator(f"[data-lab={name}]")
    widget.scroll_into_view_if_needed()
    widget.locator(part).first.wait_for()
    settle(tab)
    return widget


def press(tab: Any, cell: Any, *keys: str) -> None:
    """Press keys on a cell, and wait until that is drawn."""
    cell.focus()
    for key in keys:
        tab.keyboard.press(key)
    settle(tab)


def drag(tab: Any, begin: tuple[float, float], by: tuple[float, float]) -> None:
    """Drag what lies under a point of the window so far."""
    x, y = begin
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + by[0], y + by[1], steps=8)
    tab.mouse.up()
    settle(tab)


def centre(cell: Any) -> tuple[float, float]:
    """The middle of a cell in the window."""
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def number(text: str) -> float:
    """A number as it is shown, with the sign that typographers use."""
    return float(text.replace("−", "-"))


def assert_shown(text: str, computed: float) -> None:
    """A number that is shown is what was computed, to half a unit of its last digit."""
    unit = 10 ** -len(text.partition(".")[2])
    assert abs(number(text) - computed) < 0.501 * unit, (text, computed)


def ran(tab: Any, widget: str) -> str:
    """The output of the copied Python: ppo_ref's numbers for what is shown."""
    tab.evaluate("navigator.clipboard.writeText('')")
    place = tab.locator(f'[data-lab="{widget}"]')  # in its place, or below its line
    place.or_(tab.locator("p[data-lab] + .room .lab")).locator(".copy button").click()
    tab.wait_for_function("async () => await navigator.clipboard.readText() !== ''")
    code = tab.evaluate("navigator.clipboard.readText()")
    return printed_by(code)
