"""What a page says in its section wrong-answers, and what keeps it from the list."""

import pytest

from site_tools.page.fences import scan
from site_tools.page.prose import WrongAnswer, body, read_wrong_answers

PATH = "docs/en/gae/a.md"
TEXT = """---
question: Is A < B?
---

## No { #answer }

**No.** It is two.

### Not here { #right }

## Wrong { #wrong-answers }

### "It is *three*" { #wrong-three }

!!! quote "Dialogue 001·4"

    Three.

```{ .python .cont .raises }
assert total == 3
```

```output
first
AssertionError: got 2
```

### "Four" { #wrong-four }

!!! quote "verl#1960"

    Four.

## Next { #next }

### Nor here { #later }
"""
THREE = WrongAnswer(
    "wrong-three", '"It is *three*"', "Dialogue 001·4", "AssertionError: got 2"
)


def read(text: str) -> tuple[list[WrongAnswer], list[str]]:
    fences, _ = scan(text, PATH)
    entries, problems = read_wrong_answers(body(text, fences), fences, PATH)
    return entries, [f"{p.line}: {p.found} -> {p.fix}" for p in problems]


def test_each_claim_has_its_source_and_the_end_of_its_run() -> None:
    four = WrongAnswer("wrong-four", '"Four"', "verl#1960", "")
    assert read(TEXT) == ([THREE, four], [])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"Four" { #wrong-four }',
            '"Four" { #four }',
            '28: ### "Four" { #four } -> write ### "Four" { #wrong-short-name }',
        ),
        (
            '!!! quote "verl#1960"\n\n    Four.',
            "Somebody says four.",
            '28: ### "Four" { #wrong-four } without a quotation -> write !!! quote '
            '"Dialogue 001·4" under it, the source named in refs',
        ),
    ],
)
def test_an_entry_without_id_or_quotation_is_named(
    old: str, new: str, problem: str
) -> None:
    assert old in TEXT
    entries, problems = read(TEXT.replace(old, new))
    assert problems == [problem]
    assert entries[0] == THREE


def test_an_entry_does_not_borrow_the_quotation_of_the_next() -> None:
    quote = '!!! quote "Dialogue 001·4"\n\n    Three.'
    assert quote in TEXT
    entries, (problem,) = read(TEXT.replace(quote, "Three."))
    assert [entry.source for entry in entries] == ["", "verl#1960"]
    assert problem.startswith('13: ### "It is *three*"')


def test_a_section_without_an_entry_is_named() -> None:
    text = TEXT.replace('### "', '#### "')
    assert read(text) == (
        [],
        [
            "11: a section #wrong-answers without an entry -> "
            "give each claim a ### heading of its own, with an id"
        ],
    )
