"""The issue forms ask the same in both languages, and GitHub takes them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE"
KINDS = sorted(path.stem.removesuffix("_zh") for path in FOLDER.glob("*_zh.yml"))
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ID = re.compile(r"[a-z]+")


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


def test_there_is_a_form_for_each_concern() -> None:
    assert KINDS == ["framework", "question", "sentence", "wrong_answer"]
    files = {f"{kind}_{lang}.yml" for kind in KINDS for lang in ("zh", "en")}
    assert {path.name for path in FOLDER.iterdir()} == files | {"config.yml"}


@pytest.mark.parametrize("kind", KINDS)
def test_both_languages_ask_the_same(kind: str) -> None:
    assert asked(kind, "zh") == asked(kind, "en")
    assert any(required for *_, required in asked(kind, "zh"))


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_form_is_one_that_github_takes(kind: str, lang: str) -> None:
    assert form(kind, lang).keys() == {"name", "description", "body"}
    body = fields(kind, lang)
    labels = [field["attributes"]["label"] for field in body]
    assert len({field["id"] for field in body}) == len(set(labels)) == len(body)
    assert all(bool(CHINESE.search(label)) == (lang == "zh") for label in labels)
    for field in body:
        assert field["type"] in {"input", "textarea"}
        assert ID.fullmatch(field["id"])
        assert field.keys() <= {"type", "id", "attributes", "validations"}
        assert field["attributes"].keys() <= {"label", "description", "render"}
        assert all(isinstance(text, str) for text in field["attributes"].values())
