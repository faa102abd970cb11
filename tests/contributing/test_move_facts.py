"""facts: a new release is read, and what is said of the old one follows or is told."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from site_tools.data.facts import WHEELS, concept, reread
from tests.contributing.trial import command, state

OLD_CODE = """def gae(values):
    last = 0
    for t in steps:
        last = delta + last
    return last


def critic(values):
    last = 0
    return last
"""
NEW_CODE = f"import torch\n\n\n{OLD_CODE}"
OLD_CONFIG = "actor:\n  clip: 0.2\ncritic:\n  clip: 0.5\n"
NEW_CONFIG = "actor:\n  lr: 1e-6\n  clip: 0.2\ncritic:\n  clip: 0.5\n"
FACT = """# Why it matters.
zh: 递推
en: The recursion
entries:
- release: verl 1.0
  path: verl/core.py
  lines: {lines}
  quote: {quote}
- release: TRL 1.0
  path: trl/core.py
  lines: 9
  quote: "last = 0"   # of another framework
"""
DEFAULT = """zh: 默认值
en: The default
entries:
- release: verl 1.0
  path: verl/config.yaml
  lines: 4
  key: critic.clip
  default: 0.5
"""


def put_wheel(root: Path, version: str, files: dict[str, str]) -> None:
    (root / WHEELS).mkdir(parents=True, exist_ok=True)
    with ZipFile(root / WHEELS / f"verl-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


def put_fact(root: Path, name: str, text: str) -> Path:
    file = root / f"docs/facts/{name}.yml"
    file.write_text(text, "utf-8")
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a wheel of verl 1.0, and no facts yet."""
    (tmp_path / "docs/facts").mkdir(parents=True)
    old = {"verl/core.py": OLD_CODE, "verl/config.yaml": OLD_CONFIG}
    put_wheel(tmp_path, "1.0", old)
    return tmp_path


def test_lines_that_moved_are_found_and_all_else_stays(root):
    put_wheel(root, "1.1", {"verl/core.py": NEW_CODE, "verl/config.yaml": NEW_CONFIG})
    text = FACT.format(lines="3-4", quote='"last = delta + last"')
    file, default = put_fact(root, "a", text), put_fact(root, "b", DEFAULT)
    code, said = command(root, "facts", "verl", "1.1")
    assert code == 0 and "From verl 1.0 to verl 1.1: files moved 2" in said
    due = text.replace("verl 1.0", "verl 1.1").replace("3-4", "6-7")
    assert file.read_text("utf-8") == due
    due = DEFAULT.replace("verl 1.0", "verl 1.1").replace("lines: 4", "lines: 5")
    assert default.read_text("utf-8") == due
    for name in ("a.yml", "b.yml"):
        entry = concept(root, name).entries[0]
        assert reread(entry, root / WHEELS) == []


def test_one_of_several_keeps_its_turn(root):
    put_wheel(root, "1.1", {"verl/core.py": NEW_CODE})
    file = put_fact(root, "a", FACT.format(lines="9", quote='"last = 0"'))
    assert command(root, "facts", "verl", "1.1")[0] == 0
    assert "  lines: 12\n" in file.read_text("utf-8")


def test_a_file_that_was_renamed_is_found_by_its_name(root):
    put_wheel(root, "1.1", {"verl/new/core.py": NEW_CODE, "verl/b/core.py": "pass\n"})
    file = put_fact(root, "a", FACT.format(lines="4", quote='"last = delta + last"'))
    assert command(root, "facts", "verl", "1.1")[0] == 0
    assert "  path: verl/new/core.py\n  lines: 7\n" in file.read_text("utf-8")


