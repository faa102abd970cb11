"""What readers copy, in processes of their own: one page of each topic."""

from pathlib import Path

import pytest

from site_tools.data.wheel import wheel
from site_tools.page.copying import Copy
from site_tools.page.page import Page, read_page
from tests import fresh_process

ROOT = Path(__file__).resolve().parent.parent
TOPICS = sorted(path for path in (ROOT / "docs/zh").iterdir() if path.is_dir())


def sample() -> list[tuple[Page, Copy]]:
    """Every text that runs of the first page of each topic that has one."""
    found = []
    for topic in TOPICS:
        paths = sorted(path.relative_to(ROOT) for path in topic.rglob("*.md"))
        pages = (read_page(ROOT, path.as_posix()) for path in paths)
        running = ([(p, c) for c in p.copies if c.block.runs_copied] for p in pages)
        found += next(filter(None, running), [])
    return found


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
@pytest.mark.parametrize(
    ("page", "copy"),
    [pytest.param(p, c, id=f"{p.id} line {c.block.fence.line}") for p, c in sample()],
)
def test_a_copied_text_does_what_the_page_says(
    page: Page, copy: Copy, installed: Path
) -> None:
    assert fresh_process.run(copy.text, installed) == copy.states


def test_the_sample_is_not_empty() -> None:
    assert sample()
