"""The names of the field: what a row must say, and how readers see it."""

from typing import Any

import pytest

from site_tools.data import names
from site_tools.site.templates import fill
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
    "meaning_zh": r"第 $t$ 个，$\lambda=1$。",
    "meaning_en": r"At $s_{t+1}$.",
}


def fault(**fields: Any) -> str:
    with pytest.raises(ValueError, match=r"^docs/names\.yml:\d+: ") as refusal:
        names.parse(as_yaml([ROW | fields]))
    return str(refusal.value).split(": ", 1)[1]


def test_names_without_figures_pass() -> None:
    (name,) = names.parse(as_yaml([ROW | {"also_en": ["the A"]}]))
    assert name == names.Name(**ROW, also_en=("the A",))


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "gae-0.5"), ("symbol", "P_{0.5}"), ("code", "clip = 0.5"), ("zh", "0.5")],
)
def test_no_field_holds_a_figure(field: str, value: str) -> None:
    assert fault(**{field: value}).startswith(f"{field} must hold no figure, got 0.5")


@pytest.mark.parametrize("shape", ["[batch, 4096]", "[batch, 0.5]", "batch", "[]"])
def test_a_shape_holds_names_only(shape: str) -> None:
    assert fault(shape=shape) == (
        f"shape must be names only, as in [batch, time], got '{shape}'"
    )


def test_a_rejected_word_needs_its_reason_in_both_languages() -> None:
    assert fault(not_zh=["甲甲"], choice_zh="有理由。").startswith(
        "choice_zh and choice_en must say why a is not called"
    )
    why = {"choice_zh": "离线是另一回事。", "choice_en": "Offline is another thing."}
    rows = names.parse(as_yaml([ROW | {"not_zh": ["甲甲"]} | why]))
    assert "另一回事" in fill("lists.glossary", "zh", rows, "en")
    assert "another thing" in fill("lists.glossary", "en", rows, "zh")


def test_two_rows_do_not_share_an_id() -> None:
    with pytest.raises(ValueError, match="id says a, as the row at line 1 does"):
        names.parse(as_yaml([ROW, ROW]))


def test_glossary_and_notation_are_in_one_language() -> None:
    rows = names.parse(as_yaml([ROW, ROW | {"id": "b"}]))
    assert '<dt id="b">a <span class="detail" lang="zh">甲</span></dt>' in fill(
        "lists.glossary", "en", rows, "zh"
    )
    assert (
        '<code>values[:, -T-1:-1]</code> <span class="detail">[batch, time] · reward'
        in fill("lists.notation", "en", rows)
    )
