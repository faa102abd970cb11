"""Numbers as people write them, in both languages."""

import re

import pytest

from site_tools import numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("约0.651，共65.1%", "0.651 | 65.1%"),
        ("-.39 and +.5 and −0.5", "-.39 | +.5 | −0.5"),
        ("０.６５", "0.65"),
        ("6.7×10⁻⁵, 2 × 10^{-3}, 1e-5, 10⁻³", "6.7×10⁻⁵ | 2 × 10^{-3} | 1e-5 | 10⁻³"),
        (
            "1/2, ½, 三分之一, 百分之五, 零点五",
            "1/2 | ½ | 三分之一 | 百分之五 | 零点五",
        ),
        ("5 per cent, 2 个百分点", "5 per cent | 2 个百分点"),
        ("0.02 + 0.95·0.3 = 0.305", "0.02 + 0.95·0.3 = 0.305"),
        ("1+1=2吗", "1+1=2"),
        ("verl 0.9.1 and 0.3.0.post1", "0.9.1 | 0.3.0.post1"),
        ("0.5x and 1,024.5 tokens", "0.5 | 1,024.5"),
        ("6 tokens, T-1, k1, 2026-01-08, Qwen2.5-7B, 004·2, and/or", ""),
    ],
)
def test_figures_are_found_in_text(text, found):
    assert " | ".join(number.text for number in numbers.find_numbers(text)) == found


def test_whole_numbers_count_in_tables_only():
    row = "| 3 | a1 | 16,384 | -2 |"
    assert [n.text for n in numbers.find_numbers(row, counts=True)] == [
        "3",
        "16,384",
        "-2",
    ]
    assert not list(numbers.find_numbers(row))


AGREE = """0.651 ~ 0.65149 | .651 ~ 0.651 | −0.42 ~ -0.42 | 65.1% ~ 0.651 | 1/2 ~ 0.5
| 6.7×10⁻⁵ ~ 6.72e-5 | 16,384 ~ 16384 | ½ ~ 0.5 | 10⁻³ ~ 0.001
| 0.02 + 0.95·0.3 = 0.305 ~ 0.305"""
DIFFER = """0.651 ~ 0.6516 | 0.652 ~ 0.6512 | 65.2% ~ 0.651 | 6.8×10⁻⁵ ~ 6.72e-5
| 1 ~ 1.4 | 10² ~ 102 | 0.02 + 0.95·0.3 = 0.306 ~ 0.306"""


def test_a_figure_agrees_within_half_a_unit():
    for rows, agrees in ((AGREE, True), (DIFFER, False)):
        for row in re.split(r"\s*[|] ", rows):
            shown, value = row.split(" ~ ")
            assert numbers.agrees(shown, float(value)) is agrees, row


HOLDS = "1+1=2 | 2 × 3 − 1 ≈ 5 | 2/3 ≈ 0.67 | 007 + 1 = 8"
FAILS = "1+1=3 | 1/0 = 1 | 2/3 = 0.67 | 0.7 - 0.1 = 0.5"


def test_worked_arithmetic_is_worked():
    assert all(map(numbers.holds, HOLDS.split(" | ")))
    assert not any(map(numbers.holds, FAILS.split(" | ")))


def test_what_is_no_number_is_refused():
    for text in ("many", "2³", "5₂", "①", "1,2", "1 = 1 = 1"):
        with pytest.raises(ValueError, match=r"is not a number|one equals sign"):
            numbers.agrees(text, 1)
    with pytest.raises(ValueError, match="the value is nan"):
        numbers.agrees("0.5", float("nan"))
