"""The mark beside a running block: with what it was verified."""

from dataclasses import replace
from html import escape

from site_tools.html.code_boxes import Addition, boxed
from site_tools.page.blocks import Block
from site_tools.page.copying import copies
from site_tools.running.devices import follows
from site_tools.running.evidence import Evidence
from site_tools.running.hashes import block_hashes

WORDS = {
    "verified": {"zh": "已验证", "en": "verified"},
    "not here": {"zh": "尚未在此验证", "en": "not verified here"},
    "as of": {"zh": "截至", "en": "as of"},
}
SHORT_COMMIT = 7


def marks(
    evidence: Evidence, page: str, blocks: list[Block], lang: str, href: str | None
) -> list[Addition | None]:
    """What the code boxes of a page get; None for those that do not run.

    Args:
        evidence: What has been verified.
        page: Its path, as in ``docs/zh/gae/inputs.md``.
        blocks: Its blocks.
        lang: The language of the words.
        href: The page that says what a mark means.
    """
    hashes = block_hashes(blocks)
    # With the code above that it continues: there its device may be chosen.
    texts = {copy.block.fence.line: copy.text for copy in copies(blocks)}
    known = {
        line: evidence if follows(texts[line]) else replace(evidence, gpu=None)
        for line in hashes
    }
    return [
        _addition(known[line], page, hashes[line], lang, href) if block.runs else None
        for block, line in ((block, block.fence.line) for block in boxed(blocks))
    ]


def _addition(
    evidence: Evidence, page: str, block: str, lang: str, href: str | None
) -> Addition:
    cpu = evidence.on_cpu(page, block)
    parts, details = [WORDS["not here"][lang]], []
    if cpu:
        parts = [WORDS["verified"][lang], f"torch {_plain(cpu.setting.torch)}", "CPU"]
        details.append(f"CPU: Python {cpu.setting.python}, torch {cpu.setting.torch}")
    if known := evidence.on_gpu(page, block):
        gpu, holds = known
        at = gpu.commit[:SHORT_COMMIT]
        stale = f'<span class="stale">CUDA {WORDS["as of"][lang]} {escape(at)}</span>'
        parts.append("CUDA" if holds else stale)
        made = [gpu.device, f"torch {gpu.setting.torch}", gpu.date, at]
        details.append(f"CUDA: {', '.join(filter(None, made))}")
    words, title = " · ".join(parts), escape("; ".join(details))
    opening = f'class="mark{"" if cpu else " unverified"}" data-search-exclude="1"'
    if title:
        opening += f' title="{title}"'
    html = f"<span {opening}>{words}</span>"
    if href is not None:
        html = f'<a {opening} href="{escape(href)}">{words}</a>'
    return Addition({"class": "marked"}, html)


def _plain(version: str) -> str:
    """Without the name of the build, as in ``+cpu``."""
    return version.partition("+")[0]
