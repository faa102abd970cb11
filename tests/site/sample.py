"""A page pair that passes every check; each test breaks it in one place."""

from pathlib import Path

from site_tools.page.page import Page, read_page

ROOT = Path(__file__).resolve().parent.parent.parent

EN = r"""---
question: Is two the sum?
aliases: ["What is one and one?"]
needs: []
answers: ["004·2"]
refs: ["verl 0.9.1", "001·4"]
---

## It is, and exactly { #answer }

**Yes.** The sum is `2.00`{ data-is="total" }, as $G - V$ says.

*verl's default*: the same.

## One block { #code }

```python
total = 1 + 1
print("total", total)
assert total == 2
```

```output
total 2
```

| term | value |
|------|-------|
| sum  | `2`{ data-is="total" } |

## Why { #why }

$$
\delta_t = r_t + \gamma V(s_{t+1}) - V(s_t) \label{td-residual}
$$

## Wrong { #wrong-answers }

!!! quote "001·4"

    It is 2.5.

```{ .python .cont .raises }
assert total == 3, f"got {total}"
```

```output
AssertionError: got 2
```

## Next { #next }

- [Notation](../reference/notation.md), in verl 0.9.1 too
"""

ZH = (
    EN.replace("Is two the sum?", "和是二吗？")
    .replace("What is one and one?", "一加一是几？")
    .replace("It is, and exactly", "是，一点不差")
    .replace("**Yes.** The sum is", "**对。** 和是")
    .replace(", as $G - V$ says.", "，就是 $G - V$。")
    .replace("verl's default*: the same.", "verl 默认*：一样。")
    .replace("It is 2.5.", "是 2.5。")
)


def page(text: str = EN, language: str = "en", name: str = "sample") -> Page:
    """The text as a question page of the index alignment topic."""
    return read_page(ROOT, f"docs/{language}/alignment/{name}.md", text)


def broken(old: str, new: str, text: str = EN) -> str:
    """The text with one thing replaced, which must be there."""
    assert old in text, old
    return text.replace(old, new, 1)


def line_of(needle: str, text: str) -> int:
    """The line on which the needle stands first."""
    return text[: text.index(needle)].count("\n") + 1
