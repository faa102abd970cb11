"""No field of a name may hold a figure: nothing binds it there."""

from pathlib import Path

import pytest

from site_tools.data import names
from tests.site.rows import as_yaml

ROW = {
    "id": "a",
    "zh": "甲",
    "en": "a",
    "symbol": "A_t",
    "code": "values[:, -T-1:-1]",
    "shape": "[batch, time]",
    "unit_zh": "奖励",
    "unit_en": "reward",
    "meaning_zh": r"第 $t$ 个，$\lambda=1$，$\tfrac{1}{2}$，从 0 数起。",
    "meaning_en": r"At $s_{t+1}$ and $2^{10}$ of them; 1 is all.",
}


def fault(**fields: object) -> str:
    with pytest.raises(ValueError, match=r"^names\.yml, row 1 \(") as refusal:
        names.parse(as_yaml([ROW | fields]))
    return str(refusal.value).partition("): ")[2]


def test_names_without_figures_pass() -> None:
    rest = {key: () for key in names.LISTS} | {"choice_zh": "", "choice_en": ""}
    assert names.parse(as_yaml([ROW]))[0]._asdict() == ROW | rest
    text = (Path(__file__).parents[2] / "docs" / "names.yml").read_text("utf-8")
    assert "state" in {name.id for name in names.parse(text)}


@pytest.mark.parametrize(
    ("field", "value", "figure"),
    [
        ("id", "gae-0.5", "0.5"),
        ("zh", "长度（0.5）", "0.5"),
        ("en", "prompt length (0.5)", "0.5"),
        ("symbol", "P = 0.5", "0.5"),
        ("symbol", r"\lambda0.5", "0.5"),
        ("symbol", "P_{0.5}", "0.5"),
        ("code", "clip_ratio = 0.2", "0.2"),
        ("unit_zh", "百分之五", "百分之五"),
        ("unit_en", "99% reward", "99%"),
        ("meaning_en", "It is 1/2.", "1/2"),
        ("meaning_en", "It is $0.7$.", "0.7"),
        ("meaning_en", r"It is $99.5\%$.", "99.5%"),
        ("meaning_en", r"It is $99\,\%$.", "99%"),
        ("meaning_zh", "是 $0{.}5$。", "0.5"),
        ("meaning_zh", r"是 $0\mathord{.}5$。", "0.5"),
        ("meaning_zh", "是 $0 . 5$。", "0.5"),
        ("meaning_zh", "是 0$.$5。", "0.5"),
        ("meaning_zh", "是 $10^{-3}$。", "10^-3"),
        ("meaning_zh", r"是 $5 \times 10^{-3}$。", "5×10^-3"),
        ("meaning_zh", "是 $1e-3$。", "1e-3"),
    ],
)
def test_a_figure_in_a_field_is_named(field: str, value: str, figure: str) -> None:
    assert fault(**{field: value}) == (
        f"{field} must hold no figure, got {figure}; "
        "say it on a page, where it is bound"
    )


@pytest.mark.parametrize("shape", ["[batch, 4096]", "[batch, 0.5]", "batch", "[]"])
def test_a_shape_holds_names_only(shape: str) -> None:
    wanted = f"shape must hold names only, as in [batch, time], got {shape!r}"
    assert fault(shape=shape) == wanted


def test_a_field_that_yaml_reads_as_a_number_is_refused() -> None:
    wanted = "unit_en must be text, got 0.5; put it between quotes"
    assert fault(unit_en=0.5) == wanted


def test_further_words_are_a_list_and_hold_no_figure() -> None:
    rows = as_yaml([ROW | {"also_en": ["the A", "excess"]}])
    assert names.parse(rows)[0].also_en == ("the A", "excess")
    assert fault(also_en="the A") == "also_en must be a list of texts, got 'the A'"
    assert fault(also_zh=["甲", 5]).startswith("also_zh must be text, got 5")
    assert fault(also_zh=["0.5 甲"]).startswith("also_zh must hold no figure, got 0.5")
