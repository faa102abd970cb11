"""What could make the checks mean nothing has a line in CODEOWNERS."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / ".github/CODEOWNERS").read_text("utf-8").splitlines()
RULES = [line.split() for line in LINES if line and not line.startswith("#")]
OWNER = re.compile(r"@[\w-]+(/[\w.-]+)?")


def test_every_path_is_there() -> None:
    for path, *_ in RULES:
        assert path.startswith("/")
        found = [*ROOT.glob(path.strip("/"))]
        assert found, path
        assert all(each.is_dir() == path.endswith("/") for each in found), path


def test_what_guards_the_rest_is_owned() -> None:
    paths = {path for path, *_ in RULES}
    guards = {".ci", ".github", "docs/theme", "pins", "site_tools", "tests"}
    assert {f"/{guard}/" for guard in guards} <= paths
    assert {"/Makefile", "/mkdocs.yml", "/mkdocs.en.yml", "/pyproject.toml"} <= paths
    assert {"/docs/*.yml", "/docs/facts/", "/CONTRIBUTING.md", "/README*.md"} <= paths


def test_a_page_has_no_owner_so_that_one_maintainer_may_merge_it() -> None:
    for page in ("/docs/zh/", "/docs/en/", "/docs/locks/", "/snippets/"):
        assert [page] in RULES
