"""Each code box gets what is meant for its block, and nothing else changes."""

import pytest

from site_tools.checks.census import boxes
from site_tools.page.rendering import render
from site_tools.site.boxes import Addition, boxed, decorate
from tests.site.sample import EN, ROOT, broken, page

TABS = """=== "a tab"

    ```python
    x = "<&\\""  # 优势
    ```

    ```{ .output .table }
    a
    1
    ```
"""


def test_every_box_gets_its_own_addition() -> None:
    text = broken("## Next", f"{TABS}\n## Next")
    html = render(text, ROOT)
    blocks = boxed(page(text).blocks)
    additions = [
        Addition({"data-n": str(n)}, f"<i>{n}</i>") for n in range(len(blocks))
    ]
    decorated = decorate(html, additions)
    assert [block.text for block in blocks] == [t.strip("\n") for t in boxes(decorated)]
    for number, block in enumerate(blocks):
        opening = f'data-n="{number}"><i>{number}</i><pre>'
        before, found, after = decorated.partition(opening)
        assert found and decorated.count(opening) == 1
        assert before.endswith(('highlight" ', 'raises highlight" '))
        assert boxes("<pre>" + after)[0].strip("\n") == block.text


def test_a_box_without_an_addition_stays_as_it_is() -> None:
    html = render(EN, ROOT)
    nothing = [None] * len(boxes(html))
    assert decorate(html, nothing) == html
    once = decorate(html, [Addition(html="!"), *nothing[1:]])
    assert once.replace("!<pre>", "<pre>", 1) == html


def test_it_can_be_called_twice() -> None:
    html = (
        '\n<div class="a" hidden>\n<div title="2 > 1" class="b"><pre><code>x'
        "</code></pre></div></div>"
    )
    first, second = (
        Addition({"data-a": "1\n2"}),
        Addition({"class": "c", "data-b": '"'}),
    )
    twice = decorate(decorate(html, [first]), [second])
    assert twice == html.replace(
        'class="b"', 'class="b c" data-a="1\n2" data-b="&#34;"'
    )


def test_a_box_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="made by a fence"):
        decorate("<pre><code>raw</code></pre>", [None])
    html = render(EN + "\ntext\n\n    indented code\n", ROOT)
    with pytest.raises(ValueError, match="4 fences, 5 boxes"):
        decorate(html, [None] * 4)
