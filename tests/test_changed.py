"""A changed path names the tests that it can break, and whether the site is built."""

import subprocess

import pytest

from tests.changed import EVERYTHING, OF_DATA, OF_SITE, blamed, failed_before, plan
from tests.layout import ROOT

PAGES = {
    "docs/en/gae/variance.md": ["en/gae/variance/"],
    "snippets/gae/variance.py": ["en/gae/variance/", "gae/variance/"],
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_verified_with_those_that_name_it_built_and_opened(path):
    todo = plan([path])
    pages = {test for test in todo.tests if test.startswith("docs")}
    assert {f"docs/{lang}/gae/variance.md" for lang in ("zh", "en")} <= pages
    linking = {f"docs/{lang}/contribute/from_log_to_page.md" for lang in ("zh", "en")}
    assert path.endswith(".py") or linking <= pages
    assert "docs/en/contribute/dialogue_log.md" not in pages and len(pages) < 40
    assert "tests/site/page/test_words.py" in todo.tests, "marked as a whole"
    parts = [test for test in todo.tests if test.startswith("tests/site/lab/test_lab")]
    assert parts and all("::test_" in part for part in parts)
    assert todo.build and {*PAGES[path]} <= {*todo.pages} and len(todo.pages) < 20


DATA = {path.stem: path for path in (ROOT / "docs").glob("*.yml")}


@pytest.mark.parametrize("name", sorted(DATA))
def test_a_file_of_data_has_the_tests_that_name_it_and_the_site_is_built(name):
    assert DATA.keys() == OF_DATA.keys()
    todo = plan([f"docs/{name}.yml"])
    assert todo.build and set(todo.tests) != set(EVERYTHING)
    for file in sorted((ROOT / "tests/site").rglob("test_*.py")):
        if f'"docs/{name}.yml"' in file.read_text("utf-8"):
            path = file.relative_to(ROOT)
            known = {path.as_posix(), *map(str, path.parents)}
            assert known & set(todo.tests), path


def test_facts_are_read_again_with_the_pages_that_show_them():
    todo = plan(["docs/facts/values.yml"])
    pages = {test for test in todo.tests if test.startswith("docs")}
    assert "tests/site/data/test_facts.py" in todo.tests and todo.build
    assert pages and len(pages) < 20
    for page in pages:
        assert "\nvalues " in (ROOT / page).read_text("utf-8")


def test_a_short_address_runs_no_page():
    """It is the last line of a file, which each new page writes."""
    tests = plan(["docs/short.yml"]).tests
    assert not [test for test in tests if test.startswith("docs")]


FLAKY = """import pathlib

def test_chance():
    seen = pathlib.Path(__file__).with_name("seen")
    try:
        assert seen.exists()
    finally:
        seen.touch()
"""


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True], ids=["of another", "of the change"])
def test_a_failure_that_does_not_come_again_is_blamed_on_its_own_file_alone(
    own, tmp_path, monkeypatch, capsys
):
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "test_it.py").write_text(FLAKY)
    (tmp_path / "seen").touch()
    monkeypatch.setattr("tests.changed.ROOT", tmp_path)
    failed, changed = {"test_it.py::test_chance"}, ["test_it.py"] if own else ["a.md"]
    assert blamed(failed, "HEAD", "main", changed) == (failed if own else set())
    told = "fails by your change, not always" if own else "failed once, passes alone"
    assert f"{told}: test_it.py::test_chance" in capsys.readouterr().out


@pytest.mark.slow
def test_what_failed_before_is_told_apart(tmp_path, monkeypatch):
    """In a repository of its own, with a page that failed when the branch began."""
    said = "def test_{}():\n    assert {}\n"
    (tmp_path / "conftest.py").write_text("")
    file = tmp_path / "test_it.py"
    file.write_text(said.format("red", False) + said.format("green", True))
    monkeypatch.setattr("tests.changed.ROOT", tmp_path)
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm a"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    failed = {"test_it.py::test_red", "test_it.py::test_green", "new.py::test_x"}
    assert failed_before(failed, "HEAD") == {"test_it.py::test_red"}
    assert not (tmp_path / ".git/worktrees").exists()


@pytest.mark.parametrize(
    ("paths", "tests", "build"),
    [
        (["docs/theme/main.html"], OF_SITE, True),
        (["tests/site/built/test_build.py"], ["tests/site/built/test_build.py"], False),
        (["tests/site/trial_site.py"], ["tests/site"], False),
        (["tests/browser/test_desk.py"], [], False),
        (["bench/steps.py"], ["tests/bench"], False),
        (["what/nobody/named"], EVERYTHING, True),
        (["site_tools/numbers.py", "tests/site/built/test_build.py"], OF_SITE, True),
        (["pins/python.txt", "ppo_ref/kl.py"], EVERYTHING, True),
    ],
)
def test_paths_mean_what_can_break(paths, tests, build):
    todo = plan(paths)
    assert (todo.tests, todo.build) == (tuple(sorted(tests)), build)


def test_the_package_breaks_what_imports_it_and_the_pages():
    todo = plan(["ppo_ref/kl.py"])
    parts = {"docs", "tests/properties", "tests/differential", "tests/command"}
    assert parts <= set(todo.tests)
    assert not {"tests/site", "tests/contributing"} & set(todo.tests)
