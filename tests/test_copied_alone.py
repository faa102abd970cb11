"""What readers copy, in processes of their own: one page of each topic."""

from pathlib import Path

import pytest

from site_tools.page.blocks import Copy
from site_tools.page.page import read_page
from site_tools.site.package_wheel import wheel
from tests import fresh_process

ROOT = Path(__file__).resolve().parent.parent
TOPICS = sorted(path for path in (ROOT / "docs/zh").iterdir() if path.is_dir())


def sample(topic: Path) -> list[Copy]:
    """First and last of the texts that run on the first page that has any.

    Each is run in a fresh namespace when its page is judged; here in a fresh process.
    """
    for path in sorted(topic.rglob("*.md")):
        page = read_page(ROOT, path.relative_to(ROOT).as_posix())
        if running := [copy for copy in page.copies if copy.block.runs_copied]:
            return running[:1] + running[1:][-1:]
    return []


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel that the site serves."""
    target = tmp_path_factory.mktemp("installed")
    fresh_process.install(wheel(ROOT, ROOT / ".cache/wheel"), target)
    return target


def test_python_finds_the_wheel_and_not_the_repository(installed: Path) -> None:
    code = "import ppo_ref; print(ppo_ref.__file__)"
    assert fresh_process.run(code, installed) == str(installed / "ppo_ref/__init__.py")


@pytest.mark.slow
def test_copied_texts_do_what_the_pages_say(installed: Path) -> None:
    copies = [copy for topic in TOPICS for copy in sample(topic)]
    assert len(copies) > 10
    printed = fresh_process.run_each([copy.text for copy in copies], installed)
    for copy, said in zip(copies, printed, strict=True):
        assert said == copy.states, copy.text
