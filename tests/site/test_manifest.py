"""What was verified is noted whole, and lapses when what it rests on changes."""

import json
from pathlib import Path

import pytest

from site_tools.running.evidence import Evidence, gather, unverified
from site_tools.running.hashes import block_hashes, package_hash
from site_tools.running.manifest import Manifest, Outcome, Setting, merge, setting
from site_tools.running.manifest_files import (
    RECORD,
    dump,
    forget_failures,
    load,
    local,
    read,
    save,
    update,
)
from tests.site.sample import EN, broken, page

HERE = Setting("package", "2.13.0+cpu", "3.11.7")
PAGE = "docs/en/alignment/sample.md"
NONE: frozenset[str] = frozenset()


def hashes(text: str) -> list[str]:
    return list(block_hashes(page(text).blocks).values())


def test_a_changed_block_changes_its_hash_and_those_below() -> None:
    first, second = hashes(EN)
    changed = hashes(broken("total == 3", "total == 4"))
    assert changed[0] == first and changed[1] != second
    above = hashes(broken('print("total", total)', 'print("total",  total)'))
    assert above[0] != first and above[1] != second


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("```output\ntotal 2", "```output\ntotal 3"),
        ("```python\ntotal", "```{ .python .raises }\ntotal"),
        ("total = 1 + 1", "total = 1 + 1  # two"),
    ],
)
def test_output_classes_and_comments_are_part_of_a_block(old: str, new: str) -> None:
    assert not set(hashes(EN)) & set(hashes(broken(old, new)))


def test_prose_and_lines_are_not() -> None:
    assert hashes(broken("The sum is", "Prose,\n\nmore prose, and the sum is")) == (
        hashes(EN)
    )


CODE = '''"""What it is."""

def double(x):
    """Twice."""
    return 2 * x  # no more
'''


def package(folder: Path, code: str, name: str = "double.py") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(code)
    return package_hash(folder)


def test_docstrings_and_comments_do_not_change_the_package(tmp_path: Path) -> None:
    before = package(tmp_path / "p", CODE)
    plain = CODE.replace("Twice", "Two times").replace("What it is", "Doubling")
    assert package(tmp_path / "p", plain.replace("# no more", "# ok")) == before
    bare = "def double(x):\n    return 2 * x\n"
    assert package(tmp_path / "p", bare) == before


@pytest.mark.parametrize("new", ["3 * x", "2 * x or None", "2.0 * x", "(2 * x"])
def test_a_changed_function_changes_the_package(tmp_path: Path, new: str) -> None:
    before = package(tmp_path / "p", CODE)
    assert package(tmp_path / "p", CODE.replace("2 * x", new)) != before


def test_another_module_or_another_name_changes_the_package(tmp_path: Path) -> None:
    before = package(tmp_path / "p", CODE)
    assert package(tmp_path / "p", "", "more.py") != before
    assert package(tmp_path / "q", CODE, "twice.py") != before


def test_a_stored_run_is_part_of_the_package(tmp_path: Path) -> None:
    before = package(tmp_path / "p", CODE)
    run = tmp_path / "p/stored/first.jsonl"
    run.parent.mkdir()
    run.write_text('{"kl":0.5}\n')
    stored = package_hash(tmp_path / "p")
    run.write_text('{"kl":0.25}\n')
    assert len({before, stored, package_hash(tmp_path / "p")}) == 3


def manifest(**changed: object) -> Manifest:
    values = {
        "setting": HERE,
        "device": "CPU",
        "date": "2026-11-21",
        "passed": {PAGE: frozenset(hashes(EN))},
    }
    return Manifest(**{**values, **changed})  # type: ignore[arg-type]


def faults(known: Evidence, text: str = EN) -> list[int]:
    return [p.line for p in unverified(known, PAGE, list(page(text).blocks))]


def test_a_page_whose_blocks_are_noted_is_verified() -> None:
    assert faults(Evidence(HERE, manifest())) == []


@pytest.mark.parametrize(
    "known",
    [
        None,
        manifest(passed={}),
        manifest(setting=Setting("other package", HERE.torch, HERE.python)),
        manifest(setting=Setting(HERE.package, "2.14.0", HERE.python)),
        manifest(setting=Setting(HERE.package, HERE.torch, "3.12.1")),
    ],
)
def test_another_package_torch_or_python_verifies_nothing(
    known: Manifest | None,
) -> None:
    assert len(faults(Evidence(HERE, known))) == 2


def test_a_changed_block_is_named_with_the_remedy() -> None:
    text = broken("total == 3", "total == 4")
    known = Evidence(HERE, manifest())
    (problem,) = unverified(known, PAGE, list(page(text).blocks))
    assert f"{PAGE}:{text[: text.index('{ .python .cont')].count(chr(10)) + 1}" in str(
        problem
    )
    assert "make build" in problem.fix


