"""A patch for somebody else's document fits it, and takes away what the page quotes."""

import re
import subprocess
from pathlib import Path

import pytest

from site_tools.source.content import read_content
from tests.differential.wheels import MISSING, find, source
from tests.layout import ROOT

PATCH = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)
HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? .*@@")
PAGES = sorted((ROOT / "docs" / "en").rglob("*.md"))
SECTIONS = [
    pytest.param(section, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, section in enumerate(re.split(r"(?m)^##", page.read_text("utf-8")))
    if PATCH.search(section)
]


def applied(patch: str, text: str, folder: Path) -> str:
    """The file as git has patched it, or the reason why it has not."""
    file = folder / re.search(r"^--- a/(.*)$", patch, re.MULTILINE)[1]
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    command = ["git", "apply", "--unidiff-zero", "-"]
    run = subprocess.run(
        command, cwd=folder, input=patch, capture_output=True, text=True
    )
    return run.stderr or file.read_text("utf-8")


def document(patch: str) -> str:
    """A file of which no more is known than the lines that the patch takes away."""
    lines: list[str] = []
    for line in patch.split("\n"):
        if hunk := HUNK.match(line):
            lines += [""] * (int(hunk[1]) - 1 - len(lines))
        elif line.startswith("-") and not line.startswith("---"):
            lines.append(line[1:])
    return "\n".join(lines) + "\n"


def said(lines: str) -> str:
    """Words alone: no quotation marks and line breaks of a docstring."""
    return " ".join(re.sub(r'^\s*"?|\s*"?$', "", lines, flags=re.MULTILINE).split())


def quoted(section: str) -> list[str]:
    content = read_content(section)
    body = "\n".join(content.text_of(each.rows) for each in content.quotations)
    lines = "\n".join(line for line in body.split("\n") if not line.startswith("!"))
    return [said(part) for part in re.split(r"\[…\]", lines)]


@pytest.mark.pages
@pytest.mark.parametrize("section", SECTIONS)
def test_a_patch_fits_and_takes_away_what_is_quoted(section, tmp_path):
    gone = ""
    for number, patch in enumerate(PATCH.findall(section)):
        release = patch.split("\n")[0].removeprefix("# ")
        before = document(patch)
        gone += before
        if "@" not in release:
            if find(release) is None:
                pytest.skip(MISSING)
            before = source(release, re.search(r"^--- a/(.*)$", patch, re.M)[1])
        after = applied(patch, before, tmp_path / str(number))
        added = re.findall(r"^\+(?!\+\+)(.*)$", patch, re.MULTILINE)
        assert added and all(f"\n{line}\n" in after for line in added), after[:300]
    assert all(part in said(gone) for part in quoted(section)), quoted(section)


def test_a_patch_of_a_line_that_is_not_there_is_refused(tmp_path):
    patch = "--- a/x.md\n+++ b/x.md\n@@ -2 +2 @@\n-gemma\n+gamma\n"
    assert applied(patch, "a\ngemma\n", tmp_path / "1") == "a\ngamma\n"
    assert "does not apply" in applied(patch, "a\ngamma\n", tmp_path / "2")
