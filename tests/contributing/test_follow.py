"""facts: pages, corrections and pins follow a new release; the rest is told."""

import os
from hashlib import sha256
from pathlib import Path
from subprocess import run

import pytest

from site_tools.data.facts import WHEELS
from tests.contributing.test_move_facts import NEW_CODE, OLD_CODE, put_fact, put_wheel
from tests.contributing.trial import command, state

ENTRY = """zh: 值
en: Values
entries:
- release: verl 1.0.0
  path: verl/core.py
  lines: 4
  quote: last = delta + last
"""
EN = """---
question: Which?
refs: ["arXiv:1", "verl 1.0.0", "verl 0.9.0"]
---
# Which?
verl 1.0.0 adds. It is verl 1.0.0.
=== "verl 1.0.0"
    ```fact
    values verl 1.0.0
    ```
## History { #history }
Since verl 1.0.0 it adds.
=== "verl 1.0.0"
    ```fact
    values verl 1.0.0
    ```
## Nothing shown { #nothing }
In verl 1.0.0 so be it.
```python
print("verl 1.0.0")
```
"""
# The Chinese does not date it; where one language is for a person, both are.
ZH = EN.replace("Since verl 1.0.0 it adds.", "verl 1.0.0 把它加上。").replace(
    "In verl 1.0.0 so be it.", "verl 1.0.0 就是这样。"
)
PINS = "# Read.\nverl==1.0.0 --hash=sha256:00\nverl==0.9.0 --hash=sha256:01\n"
OTHER = PINS.replace("verl==1.0.0", "verl==1.0.1 --hash=sha256:02\nverl==1.0.0")


