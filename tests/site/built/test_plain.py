"""A compiled page without what only the site understands."""

import pytest

from site_tools.compile.plain import Code, Wishes, pieces, plain
from site_tools.source.blocks import Kind

PAGE = """\
---
title: A page
---

## Two rows { #answer }

1 minus `0.95`{ data-is="1 - x[0]" } is [printed](other.md#code) and [read](a.md).

![A line](page.svg){ data-lab="gae" }
{ .wide }

??? question "Guess first"

    Nothing.

    !!! quote "verl#1"

        Two words.

        ```text
        ??? note "kept"


        [as](it.md) `is`{ .it }
        ```

    Still inside.

<section class="derived">
<ul><li><a href="/gae/">The sum</a> of <code>A</code> &amp; B</li>
<li>more</li></ul>
</section>

- an item

    === "Its tab"

        In the tab.

    In the item.

Outside.
"""
PLAIN = """\
## Two rows

1 minus 0.95 is [printed](/other.md#code) and read.

Picture: A line

**Guess first**

Nothing.

> **verl#1**
>
> Two words.

> ```text
> ??? note "kept"
>
>
> [as](it.md) `is`{ .it }
> ```

Still inside.

```text
The sum of A & B
more
```

- an item

    **Its tab**

    In the tab.

    In the item.

Outside."""


def led(target: str) -> str:
    """Where links of the page lead: one of them nowhere."""
    return "" if target == "a.md" else f"/{target}"


def test_a_page_is_plain():
    assert plain(PAGE, Wishes("en", led)) == PLAIN


def test_a_picture_can_be_left_out():
    found = plain(PAGE, Wishes("en", led, lambda picture: picture == "page.svg"))
    assert "A line" not in found and "\n\n\n\n" not in found


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ("python", Code(Kind.RUN, "python", "a = 1")),
        (
            "{ .python .cont .raises }",
            Code(
                Kind.RUN,
                "python",
                "a = 1",
                "(continues the code above) (must fail as shown)",
                fails=True,
            ),
        ),
        (
            '{ .python .norun data-reason="slow" }',
            Code(Kind.NORUN, "python", "a = 1", "Never run: slow"),
        ),
        ("{ .text .no-copy }", Code(Kind.OUTPUT, "output", "a = 1")),
        ("diff", Code(Kind.SHOWN, "diff", "a = 1")),
    ],
)
def test_code_is_told_by_its_fence(info, expected):
    text = f"Above.\n\n```{info}\na = 1\n```\nBelow.\n"
    assert pieces(text, Wishes("en")) == ["Above.", expected, "Below."]