def outcome(passed: str = "", failed: str = "", blocks: str = "ab") -> Outcome:
    return Outcome(*(frozenset(x) for x in (blocks, passed, failed)))


def test_a_run_of_one_page_leaves_the_others_as_they_were() -> None:
    both = merge(None, HERE, "CPU", {"x": outcome("ab"), "y": outcome("ab")})
    after = merge(both, HERE, "CPU", {"x": outcome("a", "b")})
    assert after.passed == {"x": {"a"}, "y": {"a", "b"}}
    assert after.failed == {"x": {"b"}}
    mended = merge(after, HERE, "CPU", {"x": outcome("b")})
    assert mended.passed["x"] == {"a", "b"} and not mended.failed


def test_what_is_no_longer_on_a_page_is_forgotten() -> None:
    old = merge(None, HERE, "CPU", {"x": outcome("a", "b")})
    new = merge(old, HERE, "CPU", {"x": outcome("c", blocks="cd")})
    assert new.passed == {"x": {"c"}} and not new.failed


def test_a_run_with_another_torch_starts_anew() -> None:
    old = merge(None, HERE, "CPU", {"x": outcome("ab")})
    there = Setting(HERE.package, "2.14.0", HERE.python)
    assert merge(old, there, "CPU", {"y": outcome("a")}).passed == {"y": {"a"}}
    assert merge(old, HERE, "H200", {"y": outcome("a")}).passed == {"y": {"a"}}


def project(tmp_path: Path) -> Path:
    (tmp_path / "ppo_ref").mkdir()
    (tmp_path / PAGE).parent.mkdir(parents=True)
    (tmp_path / PAGE).write_text(EN, "utf-8")
    return tmp_path


def note(root: Path, passed: list[str], failed: list[str]) -> None:
    run = Outcome(frozenset(hashes(EN)), frozenset(passed), frozenset(failed))
    gone = Outcome(frozenset("a"), frozenset("a"), NONE)
    update(root, "cpu", setting(root), "CPU", {PAGE: run, "docs/en/gone.md": gone})


def test_a_run_is_noted_and_read_again(tmp_path: Path) -> None:
    root, (first, second) = project(tmp_path), hashes(EN)
    note(root, [first], [second])
    known, wrong = gather(root)
    assert wrong == [] and known.on_cpu(PAGE, first) and not known.on_cpu(PAGE, second)
    assert known.cpu and list(known.cpu.passed) == [PAGE]
    assert known.cpu.failed == {PAGE: {second}}
    forget_failures(root, "cpu")
    known, _ = gather(root)
    assert known.cpu and not known.cpu.failed and known.on_cpu(PAGE, first)


BAD = {
    "": "Expecting value",
    dump(manifest())[:120]: "Unterminated|Expecting",
    "[]": "must be an object, got list",
    '{"version": 3}': "must have package, torch, python, device, date",
    dump(manifest()).replace('"CPU"', "3"): "device must be a text, got 3",
    json.dumps({**json.loads(dump(manifest())), "passed": ["x"]}): (
        r"passed must be an object, got \['x'\]"
    ),
    json.dumps({**json.loads(dump(manifest())), "passed": {"x": 1}}): (
        "passed of x must be a text, got 1"
    ),
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_manifest_says_what_is_bad(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=BAD[text]):
        read(text)
    root = project(tmp_path)
    for name in (local("cpu"), RECORD):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text)
    known, wrong = gather(root)
    assert known.cpu is known.gpu is None
    assert [line.partition(":")[0] for line in wrong] == [local("cpu"), RECORD]
    note(root, hashes(EN), [])  # a cache that went bad starts anew
    assert (load(root, local("cpu")) or manifest()).passed == manifest().passed


def test_a_manifest_that_is_no_text_is_bad_too(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / local("cpu")).parent.mkdir(parents=True)
    (root / local("cpu")).write_bytes(b"\xff\xfe{")
    assert len(gather(root)[1]) == 1


def test_a_manifest_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path)
    note(root, hashes(EN), [])
    before = (root / local("cpu")).read_bytes()

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        note(root, [], hashes(EN))
    assert (root / local("cpu")).read_bytes() == before
    assert [path.name for path in (root / local("cpu")).parent.iterdir()] == (
        ["cpu.json"]
    )


def test_an_unchanged_manifest_is_not_written_again(tmp_path: Path) -> None:
    save(tmp_path, RECORD, manifest())
    before = (tmp_path / RECORD).stat().st_mtime_ns
    save(tmp_path, RECORD, manifest())
    assert (tmp_path / RECORD).stat().st_mtime_ns == before


def test_the_committed_record_can_be_read() -> None:
    root = Path(__file__).resolve().parents[2]
    known = load(root, RECORD)
    if known is None:
        pytest.skip(f"no {RECORD} yet: make record writes it on a machine with a GPU")
    assert len(known.commit) == 40 and known.passed and not known.failed
