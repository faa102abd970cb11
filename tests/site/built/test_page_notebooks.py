"""Every page with code is a notebook beside it, which runs as the page does."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup

from site_tools.compile import links, navigation
from site_tools.compile.notebooks import notebook
from site_tools.compile.resolved import resolved
from site_tools.page.page import Page, read_page
from site_tools.page.pictures import is_notebook
from tests.layout import ROOT
from tests.site import trial_site

WHEEL = "https://example.org/ppo_ref-0.1.0-py3-none-any.whl"
# What runs a notebook: cell after cell, its printed lines compared.
RUN = """
import contextlib, io, json, sys
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] != "code" or cell["source"].startswith("%pip"):
        continue
    printed, failed = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(cell["source"], "cell", "exec"), names)
        except BaseException as error:
            failed = f"{type(error).__name__}: {error}"
            if "raises-exception" not in cell["metadata"].get("tags", ()):
                raise
    shown = "".join(output["text"] for output in cell["outputs"])
    assert bool(failed) == ("raises-exception" in cell["metadata"].get("tags", ()))
    if not failed:
        assert printed.getvalue().split() == shown.split(), (printed.getvalue(), shown)
"""


def pages() -> list[Page]:
    names = sorted((ROOT / "docs/en").rglob("*.md"))
    found = [read_page(ROOT, name.relative_to(ROOT).as_posix()) for name in names]
    return [
        page
        for page in found
        if any(block.runs for block in page.blocks) and not is_notebook(page.id)
    ]


PAGES = pages()


def made(page: Page, wheel: str = "") -> dict:
    title = navigation.title_of(page.meta)
    text = resolved(page, ROOT)
    return json.loads(notebook(text, title, [], "en", "", wheel, page.id))


def test_the_first_code_installs_what_it_needs_where_that_is_known():
    cells = made(PAGES[0], WHEEL)["cells"]
    assert cells[0]["source"].startswith(f"# {navigation.title_of(PAGES[0].meta)}")
    assert cells[1]["source"] == f"%pip install -q {WHEEL}"
    assert "%pip" not in json.dumps(made(PAGES[0]))


def test_a_refutation_is_marked_as_a_cell_that_fails():
    (page,) = [page for page in PAGES if page.id == "gae/variance"]
    cells = made(page)["cells"]
    failing = [cell for cell in cells if cell["metadata"].get("tags")]
    shown = [block for block in page.blocks if block.raises]
    assert len(failing) == len(shown) > 0


def test_it_lies_beside_its_page():
    assert links.notebook_file("gae/inputs") == "gae/inputs/inputs.ipynb"


def opened(page: Path) -> dict[str, str]:
    """The addresses that a built page gives, by what opens the notebook there."""
    ends = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    found = {}
    for last in ends.select(".verdict, .download"):
        for link in last.select("a[href^=https]"):
            found[urlsplit(link["href"]).hostname] = link["href"]
        for code in last.select("code"):
            found["wget"] = code.get_text().removeprefix("wget ")
    return found


OPENERS = {
    "colab.research.google.com": "https://colab.research.google.com/github/",
    "kaggle.com": "https://kaggle.com/kernels/welcome?src=https://github.com/",
}


@pytest.mark.parametrize("page", ["en/alignment/run", "en/notebooks/toy"])
def test_what_opens_a_notebook_leads_to_a_file_of_the_branch(trial, page):
    workflow = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text("utf-8"))
    (kept,) = [
        step["with"]["path"]
        for step in workflow["jobs"]["build"]["steps"]
        if "upload-artifact" in step.get("uses", "")
    ]
    linked = trial / "linked"
    branch = {
        file.relative_to(linked).as_posix()
        for file in linked.glob(kept.removeprefix("site/"))
    }
    file = f"{page}/{page.rpartition('/')[2]}.ipynb"
    assert file in branch
    found = opened(linked / page / "index.html")
    for host, start in OPENERS.items():
        assert found[host] == f"{start}owner/name/blob/notebooks/{file}"
    assert found["modelscope.cn"] == "https://modelscope.cn/my/mynotebook"
    assert found["wget"] == trial_site.ADDRESS + file


def test_the_chinese_notebooks_lie_at_the_root():
    home, repository = "https://example.org/", "https://github.com/o/n"
    made = links.find_notebook("gae/b", "zh", home, repository)
    assert (made.file, made.address) == ("b.ipynb", f"{home}gae/b/b.ipynb")
    for link, start in zip(made.opened, OPENERS.values(), strict=True):
        assert link.href == f"{start}o/n/blob/notebooks/gae/b/b.ipynb"


def test_without_a_repository_on_github_nothing_opens_it(trial):
    assert opened(trial / "site/en/alignment/run/index.html") == {}
    for repository in ("", "https://gitlab.example/owner/name"):
        assert links.find_notebook("gae/b", "en", "", repository).opened == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
def test_a_page_runs_as_a_notebook(page: Page, tmp_path: Path):
    file = tmp_path / "page.ipynb"
    file.write_text(json.dumps(made(page)), "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, file],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
