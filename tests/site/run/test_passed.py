"""A verdict: noted once, lapsing with all that it rests on, told in one line."""

from modulefinder import ModuleFinder
from pathlib import Path

import pytest

from site_tools.finish.reading import add_verdict
from site_tools.run import passed
from site_tools.run.passed import VERDICTS, VerdictLine, note, read_passed, to_verify
from site_tools.run.passed import unverified as problems_of
from site_tools.run.sources import SHARED_SOURCES, matching
from tests.layout import ROOT
from tests.site.articles import article, inside
from tests.site.trial_site import write_files

ZH, EN = "docs/zh/gae/sum.md", "docs/en/gae/sum.md"
FILES = {
    ZH: '![图](sum.svg)\n\n--8<-- "gae/sum.py"\n',
    EN: '![picture](sum.svg)\n\n--8<-- "gae/sum.py"\n',
    "docs/zh/gae/alone.md": "只有中文\n",
    "docs/topics.yml": "{}\n",
    "snippets/gae/sum.py": "1 + 1\n",
    "snippets/gae/sum.svg": "<svg/>\n",
    "snippets/gae/other.py": "2\n",
    "ppo_ref/kl.py": "K1 = 1\n",
    "site_tools/judge/all.py": "strict = True\n",
    "site_tools/finish/boxes.py": "\n",
}
TOLD = {"blocks": 2, "figures": 3}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of two pages, both of which have passed."""
    write_files(tmp_path, FILES)
    note(tmp_path, {"gae/sum": {"zh": TOLD, "en": TOLD}, "gae/alone": {"zh": TOLD}})
    return tmp_path


def test_a_page_that_passed_is_verified_until_it_fails(root):
    line = read_passed(root).verdict_line(EN)
    assert line and (line.blocks, line.figures) == (2, 3)
    assert [*to_verify(root)] == []
    note(root, {"gae/sum": {}})
    assert [*to_verify(root)] == [ZH, EN]
    (problem,) = problems_of(read_passed(root), EN)
    assert problem.path == EN and "make build" in problem.fix
    assert read_passed(root).is_fresh("gae/alone"), "it was not run"


@pytest.mark.parametrize(
    "file", [ZH, EN, *(n for n in FILES if n[:9] == "snippets/" and "other" not in n)]
)
def test_a_verdict_lapses_with_what_the_page_names(root, file):
    (root / file).write_text(f"{FILES[file]} ", "utf-8")
    assert [*to_verify(root)] == [ZH, EN]
    assert read_passed(root).verdict_line(ZH) is None
    (root / file).write_text(FILES[file], "utf-8")
    assert [*to_verify(root)] == []


@pytest.mark.parametrize(
    "file",
    [
        "docs/topics.yml",
        "ppo_ref/kl.py",
        "ppo_ref/new",
        "site_tools/judge/all.py",
        "site_tools/compile/templates/lists.html",
    ],
)
def test_every_verdict_lapses_with_what_all_pages_share(root, file):
    write_files(root, {file: "# changed\n"})
    assert len([*to_verify(root)]) == 3


def test_all_that_judges_a_page_is_among_what_verdicts_rest_on():
    finder = ModuleFinder([str(ROOT)])  # nothing but this project: torch is not read
    finder.run_script(str(ROOT / "tests/pages.py"))
    judging = set()
    for name, module in finder.modules.items():
        if name.startswith("site_tools."):
            judging.add(Path(vars(module)["__file__"]))
    assert ROOT / "site_tools/judge/all.py" in judging
    assert judging - set(matching(ROOT, SHARED_SOURCES)) == set()


@pytest.mark.parametrize("name", ["version", "python_version"])
def test_another_torch_or_python_verifies_nothing(root, name, monkeypatch):
    monkeypatch.setattr(passed, name, lambda *_: "9.9")
    assert len([*to_verify(root)]) == 3


def test_what_a_page_does_not_rest_on_leaves_its_verdict(root):
    write_files(root, {"snippets/gae/other.py": "3\n"})
    write_files(root, {"site_tools/finish/boxes.py": "x = 1\n", "README.md": "x"})
    assert [*to_verify(root)] == []


def test_a_page_that_is_gone_is_forgotten(root):
    (root / "docs/zh/gae/alone.md").unlink()
    note(root, {})
    assert read_passed(root).ledger.keys() == {"gae/sum"}


@pytest.mark.parametrize("text", [b"{", b"\xff\xfe{", b"<<<<<<< HEAD\n"])
def test_a_damaged_ledger_counts_for_nothing(root, text):
    (root / VERDICTS).write_bytes(text)
    assert read_passed(root).verdict_line(EN) is None
    note(root, {"gae/sum": {"zh": TOLD, "en": TOLD}})  # a cache begins anew
    assert read_passed(root).verdict_line(EN)


def told(line, lang):
    made = article("", lang)
    add_verdict(made, line, "")
    return inside(made)


def test_the_line_says_with_what_when_and_how_much_in_both_languages():
    line = VerdictLine("2.13.0", "3.11.7", "2026-11-24", 4, 12)
    for lang, counts in (
        ("zh", "代码 4 块，数字 12 个"),
        ("en", "blocks: 4, figures: 12"),
    ):
        said = told(line, lang)
        assert all(each in said for each in (*line[:3], counts))
        assert 'href="../../about/verification/"' in said and "unverified" not in said
        assert 'class="verdict unverified"' in told(None, lang)
    assert told(line._replace(blocks=0, figures=0), "en") == ""
