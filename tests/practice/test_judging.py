"""Each judge is measured: by right solutions in many styles, and by wrong ones.

The solutions were written from the contracts alone, before the judges were seen.
``named.yml`` has what each wrong one must be told.
"""

import doctest
import os
import time
from functools import cache
from pathlib import Path

import pytest
import torch
import yaml

from ppo_ref.practice import child, words
from ppo_ref.practice.judging import batches, judge, judge_here, weigh
from ppo_ref.practice.report import report
from ppo_ref.practice.running import run
from tests.layout import ROOT
from tests.practice.holes import HOLES

SOLUTIONS = Path(__file__).with_name("solutions")
NAMED = yaml.safe_load(Path(__file__).with_name("named.yml").read_text("utf-8"))
RIGHT = sorted(SOLUTIONS.glob("*/right_*.py"))
WRONG = sorted(SOLUTIONS.glob("*/wrong_*.py"))


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def weighed(path: Path):
    """As ``judge``, without a process of its own, which takes seconds to begin."""
    hole = HOLES[path.parent.name]
    return judge_here(getattr(child.load(str(path)), hole.name), hole)


@cache
def given(name: str):
    return batches(HOLES[name])


@pytest.mark.parametrize("path", RIGHT, ids=ids)
def test_no_right_solution_is_refused(path):
    verdict = weighed(path)
    assert verdict.is_right, report(path, HOLES[path.parent.name], verdict, "en")


@pytest.mark.parametrize("path", WRONG, ids=ids)
def test_each_wrong_solution_is_told_what_it_does(path):
    verdict = weighed(path)
    assert (verdict.mistake or verdict.said) == NAMED[path.parent.name][path.stem]


def test_each_judge_is_measured_by_enough():
    for name in HOLES:
        right = [path for path in RIGHT if path.parent.name == name]
        wrong = [path for path in WRONG if path.parent.name == name]
        assert len(right) >= 5 and len(wrong) >= 8, name
    named = [said for found in NAMED.values() for said in found.values()]
    assert named.count("unknown") <= 3


@pytest.mark.parametrize("name", HOLES)
def test_what_a_learner_is_told_is_there_in_both_languages(name):
    entry, hole = words.HOLES[name], HOLES[name]
    assert list(entry["mistakes"]) == list(hole.mistakes)
    for texts in entry["mistakes"].values():
        assert texts["en"] and texts["zh"]
        assert len(texts["en"].split()) <= 40
    for lang in ("en", "zh"):
        assert hole.name in words.stub(name, lang)


@pytest.mark.parametrize("name", HOLES)
def test_the_example_of_a_contract_holds(name):
    path = SOLUTIONS / name / "right_1.py"
    module = child.load(str(path))
    example = "\n".join(words.HOLES[name]["example"])
    parsed = doctest.DocTestParser().get_doctest(
        example, {**vars(module), "torch": torch}, name, None, 0
    )
    assert doctest.DocTestRunner().run(parsed).failed == 0


@pytest.mark.parametrize("name", HOLES)
def test_ours_is_what_the_definition_says(name):
    """The time it takes is only worth to be told if it does the same."""
    hole = HOLES[name]
    if hole.ours is None:
        return
    for case in hole.cases():
        ours = hole.ours(case)
        ours = getattr(ours, "loss", getattr(ours, "advantages", ours))
        ours = list(ours) if isinstance(ours, list | tuple) else [ours]
        right = hole.right(case)
        right = right if isinstance(right, tuple) else (right,)
        for mine, theirs in zip(ours, right, strict=True):
            mine = mine.double().reshape(theirs.shape)
            torch.testing.assert_close(mine, theirs.double(), atol=1e-4, rtol=1e-4)


