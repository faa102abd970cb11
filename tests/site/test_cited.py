"""How others link to a page: the comment, short addresses, the threads answered."""

from site_tools.site.cited import comment
from tests.site.sample import broken, page

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
