"""The command that names what waits, and how to go on."""

import shutil
from pathlib import Path

import pytest

from site_tools.contributing import agree
from tests.contributing.trial import PAGE, PATHS, command, make

FACTS = """zh: 值
en: Values
entries:
- {release: verl 0.9.1, path: a.py, lines: "7", quote: x}
- {release: a/b@a14dc3a, path: a.py, lines: "7", quote: x}
- {release: a/b@a14dc3a, path: a.py, lines: "9", quote: y}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The trial project with facts of its own, and runs that are as they should be."""
    make(tmp_path)
    (tmp_path / "docs/facts").unlink()
    (tmp_path / "docs/facts").mkdir()
    (tmp_path / "docs/facts/values.yml").write_text(FACTS, "utf-8")
    for language in ("zh", "en"):
        shutil.rmtree(tmp_path / f"docs/{language}/reference")
    monkeypatch.setattr(agree, "problems", lambda *_: [])
    return tmp_path


def told(root: Path, lang: str = "en") -> dict[str, list[str]]:
    """The parts, by their titles."""
    code, said = command(root, "status", lang=lang)
    assert code == 0
    parts: dict[str, list[str]] = {}
    for line in said.splitlines():
        if line.startswith("  "):
            parts[[*parts][-1]].append(line[2:])
        else:
            parts[line] = []
    return parts


def test_what_waits_is_named_with_the_way_to_go_on(project):
    parts = told(project)
    remedy = f"compare both languages, then make agree PAGE={PAGE}"
    assert parts == {
        "Translations": [f"{PAGE}: never recorded; {remedy}"],
        "Places in frameworks that no test reads again": [
            "a/b@a14dc3a: 2 in docs/facts; it is in no wheel, so only a person can "
            "compare them: grep -rn a/b@a14dc3a docs/facts"
        ],
        "Stored runs": ["nothing waits"],
    }


def test_a_translation_waits_until_somebody_has_compared(project):
    assert command(project, "agree", PAGE, says="y")[0] == 0
    assert told(project)["Translations"] == ["nothing waits"]
    assert told(project, "zh")["翻译"] == ["没有"]
    english = project / PATHS[1]
    agreed = english.read_text("utf-8")
    english.write_text(agreed.replace("the same.", "just the same."), "utf-8")
    (row,) = told(project, "zh")["翻译"]
    assert row.startswith(f"{PAGE}：英文较新；让 {PATHS[0]} 跟上")
