"""fix: what it mends, shows, asks and writes, what it says is left, and why."""

from pathlib import Path
from zipfile import ZipFile

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


# Facts, whose quotations are looked for in the wheel of their own release.

SUMS = "def f():\n    return gamma\n\n\ndef g():\n    x = 1\n    x = 1\n"
FACT = """zh: 一个概念   # why
en: A concept
entries:
- release: peer 1.0
  path: {path}
  lines: {lines}
  quote: "{quote}"
- release: owner/name@0123456
  path: in/no/wheel.py
  lines: 7
  quote: "anything"
"""


def put_fact(root: Path, path: str, lines: str, quote: str) -> str:
    """A fact about a release whose wheel is there; the text of its file."""
    text = FACT.format(path=path, lines=lines, quote=quote)
    (root / "docs/facts").mkdir(parents=True)
    (root / "docs/facts/sums.yml").write_text(text, "utf-8")
    (root / "pins").mkdir()
    (root / "pins/peers.txt").write_text("peer==1.0\n", "utf-8")
    (root / ".cache/wheels").mkdir(parents=True)
    with ZipFile(root / ".cache/wheels/peer-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("peer/sums.py", SUMS)
    return text


@pytest.mark.parametrize(
    ("path", "lines", "old", "new"),
    [
        ("peer/sums.py", "4", "lines: 4", "lines: 2"),
        ("peer/sums.py", "5-6", "lines: 5-6", "lines: 2-3"),
        ("lib/sums.py", "2", "path: lib/sums.py", "path: peer/sums.py"),
    ],
)
def test_a_fact_is_placed_again_and_nothing_else_changes(
    tmp_path, path, lines, old, new
):
    before = put_fact(tmp_path, path, lines, "return gamma")
    code, said = command(tmp_path, "fix", "facts/sums")
    assert code == 0 and f"-  {old}\n" in said and f"+  {new}\n" in said
    assert said.endswith("Mended: docs/facts/sums.yml\n")
    now = (tmp_path / "docs/facts/sums.yml").read_text("utf-8")
    assert now == before.replace(old, new)
    assert command(tmp_path, "fix", "facts/sums") == (0, "Nothing to mend.\n")
    assert command(tmp_path, "check", "facts/sums")[0] == 0


@pytest.mark.parametrize(
    ("lines", "quote", "told"),
    [
        ("1", "x = 1", '"x = 1" is on several lines of peer/sums.py, 6, 7'),
        ("2", "return gama", '"return gama" is nowhere in peer/sums.py; the nearest'),
    ],
)
def test_a_fact_that_only_a_person_can_place_is_told(tmp_path, lines, quote, told):
    before = put_fact(tmp_path, "peer/sums.py", lines, quote)
    code, said = command(tmp_path, "fix", "facts/sums")
    assert code == 1 and said.startswith(f"docs/facts/sums.yml:4: {told}")
    assert "Nothing to mend" not in said
    assert (tmp_path / "docs/facts/sums.yml").read_text("utf-8") == before


def test_a_fact_whose_wheel_is_not_there_is_not_called_sound(tmp_path):
    put_fact(tmp_path, "peer/sums.py", "2", "return gamma")
    (tmp_path / ".cache/wheels/peer-1.0-py3-none-any.whl").unlink()
    code, said = command(tmp_path, "fix", "facts/sums")
    assert code == 1 and said.startswith("peer 1.0: not read, no wheel")


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
