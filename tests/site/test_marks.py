"""The marks beside the blocks say what was verified, and no more."""

import re

import pytest

from site_tools.ledger import Entry, Ledger
from site_tools.page.rendered import render
from site_tools.running.evidence import Evidence, Setting, block_hashes
from site_tools.site.article import complete_boxes, marks
from tests.site.sample import EN, ROOT, broken, page

HERE = Setting("package", "2.13.0+cpu", "3.11.7")
PAGE = "docs/en/alignment/sample.md"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
MOVED = broken("total = 1 + 1", 'device = "cpu"\ntotal = 1 + 1')
LAST = [*block_hashes(page(MOVED).blocks).values()][-1]


def cpu(text: str) -> Ledger:
    passed = [*block_hashes(page(text).blocks).values()]
    return {PAGE: Entry(HERE.made_from, HERE.by, {"passed": passed})}


CPU = cpu(MOVED)


def gpu(package: str, last: str) -> Ledger:
    by = {"device": "NVIDIA H200", "torch": "2.13.0+cu130", "date": "2026-11-20"}
    made_from = {"package": package, "blocks": last}
    return {PAGE: Entry(made_from, by | {"commit": COMMIT})}


def shown(known: Evidence, lang: str = "en", text: str = MOVED) -> list[str]:
    """The marks of the page, as HTML."""
    blocks = list(page(text).blocks)
    found = marks(known, PAGE, blocks, lang, "../../about/")
    html = complete_boxes(render(text, ROOT), blocks, lang, lambda: "p.whl", found)
    return re.findall(r'<a class="mark.*?</a>(?=<pre>)', html)


def words(mark: str) -> str:
    return re.sub("<[^>]*>", "", mark)


def test_a_verified_block_says_with_what_in_both_languages():
    known = Evidence(HERE, CPU)
    assert [*map(words, shown(known))] == ["verified · torch 2.13.0 · CPU"] * 2
    assert [*map(words, shown(known, "zh"))] == ["已验证 · torch 2.13.0 · CPU"] * 2


def test_a_block_without_an_entry_is_not_verified_here():
    for known in (Evidence(HERE), Evidence(Setting("new", "2", "3"), CPU)):
        assert [*map(words, shown(known))] == ["not verified here"] * 2
        assert [*map(words, shown(known, "zh"))] == ["尚未在此验证"] * 2
        assert all('class="mark unverified"' in mark for mark in shown(known))


def test_a_gpu_record_that_holds_adds_cuda():
    mark, _ = shown(Evidence(HERE, CPU, gpu("package", LAST)))
    assert words(mark) == "verified · torch 2.13.0 · CPU · CUDA"
    assert "NVIDIA H200, torch 2.13.0+cu130, 2026-11-20, 0123456" in mark
    assert "stale" not in mark


def test_a_block_that_stays_on_the_cpu_is_not_said_to_have_run_on_a_gpu():
    last = [*block_hashes(page(EN).blocks).values()][-1]
    known = Evidence(HERE, cpu(EN), gpu("package", last))
    assert [*map(words, shown(known, text=EN))] == ["verified · torch 2.13.0 · CPU"] * 2


@pytest.mark.parametrize("record", [gpu("older", LAST), gpu("package", "x")])
def test_a_stale_gpu_record_is_grey_and_names_its_commit(record):
    for lang, text in (("en", "CUDA as of 0123456"), ("zh", "CUDA 截至 0123456")):
        for mark in shown(Evidence(HERE, CPU, record), lang):
            assert f'<span class="stale">{text}</span>' in mark
            assert words(mark).endswith(f"CPU · {text}")
