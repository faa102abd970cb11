"""Steps of the workflows that are shell, run as they stand."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# Notes its arguments, a line each call; says the number of the open issue, if any.
GH = """#!/bin/sh
echo "$1 $2 $3" >> "$CALLS"
[ "$1 $2" = "issue list" ] && printf '%s' "$OPEN"
exit 0
"""


def script(workflow: str, job: str, name: str) -> str:
    text = (ROOT / ".github/workflows" / workflow).read_text("utf-8")
    steps = yaml.safe_load(text)["jobs"][job]["steps"]
    (found,) = [step["run"] for step in steps if step.get("name") == name]
    return found


def shell(run: str, **environment: str) -> None:
    """As GitHub runs it: it stops at the first command that fails."""
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run],
        cwd=ROOT,
        env=os.environ | environment,
        check=True,
    )


def test_the_summary_says_in_both_languages_how_to_use_the_patch(
    tmp_path: Path,
) -> None:
    summary = tmp_path / "summary.md"
    shell(
        script("preview.yml", "preview", "Say how to use them"),
        GITHUB_STEP_SUMMARY=str(summary),
        GITHUB_RUN_ID="123",
        GITHUB_REPOSITORY="owner/name",
    )
    text = summary.read_text("utf-8")
    assert text.count("gh run download 123 --repo owner/name --name mended") == 2
    assert text.index("### 预览") < text.index("### Preview")


@pytest.mark.parametrize(
    ("number", "call"), [("", "issue create --title"), ("42", "issue edit 42")]
)
def test_one_issue_is_opened_or_brought_up_to_date(
    tmp_path: Path, number: str, call: str
) -> None:
    gh, calls = tmp_path / "gh", tmp_path / "calls"
    gh.write_text(GH)
    gh.chmod(0o755)
    shell(
        script("weekly.yml", "issue", "Open the issue, or bring it up to date"),
        PATH=f"{tmp_path}:{os.environ['PATH']}",
        CALLS=str(calls),
        OPEN=number,
        TITLE="Newest",
    )
    label, listed, last = calls.read_text().splitlines()
    assert label == "label create newest-releases"
    assert listed == "issue list --label"
    assert last == call