DELTA = '"last = delta + last"'
LEFT = {
    "gone": (
        {"verl/core.py": NEW_CODE.replace("delta + last", "delta + 0.9 * last")},
        ("4", DELTA),
        "is nowhere in verl/core.py; the nearest is line 7: last = delta + 0.9 * last",
    ),
    "ambiguous": (
        {"verl/core.py": f"{NEW_CODE}    last = 0\n"},
        ("2", '"last = 0"'),
        "is on several lines of verl/core.py, 5, 12, 14; the nearest is 5",
    ),
    "two files": (
        {"verl/a/core.py": NEW_CODE, "verl/b/core.py": NEW_CODE},
        ("4", DELTA),
        "several files of that name say it: verl/a/core.py, verl/b/core.py",
    ),
    "another file": (
        {"verl/advantage.py": NEW_CODE},
        ("4", DELTA),
        "no verl/core.py; the words stand at verl/advantage.py:7",
    ),
    "no file": (
        {"verl/cores.py": "pass\n"},
        ("4", DELTA),
        "no verl/core.py, and no file of that name that says it; the nearest path is "
        "verl/cores.py",
    ),
    "wrong before": (
        {"verl/core.py": NEW_CODE},
        ("1", DELTA),
        "verl 1.0 · verl/core.py:1 is not so in the old release either",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_cannot_be_found_is_told_and_its_file_is_left_whole(root, case):
    files, (lines, quote), told = LEFT[case]
    put_wheel(root, "1.1", files)
    # The first entry could be moved: a file is moved whole or not at all.
    first = "- release: verl 1.0\n  path: verl/core.py\n  lines: 1\n  quote: def gae\n"
    text = FACT.format(lines=lines, quote=quote)
    put_fact(root, "a", text.replace("entries:\n", f"entries:\n{first}"))
    before = state(root)
    code, said = command(root, "facts", "verl", "1.1")
    assert code == 1 and told in said and "docs/facts/a.yml:9: " in said
    assert "files moved 0, left as they are 1" in said
    assert state(root) == before


def test_a_default_that_changed_is_told(root):
    config = NEW_CONFIG.replace("0.5", "1.0")
    put_wheel(root, "1.1", {"verl/core.py": NEW_CODE, "verl/config.yaml": config})
    put_fact(root, "b", DEFAULT)
    before = state(root)
    code, said = command(root, "facts", "verl", "1.1")
    assert code == 1 and "critic.clip is 1.0 there" in said
    assert state(root) == before


def test_it_moves_from_the_newest_release_before_or_from_the_one_named(root):
    put_wheel(root, "1.1", {"verl/core.py": NEW_CODE})
    put_fact(root, "a", FACT.format(lines="4", quote=DELTA))
    newer = FACT.format(lines="7", quote=DELTA).replace("verl 1.0", "verl 1.1")
    put_fact(root, "b", newer)
    put_wheel(root, "1.2", {"verl/core.py": f"\n{NEW_CODE}"})
    before = state(root)
    code, said = command(root, "facts", "verl", "1.2", "--dry-run")
    assert code == 0 and "From verl 1.1 to verl 1.2: files that can be moved 1" in said
    assert state(root) == before
    code, said = command(root, "facts", "verl", "1.2", "--from", "1.0")
    assert code == 0 and "From verl 1.0 to verl 1.2: files moved 1" in said
    entry, _ = concept(root, "a.yml").entries
    assert entry.place == "verl 1.2 · verl/core.py:8"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("vrl", "1.1"), "No facts about vrl; there are some about TRL, verl"),
        (("verl", "0.9"), "Nothing to move to verl 0.9; facts have verl 1.0"),
        (("verl", "1.1", "--from", "0.1"), "facts have verl 1.0"),
        (("verl", "1.1"), "No wheel of verl 1.1 in .cache/wheels"),
    ],
)
def test_what_cannot_be_moved_at_all_is_refused(root, words, told):
    put_fact(root, "a", FACT.format(lines="4", quote=DELTA))
    before = state(root)
    code, said = command(root, "facts", *words)
    assert code == 1 and told in said and state(root) == before


def test_a_file_in_another_layout_is_refused_before_anything_is_written(root):
    put_wheel(root, "1.1", {"verl/core.py": NEW_CODE})
    put_fact(root, "a", FACT.format(lines="4", quote=DELTA))
    entry = "{release: verl 1.0, path: verl/core.py, lines: 4, quote: last = delta}"
    put_fact(root, "b", f"zh: 值\nen: Values\nentries:\n- {entry}\n")
    before = state(root)
    code, said = command(root, "facts", "verl", "1.1")
    assert code == 1 and "docs/facts/b.yml: nothing was written" in said
    assert state(root) == before
