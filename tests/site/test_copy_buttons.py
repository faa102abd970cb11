"""What the copy buttons of a built page give, and the line that installs ppo_ref."""

import re
from html import unescape
from urllib.parse import unquote, urljoin

import pytest

from site_tools.checks.census import boxes as codes
from site_tools.page.rendered import render
from site_tools.site.article import complete_boxes
from tests.site.sample import EN, ROOT, broken, page

BOXES = re.compile(r'<div class="[^"]*\bhighlight\b[^>]*>')
PACKAGE = """## Run { #code }

```python
x = 1
```

```{ .python .norun data-reason="four GPUs" }
import ppo_ref
```

```{ .python .cont }
from ppo_ref.kl import k1
print(x, "<&>")
```

```output
1 <&>
```

```python
import ppo_ref.kl
```
"""


TABS = """=== "a tab"

    ```python
    x = "<&\\""  # 优势
    ```
"""


def built(text: str, address: str = "../../p.whl") -> tuple[str, list[str]]:
    """A page, and the opening tags of its boxes."""
    html = complete_boxes(render(text, ROOT), page(text).blocks, "en", lambda: address)
    return html, BOXES.findall(html)


def copied(box: str) -> str | None:
    found = re.search(r'data-copy="([^"]*)"', box)
    return unescape(found[1]) if found else None


def test_a_box_that_gives_its_own_text_is_left_as_it_is():
    _, boxes = built(PACKAGE)
    chain = 'x = 1\n\nfrom ppo_ref.kl import k1\nprint(x, "<&>")'
    assert [copied(box) for box in boxes] == [None, None, chain, None, None]


def test_every_box_gets_what_is_meant_for_its_block():
    text = broken("## Next", f"{TABS}\n## Next")
    html, blocks = render(text, ROOT), page(text).blocks
    shown = [block for block in blocks if block.has_box]
    marks = [f"<i>{n}</i>" for n in range(len(shown))]
    made = complete_boxes(html, blocks, "en", lambda: "p.whl", marks)
    assert [block.text for block in shown] == [t.strip("\n") for t in codes(made)]
    for mark, block in zip(marks, shown, strict=True):
        before, found, after = made.partition(f">{mark}<pre>")
        assert found and before.rpartition("<")[2].startswith("div class=")
        assert codes("<pre>" + after)[0].strip("\n") == block.text
    assert re.sub(' marked"|<i>.</i>', "", made).count("<div") == html.count("<div")


def test_a_box_too_many_is_refused():
    for raw in ("    indented code\n", "<pre><code>raw</code></pre>\n"):
        html = render(f"{EN}\ntext\n\n{raw}", ROOT)
        with pytest.raises(ValueError, match="4 fences, 5 boxes"):
            complete_boxes(html, page(EN).blocks, "en", lambda: "p.whl")


def test_a_page_that_does_not_need_the_package_has_no_install_line():
    def never() -> str:
        raise AssertionError("no wheel is needed")

    html = complete_boxes(render(EN, ROOT), page(EN).blocks, "en", never)
    assert "install" not in html


def install_address(html: str) -> str:
    found = re.search(r'pip install <a href="([^"]*)"', html)
    assert found, html
    return unescape(found[1])


NEEDS = "alignment/needs_package/index.html"


def test_the_link_leads_to_the_wheel(trial):
    english = trial / "site/en"
    html = (english / NEEDS).read_text("utf-8")
    address = urljoin("/alignment/needs_package/", install_address(html))
    (wheel,) = english.glob("*.whl")
    assert unquote(address) == f"/{wheel.name}" and "+" not in address
    assert "+src" in wheel.name
    assert wheel.read_bytes() == next(trial.glob(".cache/wheel/*/*.whl")).read_bytes()
