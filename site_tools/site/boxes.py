"""The code boxes of a page: what is copied from each, and with what it was verified."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from site_tools.page.blocks import Block, Copy, Kind, copies
from site_tools.running.evidence import Evidence, block_hashes
from site_tools.running.verdict import follows
from site_tools.say import Refusal
from site_tools.site.templates import fill, words

# As Markdown writes the div around the code of a fence: values in double quotes.
BOX = re.compile(r'<div(?P<attributes>(?:\s+[^\s"=>]+(?:="[^"]*")?)*)\s*>(?=<pre\b)')
ATTRIBUTE = re.compile(r'([^\s"=]+)(?:="([^"]*)")?')
IMPORTS = re.compile(r"^[ \t]*(?:from|import) ppo_ref\b", re.MULTILINE)
PLOTS = re.compile(r"^(?:from|import) matplotlib\b", re.MULTILINE)
SHORT_COMMIT = 7


def complete(
    html: str,
    blocks: Sequence[Block],
    lang: str,
    wheel: Callable[[], str],
    marks: Sequence[str] = (),
) -> str:
    """Give the code boxes of a page what is copied from them, and their marks.

    Where another text is copied than the one shown, the theme's button finds it in
    ``data-copy``. The first box whose code runs and imports ``ppo_ref`` gets the line
    that installs it from the site itself; only then is the wheel made.
    """
    plots = any(block.runs and PLOTS.search(block.text) for block in blocks)
    boxes = [copy for copy in copies(blocks) if copy.block.has_box]
    if not len(boxes) == len(BOX.findall(html)) == len(re.findall(r"<pre\b", html)):
        found = len(re.findall(r"<pre\b", html))
        raise Refusal("boxes_differ", fences=len(boxes), boxes=found)
    first = next((copy for copy in boxes if _needs_package(copy)), None)
    rest = iter(zip(boxes, marks or [""] * len(boxes), strict=True))

    def place(match: re.Match[str]) -> str:
        copy, mark = next(rest)
        added = {"class": "marked"} if mark else {}
        if copy.block.kind is not Kind.SOURCE and copy.text != copy.block.text:
            added["data-copy"] = copy.text
        opening = f"{_opening(match['attributes'], added)}{mark}"
        if copy is not first:
            return opening
        at = wheel()
        shown = at.rpartition("/")[2] if at.startswith("..") else at
        return opening + fill("page.install", lang, at, shown, "matplotlib " * plots)

    return BOX.sub(place, html)


def _opening(written: str, added: Mapping[str, str]) -> str:
    attributes: dict[str, str] = dict(ATTRIBUTE.findall(written))
    for name, value in added.items():
        present = f"{attributes[name]} " if name in attributes else ""
        attributes[name] = f"{present}{escape(value)}"
    pairs = (f' {name}="{value}"' for name, value in attributes.items())
    return f"<div{''.join(pairs)}>"


def _needs_package(copy: Copy) -> bool:
    return copy.block.runs_copied and bool(IMPORTS.search(copy.text))


def marks(
    evidence: Evidence, page: str, blocks: list[Block], lang: str, href: str | None
) -> list[str]:
    """The mark beside each code box; "" for those that do not run."""
    hashes = block_hashes(blocks)
    # With the code above that it continues: there its device may be chosen.
    texts = {copy.block.fence.line: copy.text for copy in copies(blocks)}
    made = []
    for block in (block for block in blocks if block.has_box):
        line = block.fence.line
        known = evidence
        if block.runs and not follows(texts[line]):
            known = replace(evidence, gpu={})
        made.append(_mark(known, page, hashes[line], lang, href) if block.runs else "")
    return made


def _mark(
    evidence: Evidence, page: str, block: str, lang: str, href: str | None
) -> str:
    w, cpu = words(lang), evidence.on_cpu(page, block)
    parts, details = [w["not_verified"]], []
    if cpu:
        torch = cpu.by["torch"]
        parts = [w["verified"], f"torch {torch.partition('+')[0]}", "CPU"]
        details.append(f"CPU: Python {cpu.by['python']}, torch {torch}")
    if known := evidence.on_gpu(page, block):
        gpu, holds = known
        commit = gpu.by.get("commit", "")[:SHORT_COMMIT]
        parts.append("CUDA" if holds else Markup(fill("page.stale", lang, commit)))
        made = [gpu.by["device"], f"torch {gpu.by['torch']}", gpu.by["date"], commit]
        details.append(f"CUDA: {', '.join(filter(None, made))}")
    return fill("page.mark", lang, parts, "; ".join(details), href or "", bool(cpu))
