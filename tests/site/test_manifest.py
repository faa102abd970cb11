"""What was verified is noted whole, and lapses when what it rests on changes."""

from pathlib import Path

import pytest

from site_tools.ledger import Entry, Ledger, read
from site_tools.running.evidence import (
    RECORD,
    Evidence,
    Setting,
    block_hashes,
    gather,
    local,
    note,
    package_hash,
    passed,
    setting,
    unverified,
)
from tests.site.sample import EN, ROOT, broken, page

HERE = Setting("package", "2.13.0+cpu", "3.11.7")
PAGE = "docs/en/alignment/sample.md"
OTHER = "docs/en/alignment/other.md"


def hashes(text: str) -> list[str]:
    return list(block_hashes(page(text).blocks).values())


def test_a_changed_block_changes_its_hash_and_those_below():
    first, second = hashes(EN)
    changed = hashes(broken("total == 3", "total == 4"))
    assert changed[0] == first and changed[1] != second
    above = hashes(broken('print("total", total)', 'print("total",  total)'))
    assert above[0] != first and above[1] != second


CODE = '''"""What it is."""

def double(x):
    """Twice."""
    return 2 * x  # no more
'''


def package(folder: Path, code: str, name: str = "double.py") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(code)
    return package_hash(folder)


def test_docstrings_and_comments_do_not_change_the_package(tmp_path):
    before = package(tmp_path / "p", CODE)
    plain = CODE.replace("Twice", "Two times").replace("What it is", "Doubling")
    assert package(tmp_path / "p", plain.replace("# no more", "# ok")) == before
    bare = "def double(x):\n    return 2 * x\n"
    assert package(tmp_path / "p", bare) == before


@pytest.mark.parametrize("new", ["3 * x", "2 * x or None", "2.0 * x", "(2 * x"])
def test_a_changed_function_changes_the_package(tmp_path, new):
    before = package(tmp_path / "p", CODE)
    assert package(tmp_path / "p", CODE.replace("2 * x", new)) != before


def noted(here: Setting = HERE, blocks: list[str] | None = None) -> Ledger:
    blocks = hashes(EN) if blocks is None else blocks
    return {PAGE: Entry(here.made_from, here.by, {"passed": blocks})}


def faults(known: Evidence, text: str = EN) -> list[int]:
    return [p.line for p in unverified(known, PAGE, list(page(text).blocks))]


@pytest.mark.parametrize(
    "known",
    [
        {},
        noted(blocks=[]),
        noted(Setting("other package", HERE.torch, HERE.python)),
        noted(Setting(HERE.package, HERE.torch, "3.12.1")),
        {PAGE: Entry(HERE.made_from, HERE.by, ["passed"])},
    ],
)
def test_another_package_torch_or_python_verifies_nothing(known):
    assert len(faults(Evidence(HERE, known))) == 2


def test_a_changed_block_is_named_with_the_remedy():
    text = broken("total == 3", "total == 4")
    known = Evidence(HERE, noted())
    (problem,) = unverified(known, PAGE, list(page(text).blocks))
    assert f"{PAGE}:{text[: text.index('{ .python .cont')].count(chr(10)) + 1}" in str(
        problem
    )
    assert "make build" in problem.fix


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ppo_ref").mkdir()
    for name in (PAGE, OTHER):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(EN, "utf-8")
    return tmp_path


def run(root: Path, **ends: str) -> Ledger:
    """Note a run: of each page the blocks that passed."""
    names = {"x": PAGE, "y": OTHER, "gone": "docs/en/gone.md"}
    note(
        root, "cpu", HERE, "CPU", {names[n]: {"passed": [*e]} for n, e in ends.items()}
    )
    return read(root / local("cpu"))


def test_a_run_of_one_page_leaves_the_others_as_they_were(root):
    run(root, x="ab", y="ab")
    after = run(root, x="a", gone="a")
    assert after.keys() == {PAGE, OTHER}
    assert [passed(after, at, HERE) for at in (PAGE, OTHER)] == [["a"], ["a", "b"]]


def test_a_run_is_noted_and_read_again(root):
    first, second = hashes(EN)
    note(root, "cpu", setting(root), "CPU", {PAGE: {"passed": [first]}})
    known = gather(root)
    assert known.on_cpu(PAGE, first) and not known.on_cpu(PAGE, second)


@pytest.mark.parametrize("text", [b"{", b"\xff\xfe{", b"<<<<<<< HEAD\n"])
def test_a_damaged_ledger_counts_for_nothing(root, text):
    for name in (local("cpu"), RECORD):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(text)
    known = gather(root)
    assert known.cpu == known.gpu == {}
    assert run(root, x="ab").keys() == {PAGE}  # a cache begins anew


def test_the_committed_record_can_be_read():
    ledger = read(ROOT / RECORD)
    if not ledger:
        pytest.skip(f"no {RECORD} yet: make record writes it on a machine with a GPU")
    for entry in ledger.values():
        assert len(entry.by["commit"]) == 40 and entry.made_from.keys() >= {"blocks"}
