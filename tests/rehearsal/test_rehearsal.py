"""The first day on GitHub, before it: what is pushed is published, a request judged.

The workflows run as they stand, in clones of the project as it lies here. Only their
tests are held to a few, since all of them run beside this one.
"""

import re
from pathlib import Path

import pytest

from tests.browser.server import serve
from tests.layout import ROOT
from tests.rehearsal.forge import REPOSITORY, RUN, TOKEN, Forge, Job, Refused
from tests.rehearsal.published import Published
from tests.verified import all_verified

pytestmark = [pytest.mark.slow, pytest.mark.pages]

PAGE = "gae/inputs"
ZH, EN = (f"docs/{lang}/{PAGE}.md" for lang in ("zh", "en"))
NEXT = re.compile(r"(?m)^## .*\{ #next \}$")
HOSTILE = """```python
import os

print(dict(os.environ))
print(open(".git/config").read())
```

"""


@pytest.fixture
def verified() -> None:
    """No page has to run here again."""
    if not all_verified(ROOT):
        pytest.skip("not every page is verified as it stands: make build")


def before_next(path: str, text: str) -> str:
    """The page with a paragraph more."""
    page = (ROOT / path).read_text("utf-8")
    at = NEXT.search(page)
    assert at
    return page[: at.start()] + text + page[at.start() :]


def ended_well(jobs: dict[str, Job]) -> None:
    for name, job in jobs.items():
        assert not job.failed, f"{name}: {job.failed}\n{job.log[-6000:]}"


def test_what_is_pushed_is_published_whole(tmp_path, verified):
    forge = Forge(tmp_path / "forge", {"PYTEST_ADDOPTS": "tests/test_changed.py"})
    jobs = forge.start("pages.yml", forge.push())
    ended_well(jobs)
    assert forge.site
    with serve(forge.site) as address:
        assert [*Published(address).faults()] == []


def test_a_request_that_changes_a_page_is_judged(tmp_path, verified):
    forge = Forge(tmp_path / "forge", {"PYTEST_ADDOPTS": f"-k {Path(PAGE).name}"})
    changes = {
        EN: before_next(EN, "This stands in both languages.\n\n"),
        ZH: before_next(ZH, "这一句两种语言都有。\n\n"),
    }
    jobs = forge.start("test.yml", forge.request(changes))
    assert [*jobs] == ["changed"]
    ended_well(jobs)
    assert f"pages to open: en/{PAGE}/ {PAGE}/\n" in jobs["changed"].log


def test_a_hostile_request_is_refused_and_shown_without_a_secret(tmp_path, verified):
    forge = Forge(tmp_path / "forge", {"PYTEST_ADDOPTS": f"-k {Path(PAGE).name}"})
    changes = {
        EN: before_next(EN, HOSTILE),
        ZH: before_next(ZH, "这一句两种语言都有,逗号却是半角。\n\n"),
    }
    event = forge.request(changes)
    judged = forge.start("test.yml", event)["changed"]
    line = changes[EN].partition("print(open(")[0].count("\n") + 1
    assert judged.failed == ["What a contributor's own check says, at its line"]
    assert f"\n{EN}:{line}" in judged.log
    shown = forge.start("preview.yml", event)
    ended_well(shown)
    for job in (judged, shown["preview"]):
        assert TOKEN not in (job.workspace / ".git/config").read_text("utf-8")
    for language, text in (("en", "os.environ"), ("", "却是半角")):
        page = forge.artifacts / "site" / language / PAGE / "index.html"
        html = page.read_text("utf-8")
        assert text in re.sub("<[^>]*>", "", html)
        assert "canonical" not in html and 'class="contributing"' not in html
    patch = (forge.artifacts / "mended" / "mended.patch").read_text("utf-8")
    assert "+这一句两种语言都有，逗号却是半角。\n" in patch
    said = shown["preview"].summary.read_text("utf-8")
    assert f"gh run download {RUN} --repo {REPOSITORY} --name mended" in said


PLANTED = {
    "nothing at docs/site to keep": ("path: site", "path: docs/site"),
    "there is no steps.page.outputs.base_url": ("steps.pages.", "steps.page."),
    "an action that has no stand-in": ("actions/setup-python", "actions/setup-pyhton"),
    "does not answer to push": ("branches: [main]", "branches: [master]"),
    "the stand-in does not know {'retries'}": ("timeout-minutes: 45", "retries: 45"),
}


@pytest.mark.parametrize("found", PLANTED)
def test_a_planted_fault_ends_the_rehearsal(tmp_path, found):
    """With the commands left out, which need no rehearsal to fail."""
    path = ".github/workflows/pages.yml"
    right, wrong = PLANTED[found]
    text = (ROOT / path).read_text("utf-8")
    assert right in text
    text = re.sub(r"run: make \w+", "run: mkdir -p site", text).replace(right, wrong)
    forge = Forge(tmp_path / "forge", {})
    try:
        jobs = forge.start("pages.yml", forge.push({path: text}))
    except Refused as refusal:
        assert found in str(refusal)
    else:
        told = [job.log for job in jobs.values() if job.failed]
        assert found in told[0]