# What a file may do instead of solving the hole.
LOOP = "def masked_mean(x, mask):\n    while True:\n        pass\n"
EXIT = "import os\n\n\ndef masked_mean(x, mask):\n    os._exit(0)\n"
IMPORT = "from ppo_ref.masking import masked_mean\n"
SYNTAX = "def masked_mean(x, mask):\n    return x[mask.mean()\n"
RAISES = "def masked_mean(x, mask):\n\n    return x.summ()\n"
CHANGES = (
    "def masked_mean(x, mask):\n    x[~mask] = 0\n    return x.sum() / mask.sum()\n"
)
KIND = "def masked_mean(x, mask):\n    return [1.0]\n"
SHAPE = "def masked_mean(x, mask):\n    return x\n"
COMPLEX = "def masked_mean(x, mask):\n    return x[mask].mean() + 0j\n"
# Wrong, and no answer where the padding has other numbers.
REFUSES = "def masked_mean(x, mask):\n    assert x.max() < 2\n    return x.mean()\n"
LIES = (
    "import torch, sys\n\n\ndef masked_mean(x, mask):\n"
    "    torch.save({'results': [3]}, sys.argv[3] + '/results.pt')\n"
    "    import os\n    os._exit(0)\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LOOP, "it did not end within a minute"),
        (EXIT, "its process ended without a result"),
        (IMPORT, "it cannot be loaded. line 1: ModuleNotFoundError: "),
        (SYNTAX, "it cannot be loaded. line 2: SyntaxError: "),
        ("x = 1\n", "it cannot be loaded. NameError: the file must define masked_mean"),
        (RAISES, "it raises an exception. line 3: AttributeError: "),
        (CHANGES, "it changes what it was given: x. Work on a copy."),
        (KIND, "must return what its contract says as tensors; what came: list"),
        (SHAPE, "what came and what must be: [1, 1], []."),
        (COMPLEX, "what came: torch.complex64, torch.strided"),
        (REFUSES, "it raises an exception. line 2: AssertionError"),
        (LIES, "its process ended without a result"),
    ],
)
def test_a_file_that_does_something_else_is_told_so(tmp_path, text, said):
    path = tmp_path / "masked_mean.py"
    path.write_text(text, "utf-8")
    hole = HOLES["masked_mean"]
    verdict = weigh(hole, run(path, hole, given("masked_mean"), seconds=8))
    assert said in report(path, hole, verdict, "en")
    assert report(path, hole, verdict, "zh")


STARTS = """\
import subprocess
import sys
from pathlib import Path

process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(99)"])
Path({path!r}).write_text(str(process.pid))
"""


def test_what_a_solution_started_ends_with_it(tmp_path):
    path, started = tmp_path / "masked_mean.py", tmp_path / "started"
    path.write_text(STARTS.format(path=str(started)) + LOOP, "utf-8")
    cases = HOLES["masked_mean"].cases()
    assert run(path, HOLES["masked_mean"], cases, seconds=6).failed == "late"
    assert is_gone(int(started.read_text()))


def is_gone(process: int) -> bool:
    """True once the process has ended; who adopts it may take a moment to notice."""
    for _ in range(50):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        state = Path(f"/proc/{process}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_a_solution_is_judged_in_its_own_process():
    verdict = judge(
        SOLUTIONS / "gae" / "wrong_1_value_after_eos_expected.py", HOLES["gae"]
    )
    assert verdict.mistake == "slot_after_eos"
    text = report(Path("gae.py"), HOLES["gae"], verdict, "en")
    assert "alignment/slot_after_eos" in text
    assert "yours" in text and "right" in text


def test_a_right_solution_is_told_what_it_costs():
    path = SOLUTIONS / "masked_mean" / "right_3.py"
    verdict = judge(path, HOLES["masked_mean"])
    assert verdict.is_right and verdict.times
    text = report(path, HOLES["masked_mean"], verdict, "en")
    assert "times as long as ppo_ref" in text
    assert "nan in the padding reaches the result" in text


def test_a_misconception_leads_to_a_page_and_a_part_that_are_there():
    for name, entry in words.HOLES.items():
        for texts in entry["mistakes"].values():
            page, _, part = texts["page"].partition("#")
            for lang in ("en", "zh"):
                text = (ROOT / "docs" / lang / f"{page}.md").read_text("utf-8")
                assert not part or f"{{ #{part} " in text, (name, texts["page"])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_quotes_what_the_judge_says(lang):
    page = (ROOT / "docs" / lang / "reference" / "practice.md").read_text("utf-8")
    sentence, read = words.mistake("gae", "slot_after_eos", lang)
    assert sentence.rstrip(".。") in page
    assert f"../{read}.md" in page
