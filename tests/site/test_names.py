"""The names of the field: what a row must say, and how readers see it."""

from pathlib import Path
from typing import Any

import pytest

from site_tools.data import names
from site_tools.site.templates import fill
from tests.site.rows import as_yaml
from tests.site.trial_site import write_files

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
WHY = {"choice_zh": "离线是另一回事。", "choice_en": "Offline is another thing."}


def read(root: Path, *rows: dict[str, Any]) -> tuple[names.Name, ...]:
    write_files(root, {names.FILE: as_yaml([*rows])})
    return names.read_names(root)


def test_glossary_and_notation_are_in_one_language(tmp_path: Path) -> None:
    rows = read(tmp_path, ROW, ROW | {"id": "b", "not_zh": ["甲甲"]} | WHY)
    zh, en = (
        fill("lists.glossary", *at) for at in (("zh", rows, "en"), ("en", rows, "zh"))
    )
    assert '<dt id="b">a <span class="detail" lang="zh">甲</span></dt>' in en
    assert "也叫：甲甲。离线是另一回事。" in zh and "Offline is another thing." in en
    assert (
        '<code>values[:, -T-1:-1]</code> <span class="detail">[batch, time] · reward'
        in fill("lists.notation", "en", rows)
    )


def test_a_word_that_pages_do_not_use_has_its_reason(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="choice_zh and choice_en must say why a is"):
        read(tmp_path, ROW | {"not_zh": ["甲甲"], "choice_zh": "有理由。"})