def put_text(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def put_page(root: Path, zh: str, en: str) -> None:
    put_text(root, "docs/zh/gae/a.md", zh)
    put_text(root, "docs/en/gae/a.md", en)


def read(root: Path, path: str) -> str:
    return (root / path).read_text("utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a fact of verl 1.0.0, a page that shows it, and both wheels."""
    put_wheel(tmp_path, "1.0.0", {"verl/core.py": OLD_CODE})
    put_wheel(tmp_path, "1.0.1", {"verl/core.py": NEW_CODE})
    (tmp_path / "docs/facts").mkdir(parents=True)
    put_fact(tmp_path, "values", ENTRY)
    put_page(tmp_path, ZH, EN)
    put_text(tmp_path, "pins/peers.txt", PINS)
    return tmp_path


def test_what_shows_a_fact_follows_and_all_else_is_told(root):
    code, said = command(root, "facts", "verl", "1.0.1")
    assert code == 0, said
    english = read(root, "docs/en/gae/a.md").split("\n")
    assert english[2] == 'refs: ["arXiv:1", "verl 1.0.1", "verl 1.0.0", "verl 0.9.0"]'
    assert english[5] == "verl 1.0.1 adds. It is verl 1.0.1."
    assert english[6] == '=== "verl 1.0.1"' and english[8] == "    values verl 1.0.1"
    assert english[11] == "Since verl 1.0.0 it adds."
    assert english[12] == '=== "verl 1.0.1"' and english[14] == "    values verl 1.0.1"
    assert english[17] == "In verl 1.0.0 so be it."
    assert english[19] == 'print("verl 1.0.0")'
    chinese = read(root, "docs/zh/gae/a.md").split("\n")
    assert chinese[11] == "verl 1.0.0 把它加上。"
    for language in ("zh", "en"):
        assert f"To read: docs/{language}/gae/a.md: 12, 18, 20\n" in said
        assert f"docs/{language}/gae/a.md: says verl 1.0.1 now, on 6, 7, 13\n" in said
    assert "places moved 1, of them on other lines 1; other files that follow 3" in said


@pytest.mark.parametrize(
    "sentence",
    [
        "Before verl 1.0.0 it was not so.",
        "verl 1.0.0 adds what verl 0.9.0 does not.",
        "verl 0.9.0 and 1.0.0 add.",
        "verl 1.0.0 and later add.",
    ],
)
def test_a_sentence_that_says_more_than_a_fact_is_for_a_person(root, sentence):
    text = EN.replace("verl 1.0.0 adds. It is verl 1.0.0.", sentence)
    put_page(root, text, text)
    said = command(root, "facts", "verl", "1.0.1")[1]
    assert read(root, "docs/en/gae/a.md").split("\n")[5] == sentence
    assert "To read: docs/en/gae/a.md: 6, 12, 18, 20\n" in said


def test_refs_name_the_new_release_alone_where_nothing_else_is_told(root):
    text = EN.partition("## History")[0]
    put_page(root, text, text)
    command(root, "facts", "verl", "1.0.1")
    refs = read(root, "docs/en/gae/a.md").split("\n")[2]
    assert refs == 'refs: ["arXiv:1", "verl 1.0.1", "verl 0.9.0"]'


def test_refs_follow_without_a_fact_where_the_old_release_was_the_newest(root):
    front = '---\nquestion: W?\nrefs: ["verl 1.0.0"]\n---\n# W?\n`gae` is a name.\n'
    put_page(root, front, front)
    command(root, "facts", "verl", "1.0.1")
    due = front.replace("1.0.0", "1.0.1")
    assert read(root, "docs/zh/gae/a.md") == due


def test_a_fact_that_stays_keeps_its_section(root):
    gone = ENTRY.replace("delta + last", "delta + 9").replace("lines: 4", "lines: 3")
    put_fact(root, "mask", gone)
    both = EN.replace("    values verl", "    mask verl 1.0.0\n    values verl", 1)
    put_page(root, both, both)
    code, said = command(root, "facts", "verl", "1.0.1")
    lines = read(root, "docs/en/gae/a.md").split("\n")
    assert code == 1 and lines[5] == "verl 1.0.0 adds. It is verl 1.0.0."
    assert lines[6] == '=== "verl 1.0.0"'
    assert lines[8:10] == ["    mask verl 1.0.0", "    values verl 1.0.1"]
    assert "To read: docs/en/gae/a.md: 6, 7, 9, 13, 19, 21\n" in said


def test_the_wheel_is_pinned_before_the_others_of_its_project(root):
    command(root, "facts", "verl", "1.0.1")
    wheel = (root / WHEELS / "verl-1.0.1-py3-none-any.whl").read_bytes()
    pin = f"verl==1.0.1 --hash=sha256:{sha256(wheel).hexdigest()}\n"
    assert read(root, "pins/peers.txt") == PINS.replace(
        "verl==1.0.0", f"{pin}verl==1.0.0"
    )


def test_a_pin_with_another_hash_is_refused_before_anything_is_written(root):
    put_text(root, "pins/peers.txt", OTHER)
    before = state(root)
    code, said = command(root, "facts", "verl", "1.0.1")
    assert code == 1 and "pins/peers.txt:2: has another hash for verl 1.0.1" in said
    assert state(root) == before


def test_a_correction_names_its_fact_of_the_new_release(root):
    rows = "- {at: gae/a#b, fact: values verl 1.0.0}\n- fact: values verl 1.0.0\n"
    put_text(root, "docs/corrections.yml", f"{rows}- fact: other verl 1.0.0\n")
    command(root, "facts", "verl", "1.0.1")
    due = rows.replace("1.0.0", "1.0.1") + "- fact: other verl 1.0.0\n"
    assert read(root, "docs/corrections.yml") == due


def test_a_dated_change_keeps_its_places(root):
    row = "- release: verl 1.0.0\n  before: verl 0.9.0\n  facts: values\n  zh: 变了\n"
    rest = "  en: It changed.\n  zh_why: 变了\n  en_why: It did.\n  page: gae/a\n"
    put_text(root, "docs/timeline.yml", row + rest)
    before = state(root)
    code, said = command(root, "facts", "verl", "1.0.1")
    assert code == 1 and "dates a change with verl 1.0.0" in said
    assert state(root) == before


def test_a_second_run_says_from_where_it_goes_on(root):
    command(root, "facts", "verl", "1.0.1")
    before = state(root)
    code, said = command(root, "facts", "verl", "1.0.1")
    assert code == 1 and 'ARGS="--from' in said
    assert state(root) == before


def test_a_patch_says_all_that_would_be_written_and_nothing_is(root, tmp_path):
    before = state(root)
    command(root, "facts", "verl", "1.0.1", "--patch", str(root / "a.patch"))
    patch = root / "a.patch"
    text = patch.read_bytes()
    patch.unlink()
    assert state(root) == before
    run(["git", "apply"], cwd=root, input=text, check=True)
    patched = state(root)
    for path, content in before.items():
        (root / path).write_bytes(content)
    command(root, "facts", "verl", "1.0.1")
    assert state(root) == patched


def test_nothing_is_half_written(root, monkeypatch):
    before = state(root)
    real = os.replace

    def fail_on_pins(part, target):
        text = Path(part).read_bytes()
        if Path(target).name == "peers.txt" and b"1.0.1" in text:
            raise OSError(28, "No space left", str(target))
        real(part, target)

    monkeypatch.setattr(os, "replace", fail_on_pins)
    code, said = command(root, "facts", "verl", "1.0.1")
    assert code == 1 and "No space left" in said
    assert state(root) == before
