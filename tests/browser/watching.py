"""A tab notes the faults of pages while they load and once they have."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from site_tools.finish.formulas import KATEX_PACKAGE

AXE = KATEX_PACKAGE.parent / "axe-core" / "axe.min.js"
# What axe judges of a page: the contrast of its colours takes half of the time.
ALL = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
}
ALL_BUT_COLOURS = {**ALL, "rules": {"color-contrast": {"enabled": False}}}
COLOURS = {"runOnly": ["color-contrast", "target-size"]}
RUN_AXE = """what => axe.run({ ...what, resultTypes: ["violations"] })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) =>
      `${id}: ${target} ${failureSummary.replace(/\\s+/g, " ")}`)))"""
PHONE, DESK = 390, 1280
# The reference is one template over many modules: what takes seconds reads its map, a
# module of functions, one with classes, and a folder.
REFERENCE = ("ppo_ref/", "en/ppo_ref/")
SAMPLE = {"ppo_ref/", "ppo_ref/advantages/", "ppo_ref/train/trainer/", "ppo_ref/check/"}
# What is folded away must be legible too.
UNFOLD = "document.querySelectorAll('details').forEach(fold => { fold.open = true })"
SETTLED = """document.fonts.ready.then(() => new Promise((done) =>
  requestAnimationFrame(() => setTimeout(done, 50))))"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
SIDEWAYS = """(() => {
  const { scrollWidth, clientWidth } = document.scrollingElement
  if (scrollWidth <= clientWidth) return []
  const wide = [...document.body.querySelectorAll("*")]
    .find(element => element.getBoundingClientRect().right > clientWidth + 1)
  const what = wide?.outerHTML.slice(0, 90)
  return [`scrolls sideways, ${scrollWidth} > ${clientWidth}: ${what}`]
})()"""


# The theme's script comes with the first sign of a reader; most tests are about what it
# makes of a page, so their reader is there at once.
PRESENT = """addEventListener("DOMContentLoaded",
  () => dispatchEvent(new Event("pointermove")), { once: true })"""


@contextmanager
def tab_of(browser: Any, width: int, scheme: str) -> Iterator[Any]:
    """A tab so wide, light or dark."""
    size = {"width": width, "height": 844}
    context = browser.new_context(viewport=size, color_scheme=scheme)
    context.add_init_script(PRESENT)
    yield context.new_page()
    context.close()


class Watch:
    """Collects whatever goes wrong in a tab.

    Args:
        tab: A page of Playwright's.
        address: Where the site lies; a request to anywhere else is a fault.
    """

    def __init__(self, tab: Any, address: str) -> None:
        self.tab, self.address = tab, address
        self.faults: list[str] = []
        tab.on("request", lambda request: self._request(request))
        tab.on("requestfailed", lambda request: self._failed(request))
        tab.on("response", lambda answer: self._response(answer))
        tab.on("console", lambda message: self._console(message))
        tab.on("pageerror", lambda error: self._fault("script error", str(error)))

    def visit(self, path: str, axe: Mapping[str, Any] | None = None) -> list[str]:
        """Open a page below the site's address and say what is wrong with it."""
        self.faults.clear()
        self.tab.goto(self.address + path)
        self.tab.evaluate(SETTLED)
        faults = [*self.faults, *self.tab.evaluate(SIDEWAYS)]
        if axe:
            self.tab.evaluate(UNFOLD)
            self.tab.evaluate(AXE.read_text("utf-8"))
            faults += self.tab.evaluate(RUN_AXE, axe)
        return [f"{path}: {fault}" for fault in faults]

    def resized(self, path: str, width: int) -> list[str]:
        """The faults of the open page at another width, just for now."""
        size = self.tab.viewport_size
        self.tab.set_viewport_size({**size, "width": width})
        faults = self.tab.evaluate(SIDEWAYS)
        self.tab.set_viewport_size(size)
        return [f"{path}: {fault}" for fault in faults]

    def in_the_dark(self, path: str) -> list[str]:
        """The faults of the open page on a phone in the dark, just for now.

        A visit with axe must have gone before.
        """
        size, by_day = self.tab.viewport_size, self.tab.evaluate(BACKGROUND)
        self.tab.set_viewport_size({**size, "width": PHONE})
        self.tab.emulate_media(color_scheme="dark")
        self.tab.evaluate(SETTLED)
        faults = [*self.tab.evaluate(SIDEWAYS), *self.tab.evaluate(RUN_AXE, COLOURS)]
        if self.tab.evaluate(BACKGROUND) == by_day:
            faults.append("stays as it is in the dark")
        self.tab.emulate_media(color_scheme="light")
        self.tab.set_viewport_size(size)
        return [f"{path}: {fault}" for fault in faults]

    def _fault(self, kind: str, what: str) -> None:
        self.faults.append(f"{kind}: {what}")

    def _failed(self, request):
        # The next visit breaks off what the page before was still loading.
        if request.failure != "net::ERR_ABORTED":
            self._fault("failed", request.url)

    def _request(self, request):
        if not request.url.startswith((self.address, "data:", "blob:")):
            self._fault("request elsewhere", request.url)

    def _response(self, answer):
        if answer.status >= 400:
            self._fault(f"status {answer.status}", answer.url)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self._fault(f"console {message.type}", message.text)


def crawl(
    judged: Mapping[str, Any], watch: Watch, dark: Collection[str] = ()
) -> Iterator[str]:
    """The faults of these pages at either width, and of axe.

    Of those in ``dark``, which axe must judge, also what it says of them there.
    """
    for path, axe in judged.items():
        yield from watch.visit(path, axe)
        if path in dark:
            yield from watch.in_the_dark(path)
        else:
            yield from watch.resized(path, PHONE)


def pages(site: Path) -> set[str]:
    """The addresses of all pages of a built site, from its files.

    A redirect is no page, and the page for what is missing has no address.
    """
    return {
        str(file.relative_to(site)).removesuffix("index.html")
        for file in site.rglob("*.html")
        if file.name != "404.html"
        if 'http-equiv="refresh"' not in file.read_text("utf-8")
    }


def of_each_kind(paths: Iterable[str]) -> set[str]:
    """A page of each folder: the others there are made by the same templates."""
    return set({Path(path).parent: path for path in paths}.values())


def is_sampled(path: str) -> bool:
    """True of the pages that slow tests read: all but most of the reference."""
    return path in SAMPLE or not path.startswith(REFERENCE)
