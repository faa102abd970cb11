"""How others link to a page: the comment, short addresses, the threads answered."""

from site_tools.site.cited import cited, comment, sections
from tests.site.sample import broken, page
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
    made = comment(verdict, blocks, "en")
    assert made == (
        "It is `2.00`, exactly, as $a$ says?\n\n"
        '```python\nprint("<two>")\n```\n\n```text\n<two>\n```\n\n'
    )
    assert comment("对", page(broken("## Why", BLOCK)).blocks, "zh").startswith(
        "对。\n"
    )
    assert comment("Yes", page().blocks, "en") == ""


def test_a_page_and_its_sections_show_their_short_addresses(tmp_path):
    places = "q/1: gae/a\nq/2: gae/old#x\nq/3: gae/b"
    files = {"docs/short.yml": places, "docs/redirects.yml": "gae/old: gae/a"}
    write_files(tmp_path, files)
    link = '<a href="/q/1/" title="Short address, which stays">/q/1</a>'
    assert link in cited(tmp_path, "docs/en/gae/a.md", "", "en")
    assert cited(tmp_path, "docs/en/gae/c.md", "", "en") == ""
    html = '<h2 id="y">Y</h2><p>x</p><h2 id="x">X</h2>'
    made = sections(html, "gae/a", tmp_path, "zh")
    assert made.startswith('<h2 id="y">Y</h2><p>x</p><h2 id="x">X<a class="headerlink"')
    assert made.endswith(">/q/2</a></h2>") and 'href="/q/2/"' in made
    assert sections(html, "gae/b", tmp_path, "zh") == html
