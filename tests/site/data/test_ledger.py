"""A ledger knows things by what they were made from, and is written whole."""

import os
import threading

import pytest

from site_tools.ledger import (
    Damaged,
    Made,
    fresh,
    ledger_text,
    parse_ledger,
    read_ledger,
    update,
    write,
)

ENTRIES = {
    "docs/en/a.md": Made({"package": "1f", "torch": "2.13"}, {"passed": ["x"]}),
    "(front-matter)": Made({"zh": "0a", "en": "0b"}),
}


def test_a_ledger_is_read_as_it_was_written(tmp_path):
    file = tmp_path / "folder" / "pages.txt"
    assert read_ledger(file) == {}
    write(file, ENTRIES)
    assert read_ledger(file) == ENTRIES
    assert file.read_text().splitlines()[0] == "(front-matter) zh:0a en:0b"
    before = file.stat().st_mtime_ns
    write(file, dict(reversed(ENTRIES.items())))
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "a zh:1 zh en:2",
        "a zh:1 {",
        "a zh:1 {}x",
        "ok zh:1",
        "a zh:1 " + '{"known": ' + "[" * 99_999 + "]" * 99_999 + "}",
    ],
    ids=lambda line: line[:30],
)
def test_a_damaged_line_is_named(line):
    with pytest.raises(Damaged) as refusal:
        parse_ledger(f"ok zh:1\n{line}\n", "a.txt")
    assert str(refusal.value).startswith("a.txt:2: ")
    assert str(refusal.value).endswith(line[:80])


@pytest.mark.parametrize(
    "made_from",
    [
        {"package": "2e", "torch": "2.13"},
        {"package": "1f", "torch": "2.14"},
        {"package": "1f", "torch": "2.13", "more": "1"},
        {"package": "1f"},
    ],
)
def test_what_is_made_from_something_else_is_stale(made_from):
    entry = ENTRIES["docs/en/a.md"]
    assert fresh(entry, {"package": "1f", "torch": "2.13"})
    assert not fresh(entry, made_from)
    assert not fresh(None, made_from)


def test_two_writers_lose_nothing(tmp_path):
    file = tmp_path / "pages.txt"

    def add(name: str) -> None:
        for number in range(20):
            with update(file) as ledger:
                ledger[f"{name}{number}"] = Made({"x": "1"})

    threads = [threading.Thread(target=add, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_ledger(file)) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["pages.txt"]


def test_a_cache_that_cannot_be_read_begins_anew(tmp_path):
    file = tmp_path / "pages.txt"
    file.write_bytes(b"\xff{")
    with update(file) as ledger:
        assert ledger == {}
        ledger |= ENTRIES
    assert ledger_text(read_ledger(file)) == ledger_text(ENTRIES)


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "pages.txt"
    write(file, ENTRIES)

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"), update(file) as ledger:
        ledger.clear()
    assert read_ledger(file) == ENTRIES
    assert [path.name for path in tmp_path.iterdir()] == ["pages.txt"]
