"""What becomes of a fact in another release, told of releases made up here."""

import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from site_tools.data.facts import Entry
from site_tools.data.places import line_hash
from site_tools.watch import __main__ as watch
from site_tools.watch import commits, issue, releases, report
from site_tools.watch.rereading import Reading, State, reread

THEN = "import torch\n\ndef gae(x):\n    last = 0\n    return x + last\n"
LINES = ["    last = 0", "    return x + last"]
FACT = Entry("verl 1.0", "verl/gae.py", "4-5", line_hash(LINES), quote="x + last")
CONFIG = "a:\n  gamma: 1.0\nb:\n  gamma: 0.9\n"
DEFAULT = Entry(
    "verl 1.0",
    "verl/c.yaml",
    "4",
    line_hash(["  gamma: 0.9"]),
    key="b.gamma",
    default="0.9",
)


def test_a_fact_that_stands_where_it_stood() -> None:
    assert reread(FACT, THEN, THEN) == Reading(FACT, State.SAME, "4-5")


def test_a_fact_that_moved() -> None:
    now = "# A line.\n# Another.\n" + THEN
    assert reread(FACT, THEN, now) == Reading(FACT, State.MOVED, "6-7")


def test_of_two_places_the_nearest() -> None:
    twice = "\n".join(["#", *LINES, *["#"] * 9, *LINES, ""])
    fact = FACT._replace(lines="11-12")
    assert reread(fact, None, twice).lines == "13-14"


@pytest.mark.parametrize("then", [THEN, None])
def test_a_fact_whose_lines_changed_is_shown_where_its_quotation_is(
    then: str | None,
) -> None:
    now = "#\n" + THEN.replace("return x + last", "return x + last  # a sum")
    reading = reread(FACT, then, now)
    assert reading.state is State.CHANGED
    if then:
        assert reading.lines == "5-6"
        removed, added = "-    return x + last", "+    return x + last  # a sum"
        assert reading.detail == f"     last = 0\n{removed}\n{added}"


def test_a_fact_whose_quotation_is_gone_is_shown_where_lines_are_alike() -> None:
    now = THEN.replace("return x + last", "return x + latest")
    reading = reread(FACT, THEN, now)
    assert (reading.state, reading.lines) == (State.CHANGED, "4-5")
    assert "+    return x + latest" in reading.detail


def test_a_fact_that_nothing_is_like_is_gone() -> None:
    assert reread(FACT, THEN, "class Trainer:\n    pass\n").state is State.GONE
    assert reread(FACT, None, "class Trainer:\n    pass\n").state is State.GONE


def test_a_fact_whose_file_is_gone() -> None:
    assert reread(FACT, THEN, None) == Reading(FACT, State.GONE, fileless=True)


def test_a_default_that_another_key_has_now_is_no_default() -> None:
    now = "a:\n  gamma: 0.9\nb:\n  gamma: 1.0\n"
    reading = reread(DEFAULT, CONFIG, now)
    assert (reading.state, reading.lines) == (State.CHANGED, "2")
    assert reading.detail == "b.gamma is 1.0 there; write default: 1.0"


def test_a_default_that_changed() -> None:
    reading = reread(DEFAULT, CONFIG, CONFIG.replace("0.9", "0.99"))
    assert reading.state is State.CHANGED
    assert reading.detail == "-  gamma: 0.9\n+  gamma: 0.99"


def wheel(folder: Path, name: str, **files: str) -> None:
    with ZipFile(folder / name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path.replace("__", "/"), text)


def test_a_wheel_is_read_as_it_would_be_installed(tmp_path: Path) -> None:
    wheel(tmp_path, "verl-1.0-py3-none-any.whl", **{"verl-1.0.data/purelib/a.py": "x"})
    found = releases.find("verl", "1.0", tmp_path)
    assert found is not None
    assert found.read("a.py") == "x"
    assert found.read("b.py") is None
    assert releases.find("verl", "1.0.1", tmp_path) is None


def test_what_pip_says_without_a_version_is_refused() -> None:
    with pytest.raises(ValueError, match="verl: pip must say 'name"):
        releases.version_of("ERROR: No matching distribution", "verl")


def test_post_releases_are_newer_and_commits_are_no_release() -> None:
    named = ["verl 0.3.0", "verl 0.3.0.post1", "TRL 1.2", "a/b@0123456"]
    entries = [FACT._replace(release=name) for name in named]
    assert releases.newest_pinned(entries) == {"verl": "0.3.0.post1", "TRL": "1.2"}


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    run = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return run.stdout.strip()


