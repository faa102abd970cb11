"""How others link to a page: the comment, short addresses, the threads answered."""

import re

import pytest

from site_tools.compile.article import cite_sections, cited, comment, threads
from site_tools.compile.lists import derived
from site_tools.compile.navigation import answered
from site_tools.data.dialogues import read_threads
from tests.site.sample import ROOT, broken, page
from tests.site.trial_site import write_files

BLOCK = """```{ .python .comment }
print("<two>")
```

```output
<two>
```

## Why"""


def test_a_comment_is_the_verdict_the_block_and_its_output():
    blocks = page(broken("## Why", BLOCK)).blocks
    verdict = (
        "It is `2.00`{ data-is=\"total['}']\" }, [exactly](other.md#x), as $a$ says?"
    )
    made = comment("Is it?", verdict, blocks, "en")
    assert made == (
        "It is `2.00`, exactly, as $a$ says?\n\n"
        '```python\nprint("<two>")\n```\n\n```text\n<two>\n```\n\nIs it? '
    )
    assert comment("？", "对", blocks, "zh").startswith("对。\n")
    assert comment("Is it?", "Yes", page().blocks, "en") == ""


def test_a_page_and_its_sections_show_their_short_addresses(tmp_path):
    places = "q/1: gae/a\nq/2: gae/old#x\nq/3: gae/b"
    files = {"docs/short.yml": places, "docs/redirects.yml": "gae/old: gae/a"}
    write_files(tmp_path, files)
    link = '<a href="/q/1/" title="Short address, which stays">/q/1</a>'
    assert link in cited(tmp_path, "docs/en/gae/a.md", "", "en")
    assert cited(tmp_path, "docs/en/gae/c.md", "", "en") == ""
    html = '<h2 id="y">Y</h2><p>x</p><h2 id="x">X</h2>'
    made = cite_sections(html, "gae/a", tmp_path, "zh")
    assert made.startswith('<h2 id="y">Y</h2><p>x</p><h2 id="x">X<a class="headerlink"')
    assert made.endswith(">/q/2</a></h2>") and 'href="/q/2/"' in made
    assert cite_sections(html, "gae/b", tmp_path, "zh") == html


ROWS = """
- {thread: o/verl#7, lang: zh, date: ~2025-08, en: Is a < b?, zh: 甲？, page: gae/a#x}
- {thread: o/verl#8, lang: en, en: So?, page: gae/a#no, wrong: {en: Says 1., zh: 错。}}
- {thread: o/RL#9, lang: ko, en: Later?, cluster: 30, page: gae/later}
- {thread: a blog, url: "https://example.org/b", lang: en, en: Never?}
"""
PAGE = "---\nquestion: A $V$?\n---\n\n## X { #x }\n"


@pytest.fixture
def asked(tmp_path):
    """Four threads; a page answers two of them."""
    files = {"docs/threads.yml": ROWS}
    files |= {f"docs/{lang}/gae/a.md": PAGE for lang in ("zh", "en")}
    write_files(tmp_path, files)
    return tmp_path


def test_a_page_ends_with_the_threads_that_it_answers(asked):
    html = threads("gae/a", answered(asked, "zh"), "zh")
    assert '<a href="https://github.com/o/verl/issues/7">verl#7</a>' in html
    assert '<span lang="zh"><a href="#x">甲？</a></span>' in html
    assert '<span lang="en">So?</span>' in html and "错。" in html
    assert (
        "<details" not in html and threads("gae/b", answered(asked, "zh"), "zh") == ""
    )
    more = [f"- {{thread: o/n#{n}, lang: en, en: N, page: gae/a}}" for n in range(3)]
    write_files(asked, {"docs/threads.yml": ROWS + "\n".join(more)})
    assert "<details" in threads("gae/a", answered(asked, "en"), "en")


def test_the_index_has_every_thread_and_links_what_is_there(asked):
    html = derived("threads", "", "en", asked)
    assert "4 threads, 2 of them answered here." in html
    assert re.findall('<h2 id="(.*?)">', html) == ["o-verl", "o-rl", "web"]
    assert '<dt id="o-verl-7"><a href="https://github.com/o/verl/issues/7">' in html
    assert ">Is a &lt; b?</span>" in html and 'href="/gae/a/#x">A <span' in html
    assert 'href="/gae/a/">' in html and "#no" not in html
    assert ">o/RL#9</a>" in html and "later/" not in html
    assert '<a href="https://example.org/b">a blog</a>' in html


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{thread: a note, lang: en, en: So?}", "a note: must be owner/name#17 or"),
        ("{thread: o/n#1, lang: en, en: So?, cluster: 31}", "at most 30"),
        ("{thread: o/verl#8, lang: en, en: So?}", "verl#8"),
        ("{thread: o/n#1, lang: en, en: So?, page: gae}", "a page or a section"),
    ],
)
def test_a_thread_that_cannot_be_found_is_refused(asked, row, fault):
    write_files(asked, {"docs/threads.yml": f"{ROWS}- {row}"})
    with pytest.raises(ValueError, match=f"threads.yml:6.*{fault}"):
        read_threads(asked)


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "http://example.org/a", "//example.org/a"),
        *("https:example.org/a", "https://user@example.org/a", "https://localhost/a"),
        *("https://example.org:8443/a", "https://example.org/a b"),
        'https://example.org/"a',
    ],
)
def test_a_threads_address_is_https_on_a_named_host(asked, url):
    row = f"{{thread: a blog, lang: en, en: So?, url: '{url}'}}"
    write_files(asked, {"docs/threads.yml": f"{ROWS}- {row}"})
    with pytest.raises(ValueError, match=r"yml:6: url must be an address like https:"):
        read_threads(asked)


@pytest.mark.pages
def test_the_threads_of_the_project_are_read():
    rows = read_threads(ROOT)
    assert len(rows) >= 236
    assert {int(row.cluster) for row in rows} == {*range(31)}


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_most_threads_are_answered(lang):
    done = [each for each in answered(ROOT, lang) if each.page]
    assert len(done) >= 180


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_place_that_answers_is_there_and_every_cluster_has_one(lang):
    every = [each for each in answered(ROOT, lang) if each.thread.page]
    found = {f"{e.page}#{e.anchor}" if e.anchor else e.page for e in every}
    assert {each.thread.page for each in every} - found == set()
    assert {int(each.thread.cluster) for each in every} == {*range(31)}
