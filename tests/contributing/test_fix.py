"""fix: what it mends, shows, asks and writes, what it says is left, and why."""

from pathlib import Path

import pytest

from site_tools.contributing.fix import with_outputs
from site_tools.page.twins import (
    TwinState,
    agreed_hash,
    twins_of,
    with_agreed,
    with_both_agreed,
)
from tests.contributing.trial import (
    EN,
    PAGE,
    PATHS,
    ZH,
    command,
    git,
    put,
)
from tests.site.sample import ROOT, broken

ZH_FILE, EN_FILE = PATHS
HALF = broken("**对。** 和是", "**对。** 和是2,也是", ZH)
MENDED = broken("**对。** 和是", "**对。** 和是 2，也是", ZH)
STALE = [broken("total 2\n", "total 3\n", text) for text in (HALF, EN)]


def texts(root: Path) -> list[str]:
    return [(root / path).read_bytes().decode() for path in PATHS]


def test_a_page_that_is_right_is_left_alone(project):
    assert command(project, "fix", PAGE) == (0, "Nothing to mend.\n")
    assert command(project, "fix", "--dry-run", PAGE) == (0, "Nothing to mend.\n")
    assert texts(project) == [ZH, EN]


def test_a_patch_gives_what_the_command_writes(project, tmp_path_factory):
    put(project, *STALE)
    code, said = command(project, "fix", "--dry-run", PAGE)
    assert code == 1 and said.endswith("Nothing was written.\n")
    target = tmp_path_factory.mktemp("patch") / "fix.diff"
    assert command(project, "fix", "--patch", str(target), PAGE)[0] == 1
    assert texts(project) == STALE
    git(project, "init", "-q")
    git(project, "apply", str(target))
    assert texts(project) == [MENDED, EN]


def test_outputs_are_replaced_after_a_yes_only(project):
    put(project, *STALE)
    code, said = command(project, "fix", PAGE)
    assert code == 1 and "-total 3\n+total 2\n" in said
    assert said.count("shall they replace those shown? [y/N]") == 1
    declined = (
        f"Not mended: the outputs shown in {ZH_FILE}, {EN_FILE}, for nobody said yes"
    )
    left = f"what is meant: 2. make check PAGE={PAGE} shows them.\n"
    assert declined in said and said.endswith(left) and "found:" not in said
    assert texts(project) == [broken("total 2\n", "total 3\n", MENDED), STALE[1]]
    code, said = command(project, "fix", PAGE, says="y")
    assert said.endswith(f"Mended: {ZH_FILE}, {EN_FILE}\n")
    assert texts(project) == [MENDED, EN]


def test_a_file_that_changes_meanwhile_stops_everything(project):
    put(project, *STALE)

    def meanwhile() -> str:
        (project / EN_FILE).write_text(f"{EN}\nMore.\n", "utf-8")
        return "y"

    code, said = command(project, "fix", PAGE, answer=meanwhile)
    assert code == 1 and f"{EN_FILE} has changed meanwhile" in said
    assert texts(project) == [STALE[0], f"{EN}\nMore.\n"]


@pytest.mark.parametrize(
    ("agreed_on", "state"), [(HALF, TwinState.IN_STEP), (ZH, TwinState.ZH_AHEAD)]
)
def test_the_languages_agree_as_before(project, agreed_on, state):
    agreed = with_both_agreed({"zh": agreed_on, "en": EN}, PAGE)
    zh = with_agreed(HALF, agreed_hash(agreed["zh"]), PATHS[0])
    put(project, zh, agreed["en"])
    assert twins_of(project, PAGE).state is state
    assert command(project, "fix", PAGE)[0] == 0
    assert twins_of(project, PAGE).state is state
    assert "和是 2，也是" in texts(project)[0]


def test_without_a_page_only_what_changed_is_mended(project):
    put(project, *STALE)
    other = project / "docs/en/alignment/other.md"
    stale, mended = (_on_another_question(text) for text in (STALE[1], EN))
    other.write_text(f"{stale}x \n", "utf-8")
    git(project, "init", "-qb", "main")
    git(project, "add", "docs")
    git(project, "commit", "-qm", "x")
    other.write_text(f"{stale}y \n", "utf-8")
    code, said = command(project, "fix", "--yes")
    assert code == 0 and said.endswith("Mended: docs/en/alignment/other.md\n")
    assert other.read_text("utf-8") == f"{mended}y\n"
    assert texts(project) == STALE


def _on_another_question(text: str) -> str:
    """The page as one that answers something else: a question belongs to one page."""
    asked = broken("Is two the sum?", "Is three the sum?", text)
    return broken("What is one and one?", "What is one and two?", asked)


# Outputs of single pages.

TOP = "---\nquestion: Q\n---\n\n"
BLOCK = '```python\nprint("a", 0.95)\n```\n\n```output\na 0.95\n```\n'
RAISES = "{ .python .raises }"


def renewed(root: Path, text: str, language: str = "zh") -> str:
    if not (root / "mkdocs.yml").exists():
        (root / "mkdocs.yml").symlink_to(ROOT / "mkdocs.yml")
    path = f"docs/{language}/gae/x.md"
    return (
        with_outputs(root, {path: TOP + text}).get(path, TOP + text).removeprefix(TOP)
    )


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (BLOCK, "a 0.95\n`", "a 0.9\n`"),
        (
            f'```{RAISES}\nprint("x")\nassert 0, "got 3"\n```\n\n```output\n'
            "x\nAssertionError: got 3\n```\n",
            "got 3\n```\n",
            "got 2\n```\n",
        ),
        (
            '    ```python\n    print("a\\n\\nb")\n    ```\n\n    ```output\n'
            "    a\n\n    b\n    ```\n",
            "    a\n\n    b\n",
            "    c\n",
        ),
        (
            "```python\nprint(1)\n```\n\n```output\n1\n```\n\n以后\n",
            "\n```output\n1\n```\n",
            "",
        ),
    ],
)
def test_an_output_is_renewed(tmp_path, text, old, new):
    box = '!!! note "x"\n\n' if text.startswith("    ") else ""
    assert renewed(tmp_path, box + broken(old, new, text)) == box + text
    assert renewed(tmp_path, box + text) == box + text


@pytest.mark.parametrize(
    "text",
    [
        '```python\nprint(1)\nassert 0, "no"\n```\n\n```output\n2\n```\n',
        f"```{RAISES}\n1 / 0\n```\n\n```output\nKeyError: 2\n```\n",
        "```python\nimport torch\nprint(torch.rand(1))\n```\n\n```output\n2\n```\n",
        '```python\nprint("`" * 3)\n```\n\n```output\n2\n```\n',
    ],
)
def test_a_block_that_fails_or_is_left_to_chance_is_left(tmp_path, text):
    for language in ("zh", "en"):
        assert renewed(tmp_path, text, language) == text
