"""A function shown from the package comes with what it takes to run on its own."""

from pathlib import Path

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
    """What it means.

    math
    """
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


def test_imports_helpers_and_constants_come_along(tmp_path: Path) -> None:
    (tmp_path / "ppo_ref").mkdir()
    (tmp_path / "ppo_ref/stage.py").write_text(MODULE)
    assert source("ppo_ref.stage.stage", tmp_path) == COMPLETE


def test_long_imports_are_broken_for_a_phone() -> None:
    lines = source("ppo_ref.alignment.response_outputs").splitlines()
    assert lines[0] == "from ppo_ref.contracts.shapes import (" and lines[4] == ")"
    assert "@checked" in lines and '"""' not in "\n".join(lines)


@pytest.mark.parametrize("name", ["ppo_ref.nowhere.gae", "torch.add", "gae"])
def test_a_function_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"must be ppo_ref\.module\.function, got"):
        source(name)
    with pytest.raises(ValueError, match=r"ppo_ref\.kl has no function nothing"):
        source("ppo_ref.kl.nothing")
    with pytest.raises(ValueError, match=r"ppo_ref\.trace has no function HEADINGS"):
        source("ppo_ref.trace.HEADINGS")


FENCE = "```source\nppo_ref.losses.policy_loss\n```\n\n## Next"


def found(monkeypatch: pytest.MonkeyPatch, drop: str) -> list[str]:
    """What the suite says when a part of the function is not given along."""

    def partial(name: str) -> str:
        text = source(name)
        assert drop in text
        return text.replace(drop, "")

    monkeypatch.setattr(blocks, "source", partial)
    verified = verdict.run(page(broken("## Next", FENCE)))
    judged = [verdict.check_block(verified, c.block) for c in verified.copies]
    return [problem.found for problem in judged if problem]


def test_a_source_fence_is_run_and_must_be_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert found(monkeypatch, "") == []
    masked_mean = "from ppo_ref.masking import masked_mean\n"
    for drop, missing in {
        masked_mean: "masked_mean",  # read only when it is called
        "    PolicyLoss,\n": "PolicyLoss",
        "import reprlib\n": "reprlib",  # by a helper
    }.items():
        assert found(monkeypatch, drop) == [
            f"NameError: name '{missing}' is not defined"
        ]


def test_readers_see_what_they_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    text = broken("## Next", FENCE)
    html = render(text, ROOT)
    assert check_boxes(page(text), html) == []
    (problem,) = check_boxes(page(text), html.replace("reprlib", "", 1))
    assert "import reprlib" in problem.expected
    assert check_boxes(page(), render(EN, ROOT)) == []
