"""A function shown from the package comes with what it takes to run on its own."""

import pytest

from site_tools.checks.census import check_boxes
from site_tools.page import blocks
from site_tools.page.blocks import source
from site_tools.page.rendered import render
from site_tools.running import verdict
from tests.site.sample import EN, ROOT, broken, page

MODULE = '''"""A stage."""

import math
import os.path
from collections.abc import Iterable as Many, Sequence

from ppo_ref.shapes import Tokens, checked

_LIMIT = 3
PUBLIC: int = 4
UNUSED = 5


@checked
def stage(x: Tokens) -> Many[int]:
    """What it means."""
    return _helper(x, math.pi, PUBLIC)


def _helper(*x: object) -> object:
    def inner(os: int) -> int:
        return os
    return [_LIMIT, other, stage, inner]


def other() -> None:
    """Public."""


def _unused() -> None: ...
'''
COMPLETE = """import math
from collections.abc import Iterable as Many
from ppo_ref.shapes import Tokens, checked
from ppo_ref.stage import PUBLIC, other

_LIMIT = 3

@checked
def stage(x: Tokens) -> Many[int]:
    return _helper(x, math.pi, PUBLIC)

def _helper(*x: object) -> object:
    def inner(os: int) -> int:
        return os
    return [_LIMIT, other, stage, inner]"""
FENCE = "```source\nppo_ref.losses.policy_loss\n```\n\n## Next"


def test_imports_helpers_and_constants_come_along(tmp_path):
    (tmp_path / "ppo_ref").mkdir()
    (tmp_path / "ppo_ref/stage.py").write_text(MODULE)
    assert source("ppo_ref.stage.stage", tmp_path) == COMPLETE
    lines = source("ppo_ref.alignment.response_outputs").splitlines()
    assert lines[0] == "from ppo_ref.contracts.shapes import (" and lines[4] == ")"


@pytest.mark.parametrize("name", ["torch.add", "ppo_ref.kl.none", "ppo_ref.x.HEADINGS"])
def test_a_function_that_is_not_there_is_refused(name):
    (problem,) = page(broken("## Next", f"```source\n{name}\n```\n\n## Next")).problems
    assert problem.found == f"```source {name}"


@pytest.mark.parametrize(
    "line",
    ["", "from ppo_ref.masking import masked_mean", "import reprlib"],  # by a helper
)
def test_a_source_fence_is_run_and_must_be_complete(line, monkeypatch):
    assert line in source("ppo_ref.losses.policy_loss")
    monkeypatch.setattr(blocks, "source", lambda name: source(name).replace(line, ""))
    verified = verdict.run(page(broken("## Next", FENCE)))
    judged = [verdict.check_block(verified, copy.block) for copy in verified.copies]
    missing = line.rpartition(" ")[2]
    told = [f"NameError: name '{missing}' is not defined"] if line else []
    assert [problem.found for problem in judged if problem] == told


def test_readers_see_what_they_copy():
    text = broken("## Next", FENCE)
    html = render(text, ROOT)
    assert check_boxes(page(text), html) == []
    (problem,) = check_boxes(page(text), html.replace("reprlib", "", 1))
    assert "import reprlib" in problem.expected
    assert check_boxes(page(), render(EN, ROOT)) == []
