"""The command that checks pages takes a facts file, and reads its places again."""

from argparse import Namespace
from collections.abc import Sequence
from hashlib import sha256
from io import StringIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from site_tools.commands import changes, check
from site_tools.commands.facts_named import facts_changed
from site_tools.commands.talk import Refusal, Talk

LINES = ["def f():", "    return gamma", "x = 1"]
HASH = sha256(LINES[1].encode()).hexdigest()[:12]
FACTS = f"""zh: 一个概念
en: A concept
entries:
- release: owner/name@0123456
  path: in/no/wheel.py
  lines: 7
  hash: 0123456789ab
  quote: "anything"
- release: peer 1.0
  path: peer/sums.py
  lines: 2
  hash: {HASH}
  quote: "return gamma"
"""


def make(root: Path, facts: str = FACTS, lines: Sequence[str] = LINES) -> Path:
    (root / "docs/facts").mkdir(parents=True)
    (root / "docs/facts/sums.yml").write_text(facts, "utf-8")
    (root / ".cache/wheels").mkdir(parents=True)
    with ZipFile(root / ".cache/wheels/peer-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("peer/sums.py", "\n".join(lines))
    return root


def run(root: Path, *pages: str, lang: str = "en") -> tuple[int, list[str]]:
    out = StringIO()
    given = Namespace(pages=pages, format="terminal")
    code = check.run(given, root, Talk(lang, out=out))
    return code, out.getvalue().splitlines()


@pytest.mark.parametrize(
    "name", ["facts/sums", "docs/facts/sums.yml", "facts/sums.yml", "docs/facts/sums"]
)
def test_a_sound_file_is_checked_however_it_is_named(tmp_path: Path, name: str) -> None:
    assert run(make(tmp_path), name) == (0, ["Checked facts/sums: no problem."])


def test_a_wrong_line_is_told_at_its_entry_with_what_to_write(tmp_path: Path) -> None:
    make(tmp_path, FACTS.replace("lines: 2", "lines: 3"))
    assert run(tmp_path, "facts/sums") == (
        1,
        [
            "docs/facts/sums.yml:9",
            "  found:    peer 1.0 · peer/sums.py:3: other lines stand there",
            "  expected: the lines that the hash was taken of",
            f"  fix:      write lines: 2 hash: {HASH}",
            "Checked facts/sums: 1 problem.",
        ],
    )
    assert run(tmp_path, "facts/sums", lang="zh")[1][1:4] == [
        "  现在：peer 1.0 · peer/sums.py:3：那里是别的行",
        "  应为：算 hash 的那几行",
        f"  改法：写 lines: 2 hash: {HASH}",
    ]


@pytest.mark.parametrize(
    ("sound", "wrong", "told", "fix"),
    [
        (
            "peer/sums.py",
            "peer/gone.py",
            "peer 1.0 · peer/gone.py:2: the release has no such file",
            "correct path, or remove the entry",
        ),
        (
            "return gamma",
            "return lam",
            "peer 1.0 · peer/sums.py:2: 'return lam' is not on these lines",
            "correct the quote",
        ),
    ],
)
def test_what_cannot_be_mended_by_a_line_is_told_too(
    tmp_path: Path, sound: str, wrong: str, told: str, fix: str
) -> None:
    code, lines = run(make(tmp_path, FACTS.replace(sound, wrong)), "facts/sums")
    assert code == 1
    assert lines[1] == f"  found:    {told}"
    assert lines[3] == f"  fix:      {fix}"


def test_a_wheel_that_is_not_here_is_said_and_fails_nothing(tmp_path: Path) -> None:
    make(tmp_path, FACTS.replace("peer 1.0", "peer 2.0"))
    assert run(tmp_path, "facts/sums") == (
        0,
        [
            "peer 2.0: not read, no wheel; make ready brings it",
            "Checked facts/sums: no problem.",
        ],
    )


def test_a_file_that_is_not_there_or_cannot_be_read_is_refused(tmp_path: Path) -> None:
    make(tmp_path, FACTS.replace(HASH, "short"))
    with pytest.raises(Refusal, match=r"No facts file sum; the nearest is facts/sums$"):
        run(tmp_path, "facts/sum")
    with pytest.raises(Refusal, match=r"sums\.yml:12: hash must be"):
        run(tmp_path, "facts/sums")


def test_changed_facts_are_checked_where_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ["README.md", "docs/facts/gone.yml", "docs/facts/sums.yml"]
    monkeypatch.setattr(changes, "changed_files", lambda _: files)
    assert facts_changed(files, make(tmp_path)) == ["docs/facts/sums.yml"]
    assert run(tmp_path) == (0, ["Checked facts/sums: no problem."])
