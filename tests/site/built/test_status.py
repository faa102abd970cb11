"""The status page: what is counted, what waits, what is refused."""

import re
from pathlib import Path

import pytest

from site_tools.build.publish import link_downloads
from site_tools.compile import lists as status
from site_tools.page.accord import lock_of, lock_path, write
from site_tools.page.prose import wording
from tests.site.sample import EN, ROOT, ZH
from tests.site.trial_site import write_files

HEAD = "zh: 值\nen: Values\nentries:\n"
FACT = """- release: {}
  path: a.py
  lines: 7
  hash: 9cf6e368c090
  quote: x
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The sample pair, recorded; an English page alone; two facts, one unchecked."""
    files = {
        "docs/zh/alignment/sample.md": ZH,
        "docs/en/alignment/sample.md": EN,
        "docs/en/index.md": "---\ntitle: A < B\n---\n",
        lock_path("alignment/sample"): write(lock_of(wording(ZH), wording(EN))),
        "docs/facts/values.yml": HEAD
        + FACT.format("verl 0.9.1")
        + FACT.format("a/b@a14dc3a"),
    }
    write_files(tmp_path, files)
    return tmp_path


def shown(part: str, lang: str, root: Path) -> list[str]:
    html = status.status(part, lang, root)
    cut = re.sub(r"</(?:li|p|tr)>|<ul>|<br>", "\n", html)
    texts = re.sub(r"<[^>]*>", " ", cut).splitlines()
    return [" ".join(line.split()) for line in texts if line.strip()]


def test_what_waits_is_named_with_its_remedy(project):
    assert shown("wanted", "zh", project) == [
        "A &lt; B 还没有中文",
        "写 docs/zh/index.md ，再运行 make agree PAGE=index 。",
    ]
    (project / "docs/zh/index.md").write_text("---\ntitle: 首页\n---\n", "utf-8")
    assert shown("wanted", "zh", project)[0] == "首页 没有核对过"
    for file in project.glob("docs/*/index.md"):
        file.unlink()
    assert shown("wanted", "en", project) == [
        "Nothing now: every page is there in both languages, and they agree."
    ]


def test_facts_that_no_test_reads_are_named(project):
    assert shown("facts", "en", project) == [
        "Places cited in the source of frameworks: 2. In no release, so that no test "
        "reads them again: 1.",
        "values a/b@a14dc3a · a.py:7",
    ]
    (project / "docs/facts/values.yml").write_text(
        HEAD + FACT.format("verl 0.9.1"), "utf-8"
    )
    (line,) = shown("facts", "en", project)
    assert "frameworks: 1. The tests read all of them again" in line


def test_a_download_is_linked_once_it_is_made():
    page, fill = "en/about/offline/index.html", link_downloads
    html = status.status("downloads", "en", ROOT)
    assert "<a" not in html and fill(html, page, {}) == html
    texts = fill(html, page, {"en/llms.txt": 24_600, "en/llms-full.txt": 837_000})
    assert '<a href="../../llms.txt">llms.txt</a> (25 kB): every page' in texts
    assert '<span data-download="../../../offline.zip">' in texts
    both = fill(texts, page, {"offline.zip": 4_917_592})
    assert '<a href="../../../offline.zip">offline.zip</a> (4.9 MB): the whole' in both
    chinese = status.status("downloads", "zh", ROOT)
    chinese = fill(chinese, "about/offline/index.html", {"offline.zip": 1})
    assert '<a href="../../offline.zip">offline.zip</a> (0 kB)：整个网站' in chinese
