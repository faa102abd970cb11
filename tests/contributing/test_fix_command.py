"""The command: what it shows, asks, writes, and when it writes nothing."""

import io
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from site_tools.__main__ import _parser
from site_tools.commands import fix
from site_tools.commands.talk import Refusal, Talk
from site_tools.data.locks import lock_of, write
from site_tools.page.wording import wording
from tests.site.sample import EN, ZH, broken

PAGE = "alignment/sample"
LOCK = f"docs/locks/{PAGE}.txt"
FILES = {f"docs/{lang}/{PAGE}.md": text for lang, text in (("zh", ZH), ("en", EN))}
ZH_FILE, EN_FILE = FILES
HALF = broken("**对。** 和是", "**对。** 和是2,也是", ZH)
MENDED = broken("**对。** 和是", "**对。** 和是 2，也是", ZH)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path, **FILES)
    return tmp_path


def put(root: Path, **files: str) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())


def read(root: Path) -> dict[str, str]:
    files = [p for p in root.rglob("*") if p.is_file() and ".git" not in p.parts]
    return {p.relative_to(root).as_posix(): p.read_bytes().decode() for p in files}


def command(
    root: Path, *words: str, answer: Callable[[], str | None] = lambda: None
) -> tuple[int, str]:
    options = _parser("en").parse_args(["fix", *words])
    out = io.StringIO()
    agreed = "yes" in options
    code = fix.run(options, root, Talk("en", agreed, out, answer))
    return code, out.getvalue()


def test_a_page_that_is_right_is_left_alone(project: Path) -> None:
    assert command(project, PAGE) == (0, "Nothing to mend.\n")
    assert command(project, "--dry-run", PAGE) == (0, "Nothing to mend.\n")
    assert read(project) == FILES


def test_what_is_mechanical_is_shown_and_written(project: Path) -> None:
    put(project, **{ZH_FILE: HALF})
    code, said = command(project, PAGE)
    assert code == 0
    assert f"--- a/{ZH_FILE}\n+++ b/{ZH_FILE}\n" in said
    assert "-**对。** 和是2,也是" in said and "+**对。** 和是 2，也是" in said
    assert said.endswith(f"Mended: {ZH_FILE}\n")
    assert read(project) == {**FILES, ZH_FILE: MENDED}
    assert command(project, PAGE) == (0, "Nothing to mend.\n")


def test_a_dry_run_writes_nothing_and_ends_with_1(project: Path) -> None:
    put(project, **{ZH_FILE: HALF})
    code, said = command(project, "--dry-run", PAGE)
    assert code == 1
    assert "+**对。** 和是 2，也是" in said
    assert said.endswith("Nothing was written.\n")
    assert read(project) == {**FILES, ZH_FILE: HALF}


STALE = [broken("total 2\n", "total 3\n", text) for text in (HALF, EN)]


def test_a_patch_gives_what_the_command_writes(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    put(project, **dict(zip(FILES, STALE, strict=True)))
    target = tmp_path_factory.mktemp("patch") / "fix.diff"
    assert command(project, "--patch", str(target), PAGE)[0] == 1
    assert read(project) == dict(zip(FILES, STALE, strict=True))
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "apply", str(target)], cwd=project, check=True)
    assert read(project) == {**FILES, ZH_FILE: MENDED}


def test_a_patch_on_the_terminal_stands_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(project, **{ZH_FILE: HALF})
    code, said = command(project, "--patch", "-", PAGE)
    printed = capsys.readouterr().out
    assert (code, said) == (1, "")
    assert printed.startswith(f"--- a/{ZH_FILE}\n")
    assert printed.count("@@") == 2


def test_outputs_are_replaced_after_a_yes_only(project: Path) -> None:
    put(project, **dict(zip(FILES, STALE, strict=True)))
    code, said = command(project, PAGE)
    assert code == 0
    assert "-total 3\n+total 2\n" in said
    assert said.count("shall they replace those shown? [y/N]") == 1
    assert read(project) == {
        ZH_FILE: broken("total 2\n", "total 3\n", MENDED),
        EN_FILE: STALE[1],
    }
    assert command(project, PAGE, answer=lambda: "y")[0] == 0
    assert read(project) == {**FILES, ZH_FILE: MENDED}


