"""The issue forms ask the same in both languages, and GitHub takes them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE"
KINDS = sorted(path.stem.removesuffix("_zh") for path in FOLDER.glob("*_zh.yml"))
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def form(kind: str, lang: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / f"{kind}_{lang}.yml").read_text("utf-8"))


def fields(kind: str, lang: str) -> list[dict[str, Any]]:
    return [field for field in form(kind, lang)["body"] if field["type"] != "markdown"]


def asked(kind: str, lang: str) -> list[tuple[str, str, bool]]:
    return [
        (
            field["id"],
            field["type"],
            field.get("validations", {}).get("required", False),
        )
        for field in fields(kind, lang)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_both_languages_ask_the_same(kind: str) -> None:
    assert asked(kind, "zh") == asked(kind, "en")
    assert any(required for *_, required in asked(kind, "zh"))