def test_facts_about_commits_are_read_in_their_repository(tmp_path: Path) -> None:
    origin = tmp_path / "owner/name"
    (origin / "verl").mkdir(parents=True)
    git(origin, "init", "--quiet")
    (origin / "verl/gae.py").write_text(THEN)
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "-m", "One")
    commit = git(origin, "rev-parse", "--short=7", "HEAD")
    sound = FACT._replace(release=f"owner/name@{commit}")
    elsewhere = sound._replace(lines="1-2")
    nowhere = sound._replace(path="verl/none.py")
    cloned = tmp_path / "cloned"
    cloned.mkdir()
    moved, missing = commits.problems(
        [sound, elsewhere, nowhere], str(tmp_path), cloned
    )
    assert moved.endswith(
        "other lines stand there; write lines: 4-5 hash: " + FACT.hash
    )
    assert "verl/none.py" in missing and "not read" in missing


def test_a_repository_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    fact = FACT._replace(release="owner/name@0123456")
    (told,) = commits.problems([fact], str(tmp_path), tmp_path / "cloned")
    assert "owner/name@0123456 · verl/gae.py:4-5: not read" in told


def test_the_report_counts_and_shows() -> None:
    moved = FACT._replace(quote="a`b")
    gone = FACT._replace(path="verl/old.py")
    readings = (
        Reading(FACT, State.SAME, "4-5"),
        Reading(moved, State.MOVED, "6-7"),
        Reading(FACT, State.CHANGED, "8-9", "-a\n+```\n@everybody"),
        Reading(gone, State.GONE, fileless=True),
        Reading(gone._replace(lines="1"), State.GONE, fileless=True),
    )
    named = {FACT: ["docs/facts/gae.yml"], moved: ["docs/facts/a.yml"]}
    watched = report.Watched("verl", "1.0", "1.1", readings)
    text = report.write([watched], named, commits=["x"], count=3, failed=["no @pip"])
    assert "| verl 1.0 | 1.1 | 1 | 1 | 1 | 2 |" in text
    assert "`verl/gae.py`: 4-5 → 6-7 · docs/facts/a.yml: `` a`b ``" in text
    assert (
        "4-5 → 8-9 · docs/facts/gae.yml\n\n````diff\n-a\n+```\n@everybody\n````" in text
    )
    assert "`verl/old.py`: no such file · 没有这个文件 (2)" in text
    assert text.count("verl/old.py") == 1
    assert "2 of 3 hold · 3 处中 2 处成立\n- `x`" in text
    assert "- `no @pip`" in text


def test_a_report_goes_on_without_what_pip_does_not_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def newest(project: str) -> str:
        if project == "verl":
            return "99.0"
        raise ValueError(f"pip index versions {project}: no network")

    monkeypatch.setattr(releases, "newest", newest)
    wheel(tmp_path, "verl-99.0-py3-none-any.whl", verl__a="x")
    target = tmp_path / "facts.md"
    watch.main(["--newest", "--wheels", str(tmp_path), "--report", str(target)])
    text = target.read_text("utf-8")
    assert "| 99.0 | 0 | 0 | 0 |" in text
    assert "- `pip index versions TRL: no network`" in text


def test_the_issue_holds_a_log_as_text_and_is_not_too_long() -> None:
    text = issue.body(
        "## Facts\n" + "x" * 70_000, "`````\n@everybody\x1b[31m\n" * 9_000
    )
    assert len(text) <= 65_536
    assert text.endswith(issue.CUT)
    assert "\x1b" not in text
    fence = "`" * 6
    assert text.count(f"\n{fence}") == 2
    assert text.index(fence) < text.index("@everybody") < text.rindex(fence)


def test_the_issue_says_what_is_missing() -> None:
    text = issue.body(None, None, "https://example.org/run")
    assert text.count(issue.MISSING) == 2
    assert "https://example.org/run" in text


def test_a_log_that_leads_elsewhere_is_not_read(tmp_path: Path) -> None:
    there, link = tmp_path / "there", tmp_path / "torch.log"
    there.write_text("torch 9", "utf-8")
    link.symlink_to(there)
    assert issue.read(str(there)) == "torch 9"
    assert issue.read(str(link)) is None


def test_the_address_of_a_run() -> None:
    run = {"GITHUB_SERVER_URL": "https://e.org", "GITHUB_REPOSITORY": "o/n"}
    assert issue.address(run) == ""
    whole = run | {"GITHUB_RUN_ID": "7"}
    assert issue.address(whole) == "https://e.org/o/n/actions/runs/7"
