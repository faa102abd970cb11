"""Mutants of code: each applies, to one place, and is told apart from a mistake."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from site_tools.mutants.edits import Edit, apply, parse
from tests.mutants import package
from tests.mutants.importing import Loader
from tests.mutants.package import ROOT

EDITS = package.table()
# Of each kind of mistake one, on the first page that explains it.
SAMPLE = [
    "the mask of GAE dropped, bootstrapping through EOS",
    "the last value bootstraps itself past the end",
    "values one slot too late, without the - 1",
    "the rewards one token too early",
    "the sign of the advantage flipped",
    "old and new log-probs swapped in the ratio",
    "whitened over padding",
    "lambda dropped from the recursion",
    "gamma dropped from the recursion",
    "the direction of the KL reversed",
    "k3 is k1",
    "missing detach, of the values in the returns",
    "min for max in the policy loss",
    "the - 1 of the page's slice",
    "the r_0 of the page's mean",
]
ROW = "- {{name: {0}, file: {1}, old: a, new: b, pages: gae/inputs}}\n"


@pytest.mark.parametrize("edit", EDITS, ids=[edit.name for edit in EDITS])
def test_a_mutant_changes_one_place_and_has_pages_that_explain_it(edit: Edit) -> None:
    text = (ROOT / edit.file).read_text("utf-8")
    mutant = apply(edit, text)
    assert mutant != text
    compile(mutant, edit.file, "exec")
    for page in edit.pages:
        assert (ROOT / f"docs/zh/{page}.md").is_file()
        assert (ROOT / f"docs/en/{page}.md").is_file()


def test_there_are_enough_of_them() -> None:
    assert len(EDITS) >= 40


@pytest.mark.parametrize(("old", "new"), [("nowhere", "x"), ("a", "x"), ("a b", "a b")])
def test_an_edit_that_does_not_apply_is_refused(old: str, new: str) -> None:
    with pytest.raises(ValueError, match=r"flip: must change .* in ppo_ref/kl\.py"):
        apply(Edit("flip", "ppo_ref/kl.py", old, new, ()), "a b a")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ROW.format("x", "docs/x.py"), "record 1: file must be a module"),
        (ROW.format("x", "ppo_ref/kl.py") * 2, "record 2: a second 'x'"),
        ("- {name: x}", "record 1: file is missing"),
    ],
)
def test_a_table_that_is_none_is_refused(table: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(table, "t.yml")


def test_the_module_has_the_mutant_and_the_file_does_not() -> None:
    old = "return min((step + 1) / warm_up, 1 - step / steps)"
    edit = Edit("no fall", "ppo_ref/schedule.py", old, "return 1.0", ())
    path = str(ROOT / edit.file)
    loader = Loader(edit.module, path, lambda text: apply(edit, text))
    names = {"__name__": edit.module}
    exec(loader.get_code(edit.module), names)
    assert names["learning_rate_share"](3, steps=4, warm_up=2) == 1.0
    assert old in (ROOT / edit.file).read_text("utf-8")


def verdict_on(*edits: Edit) -> list[package.Verdict]:
    """Judged in a process that has not imported ppo_ref, as this one may have."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(package.judge_all, edits).result()


@pytest.mark.slow
def test_a_mutant_is_noticed_and_a_mistake_is_no_mutant() -> None:
    page, file = ("rewards/kl_of_one_token",), "ppo_ref/kl.py"
    sign = "return torch.expm1(-log_ratio) + log_ratio"
    noticed, harmless, broken = verdict_on(
        Edit("flipped", file, sign, sign.replace("+ log", "- log"), page),
        Edit("harmless", file, sign, f"{sign}  # as it was", page),
        Edit("broken", file, sign, "return no_such_name", page),
    )
    assert noticed.killed and noticed.mistake is None
    assert not harmless.killed and harmless.mistake is None
    assert not broken.killed
    assert broken.mistake and "NameError is no verdict" in broken.mistake


@pytest.mark.slow
def test_a_sample_of_the_mutants_is_noticed() -> None:
    edits = [edit for edit in EDITS if edit.name in SAMPLE]
    assert len(edits) == len(SAMPLE)
    verdicts = verdict_on(*(replace(edit, pages=edit.pages[:1]) for edit in edits))
    assert [v.mistake for v in verdicts if v.mistake] == []
    assert [v.name for v in verdicts if not v.killed] == []