def test_yes_may_be_said_beforehand(project: Path) -> None:
    put(project, **dict(zip(FILES, STALE, strict=True)))
    assert command(project, "--yes", PAGE)[0] == 0
    assert read(project) == {**FILES, ZH_FILE: MENDED}


def test_a_block_that_fails_is_told_and_left(project: Path) -> None:
    fails = {
        path: broken("total == 2", "total == 3", text) for path, text in FILES.items()
    }
    put(project, **fails)
    _, said = command(project, "--yes", PAGE)
    assert "AssertionError" in said
    assert read(project) == fails


def test_a_file_that_changes_meanwhile_stops_everything(project: Path) -> None:
    put(project, **dict(zip(FILES, STALE, strict=True)))

    def meanwhile() -> str:
        put(project, **{EN_FILE: EN + "\nMore.\n"})
        return "y"

    with pytest.raises(Refusal, match=f"{EN_FILE} has changed meanwhile"):
        command(project, PAGE, answer=meanwhile)
    assert read(project) == {ZH_FILE: STALE[0], EN_FILE: EN + "\nMore.\n"}


def test_bytes_that_are_no_text_are_refused(project: Path) -> None:
    put(project, **{ZH_FILE: HALF})
    (project / EN_FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(Refusal, match="must be UTF-8"):
        command(project, PAGE)
    assert (project / ZH_FILE).read_bytes() == HALF.encode()


def test_a_page_that_agreed_agrees_still(project: Path) -> None:
    put(project, **{ZH_FILE: HALF, LOCK: write(lock_of(wording(HALF), wording(EN)))})
    _, said = command(project, PAGE)
    assert f"Mended: {ZH_FILE}, {LOCK}" in said
    assert read(project)[LOCK] == write(lock_of(wording(MENDED), wording(EN)))


def test_a_page_that_waits_waits_still(project: Path) -> None:
    lock = write(lock_of(wording(ZH), wording(EN)))
    put(project, **{ZH_FILE: HALF, LOCK: lock})
    command(project, PAGE)
    assert read(project) == {ZH_FILE: MENDED, EN_FILE: EN, LOCK: lock}


def test_a_page_that_was_never_recorded_is_not_recorded(project: Path) -> None:
    put(project, **{ZH_FILE: HALF})
    command(project, PAGE)
    assert LOCK not in read(project)


def git(root: Path, *words: str) -> None:
    author = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *author, *words], cwd=root, check=True)


def test_without_a_page_only_what_changed_is_run(project: Path) -> None:
    stale = {f"docs/en/gae/{name}.md": STALE[1] + "x \n" for name in "ab"}
    put(project, **stale)
    git(project, "init", "-qb", "main")
    git(project, "add", ".")
    git(project, "commit", "-qm", "x")
    put(project, **{"docs/en/gae/b.md": STALE[1] + "y \n"})
    code, said = command(project, "--yes")
    assert code == 0
    assert "Running what changed: gae/b\n" in said
    assert read(project) == {
        **FILES,
        "docs/en/gae/a.md": STALE[1] + "x\n",
        "docs/en/gae/b.md": EN + "y\n",
    }


def test_without_git_nothing_is_run(project: Path) -> None:
    put(project, **{ZH_FILE: STALE[0]})
    code, said = command(project, "--yes")
    assert code == 0
    assert "No page is run, since what changed is not known" in said
    assert read(project)[ZH_FILE] == broken("total 2\n", "total 3\n", MENDED)


def test_it_speaks_chinese(project: Path) -> None:
    put(project, **dict(zip(FILES, STALE, strict=True)))
    options = _parser("zh").parse_args(["fix", PAGE])
    out = io.StringIO()
    assert fix.run(options, project, Talk("zh", True, out)) == 0
    assert "新打印的这些对吗？要用它们换掉页面上的吗？ [y/N] y" in out.getvalue()
    assert out.getvalue().endswith(f"修好了：{ZH_FILE}, {EN_FILE}\n")
    lines = [fix.HELP, *fix.EXAMPLES.splitlines()]
    assert all(re.search("[一-鿿]", Talk("zh").words(line)) for line in lines)
