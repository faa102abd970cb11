"""What a page weighs, and a second one; how soon a page shows, the search answers, many
pages are built, and an edit is served.

Run it after ``make build``: ``.venv/bin/python -m bench.weight``.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.many_pages import (
    PAIRS,
    ROOT,
    grow,
    seconds_to_build,
    seconds_to_see_edits,
)
from site_tools.browser import Unavailable, chromium
from tests.browser.server import serve

PAGE, FURTHER = "alignment/value_before_token/", "course/gae/"
RUNS = 5
SLOW = {"latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 7.5e5 / 8}
SLOWER_CPU = 4
PHONE = {"width": 390, "height": 844}
SHIFTS = """new Promise(done => new PerformanceObserver(list => done(
  list.getEntries().reduce((sum, entry) => sum + entry.value, 0)
)).observe({ type: "layout-shift", buffered: true }) || setTimeout(done, 500, 0))"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
QUERIES = {"": "kl 是负的", "en/": "why is my KL negative"}
# From the tap on the magnifier, with the words typed at once.
ANSWERED = """query => new Promise(done => {
  const begun = performance.now(), box = document.querySelector(".md-search__input")
  const list = document.querySelector(".md-search-result__list")
  new MutationObserver(() => list.children.length && done(performance.now() - begun))
    .observe(list, { childList: true })
  document.querySelector('.md-header__button[for="__search"]').click()
  box.focus()
  box.value = query
  box.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }))
})"""


def transferred(tab: Any, address: str) -> dict[str, list[int]]:
    """Compressed bytes of every answer until the page is quiet, by kind.

    Where nothing has moved, the theme's script has not been asked for.
    """
    requests: list[Any] = []
    tab.on("requestfinished", lambda request: requests.append(request))
    tab.goto(address)
    tab.wait_for_load_state("networkidle")
    sizes = defaultdict(list)
    for request in requests:
        size = request.sizes()["responseBodySize"]  # below 0 where it was kept
        sizes[request.resource_type].append(max(size, 0))
    return dict(sizes)


@contextmanager
def opened_on_a_slow_phone(browser: Any, address: str) -> Iterator[Any]:
    """A tab with a page that nobody has been to, once all of it has come."""
    context = browser.new_context(viewport=PHONE)
    tab = context.new_page()
    devtools = context.new_cdp_session(tab)
    devtools.send("Network.emulateNetworkConditions", {"offline": False, **SLOW})
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_CPU})
    tab.goto(address)
    tab.wait_for_load_state("networkidle")
    yield tab
    context.close()


def first_paint_and_shift(browser: Any, address: str) -> tuple[float, float]:
    """Milliseconds to the first paint on a slow phone, and the layout shift."""
    with opened_on_a_slow_phone(browser, address) as tab:
        return tab.evaluate(PAINT), tab.evaluate(SHIFTS)


def first_result(browser: Any, address: str, query: str) -> float:
    """Milliseconds from the tap on the search to its first result, on a slow phone.

    The reader has moved before, so that the theme's script is there and runs.
    """
    with opened_on_a_slow_phone(browser, address) as tab:
        with tab.expect_event("requestfinished"):
            tab.mouse.move(9, 9)
        tab.wait_for_timeout(1000)
        return float(tab.evaluate(ANSWERED, query))


def report_page(browser: Any, site: str, lang: str) -> None:
    home = site + lang
    address = home + PAGE
    context = browser.new_context(viewport=PHONE)
    tab = context.new_page()
    sizes = transferred(tab, address)
    further = transferred(context.new_page(), home + FURTHER)
    with tab.expect_event("requestfinished") as script:
        tab.mouse.move(9, 9)
    later = script.value.sizes()["responseBodySize"]
    context.close()
    everything = [size for kind in sizes.values() for size in kind]
    print(f"  {len(everything)} requests, {sum(everything) / 1000:.1f} KB compressed")
    for kind, some in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        print(f"    {kind:<10} {len(some):>3} {sum(some) / 1000:>7.1f} KB")
    print(f"    once a reader moves {later / 1000:>6.1f} KB: the theme's script")
    more = sum(map(sum, further.values()))
    print(f"    a second page, {FURTHER} {more / 1000:.1f} KB")
    runs = [first_paint_and_shift(browser, address) for _ in range(RUNS)]
    paints, shifts = zip(*runs, strict=True)
    print(
        f"  slow phone (1.6 Mbit/s, 150 ms, CPU slowed {SLOWER_CPU} times; median of "
        f"{RUNS}): first paint {median(paints):.0f} ms, layout shift {max(shifts):.3f}"
    )
    results = [first_result(browser, address, QUERIES[lang]) for _ in range(RUNS)]
    print(f"    the first result of a search after {median(results):.0f} ms")


def main() -> None:
    site = ROOT / "site"
    if not (site / "en").exists():
        sys.exit("no site/: make build makes it")
    try:
        with chromium() as browser, serve(site) as address:
            for lang in QUERIES:
                print(lang + PAGE, flush=True)
                report_page(browser, address, lang)
    except Unavailable as error:
        print(f"not opened in a browser: {error}")
    with tempfile.TemporaryDirectory() as folder:
        print(f"{PAIRS} pages in each language: building ...", flush=True)
        grow(Path(folder))
        clock, processor = seconds_to_build(Path(folder))
        print(f"  {clock:.1f} s, {processor:.1f} s of processor time, nothing cached")
        edits = seconds_to_see_edits(Path(folder), RUNS)
        every = ", ".join(f"{seconds:.2f}" for seconds in sorted(edits))
        print(f"  an edit is served after {median(edits):.2f} s (median of {every})")


if __name__ == "__main__":
    main()
