"""check: what it takes, what it says, which pages changed."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from site_tools.contributing.pages import changed_files, changed_pages, page_id
from site_tools.judge.all import judge
from site_tools.messages import Refusal
from tests.contributing.trial import EN, PAGE, PATHS, ZH, command, git, put
from tests.site.sample import ROOT, broken, line_of


def run(root: Path, *words: str, lang: str = "en") -> str:
    """What is said, behind the exit status."""
    code, said = command(root, "check", *words, lang=lang)
    return f"{code} {said}"


def test_what_is_left_to_write_is_told_and_fails_nothing(project):
    put(project, f"{ZH}\nTODO：写。\n", f"{EN}\nTODO: write it.\n")
    last = EN.count("\n") + 2
    told = run(project, PAGE).splitlines()
    assert told[0] == f"0 {PATHS[0]}:{last}: still to write: TODO：写"
    assert told[1] == f"{PATHS[1]}:{last}: still to write: TODO: write it"
    assert told[-1] == f"Checked {PAGE}: no problem."


def test_a_release_whose_names_cannot_be_looked_up_is_said(project):
    (project / "pins").mkdir()
    (project / "pins/peers.txt").write_text("peer==1.0\nother==2.0\n", "utf-8")
    put(project, *(with_ref(text, "peer 1.0") for text in (ZH, EN)))
    told = run(project, PAGE).splitlines()
    assert told[0] == "0 peer 1.0: not read, no wheel; make ready brings it"
    assert not any("other 2.0" in line for line in told)


def with_ref(text: str, ref: str) -> str:
    """A page that refers to a release besides."""
    return re.sub(r"^refs: \[", f'refs: ["{ref}", ', text, flags=re.MULTILINE)


def test_a_problem_is_told_in_the_language_of_the_reader(project):
    put(project, ZH, broken("`2.00`", "`2.10`", EN))
    (project / PATHS[0]).unlink()
    line = line_of("`2.00`", EN)
    value = "total = 2, within half a unit of the last digit shown"
    assert run(project, PAGE).endswith(
        f"\n{PATHS[1]}:{line}\n  found:    2.10\n  expected: {value}\n"
        "  fix:      correct the figure, or the expression it is bound to\n"
        f"Checked {PAGE}: 1 problem.\n"
    )
    assert run(project, PAGE, lang="zh").splitlines() == [
        f"1 {PAGE}：还没有中文；写 {PATHS[0]}，再运行 make agree PAGE={PAGE}",
        f"{PATHS[1]}:{line}",
        "  现在：2.10",
        "  应为：total = 2，误差不超过末位的半个单位",
        "  改法：改正数字，或者它绑定的表达式",
        f"已检查 {PAGE}：1 个问题。",
    ]


def annotated(root: Path) -> list[str]:
    """The file and line of each annotation of the page."""
    said = run(root, PAGE, "--annotate")
    return re.findall(r"(?m)^::error file=(.+?)::", said)


def committed(project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "all")


def test_on_github_a_problem_stands_at_its_line(project):
    committed(project)
    put(project, ZH, f"{EN}\n<b>\n")
    assert annotated(project) == [f"{PATHS[1]},line={EN.count(chr(10)) + 2}"]
    (project / PATHS[0]).unlink()
    assert len(annotated(project)) == 1, "a page in one language"


def test_on_github_an_output_that_differs_stands_in_the_language_that_is_wrong(project):
    """Its text has several lines; the other language, which is right, has none."""
    committed(project)
    wrong = broken("total 2\n```", "total 3\n```", EN)
    put(project, ZH, wrong)
    places = annotated(project)
    assert places and {place.partition(",")[0] for place in places} == {PATHS[1]}
    assert f"{PATHS[1]},line={line_of('total 3', wrong)}" in places
    said = run(project, PAGE, "--annotate")
    rows = [row for row in said.splitlines() if row.startswith("::error")]
    assert any("%0A    shown%0A    total 3" in row for row in rows)


def test_without_a_page_those_that_changed_are_checked(project):
    assert "no git repository" in run(project)
    git(project, "init", "-q", "-b", "main")
    assert "no git repository with a commit" in run(project)
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "all")
    said = "0 No page changed against the main branch; name a page, as in: "
    assert run(project).startswith(said)
    git(project, "checkout", "-q", "-b", "work")
    put(project, ZH, f"{EN}\nMore.\n")
    assert run(project).endswith(f"Checked {PAGE}: no problem.\n")
    git(project, "commit", "-q", "-a", "-m", "more")
    assert run(project).endswith(f"Checked {PAGE}: no problem.\n")
    git(project, "reset", "-q", "--hard", "main")
    (project / "docs/zh/alignment/new one.md").write_text(ZH, "utf-8")
    assert changed_files(project) == ["docs/zh/alignment/new one.md"]


@pytest.mark.parametrize(
    ("file", "pages"),
    [
        ("docs/en/gae/a.md", ["gae/a"]),
        ("snippets/gae/a.py", ["gae/a", "gae/b"]),
        ("snippets/gae/c.svg", ["gae/a"]),
        ("docs/facts/kl.yml", ["gae/b"]),
        ("docs/facts/k.yml", []),
    ],
)
def test_a_file_concerns_the_pages_that_use_it(tmp_path, file, pages):
    folder = tmp_path / "docs/en/gae"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("![c](c.svg)\n")
    fact = "```fact\nkl verl 0.9.1\n```\n"
    (folder / "b.md").write_text(f'--8<-- "gae/a.py:x"\n\n{fact}')
    assert changed_pages([file], tmp_path) == pages


@pytest.mark.parametrize(
    "how", ["PAGE=gae/a Q={} LOG=c.md TO=gae/b", "page=gae/a q={} log=c.md to=gae/b"]
)
def test_make_hands_over_what_is_typed_in_small_letters_too(tmp_path, how):
    asked = 'Why "x" $$y `z`, (a #b): {c}?'
    rule = tmp_path / "show.mk"
    rule.write_text('show:\n\t@printf "%s\\n" "$$PAGE" "$$Q" "$$LOG" "$$TO"\n')
    words = [word.replace("{}", asked) for word in how.split()]
    make = ["make", "-s", "-f", "Makefile", "-f", str(rule), "show", *words]
    said = subprocess.run(make, cwd=ROOT, check=True, capture_output=True, text=True)
    assert said.stdout.splitlines() == ["gae/a", asked, "c.md", "gae/b"]


@pytest.mark.parametrize(
    "name",
    [
        "docs/en/gae/some_page.md",
        r"docs\en\gae\some_page.md",
        r"C:\Users\me\ppo\docs\en\gae\some_page.md",
        r"snippets\gae\some_page.py",
        "/home/me/ppo/docs/zh/gae/some_page.md",
        "../../docs/zh/gae/some_page.md",
        "./docs/en/gae/some_page.md",
        "gae/some_page",
    ],
)
def test_a_page_is_known_by_its_files_however_they_are_typed(name, monkeypatch):
    for place in ("/home/me/ppo", "/home/me/ppo/docs/en/critic"):
        monkeypatch.setenv("PWD", place)
        assert page_id(name) == "gae/some_page"


@pytest.mark.parametrize(
    "name", ["some_page.md", "./some_page.md", "../gae/some_page.md"]
)
def test_in_the_folder_of_a_page_its_name_is_enough(name, monkeypatch):
    monkeypatch.setenv("PWD", "/home/me/ppo/docs/en/gae")
    assert page_id(name) == "gae/some_page"


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../secret", r"C:\secret", "docs/en/../../../secret.md"]
)
def test_what_is_no_page_of_the_project_is_refused(name):
    with pytest.raises(Refusal, match="A page must be like topic/page"):
        page_id(name)


# Whole pages.


def found(root: Path, *paths: str) -> list[str]:
    return [f"{p.path}:{p.line} {p.found}" for p in judge(root, paths or PATHS)]


def test_all_kinds_of_problems_are_told_by_line(project):
    code = broken('print("total", total)', 'print("total", total, "!")', EN)
    text = broken("`2.00`", "`2.10`", code)
    put(project, ZH, f"{text}\n<b>now</b>\n")
    figure, printed = line_of("`2.10`", text), line_of("total 2\n```", text)
    assert found(project) == [
        f"{PATHS[0]}:{figure} 2.00 = total",
        f"{PATHS[0]}:{line_of('print(', ZH)} " + 'print("total", total)',
        f"{PATHS[1]}:{figure} 2.10",
        f"{PATHS[1]}:{printed} shown\ntotal 2",
        f"{PATHS[1]}:{line_of('## Next', text) + 2} <b>",
    ]


def test_a_pair_is_compared_also_where_one_language_is_named(project):
    put(project, broken("{ #why }", "{ #reason }", ZH), EN)
    (told,) = found(project, PATHS[1])
    assert told == f"{PATHS[1]}:{line_of('## Why', EN)} ## {{ #why }}"


def test_a_picture_of_both_languages_is_judged_once(project):
    (project / "snippets").unlink()
    picture = "snippets/alignment/sample.svg"
    (project / picture).parent.mkdir(parents=True)
    figure = '<text><tspan data-is="total">3</tspan></text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{figure}</svg>'
    (project / picture).write_text(svg)
    shown = "## Why { #why }\n\n![A sum](sample.svg)\n"
    put(project, *(broken("## Why { #why }\n", shown, text) for text in (ZH, EN)))
    assert found(project) == [f"{picture}:1 3"]


def test_figures_that_lack_what_a_failing_block_defines_are_not_told(project):
    put(project, ZH, broken("total = 1 + 1", "total = one + 1", EN))
    told = [row for row in found(project, PATHS[1]) if row.startswith(PATHS[1])]
    assert not [row for row in told if "raises" in row]
    assert any("NameError: name 'one' is not defined" in row for row in told)


def test_an_id_that_another_page_leads_to_is_not_renamed(project):
    for lang in ("zh", "en"):
        other = project / f"docs/{lang}/alignment/other.md"
        list_ = "```{ .wrong_answers }\nalignment/sample#wrong-gone\n```"
        text = f"[a](sample.md#renamed) [b](sample.md#why)\n\n{list_}\n"
        other.write_text(f"---\ntitle: X\n---\n\n{text}", "utf-8")
    assert found(project) == [
        f"docs/{lang}/alignment/other.md:{line} a link to docs/{lang}/{PAGE}.md#{name}"
        for lang in ("en", "zh")
        for line, name in ((5, "renamed"), (8, "wrong-gone"))
    ]


# What the tests and make lint ask of all pages, asked of the page at hand.


def test_the_style_of_a_snippet_is_asked_as_make_lint_asks_it(project):
    (project / "snippets").unlink()
    (project / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    file = project / "snippets/alignment/sample.py"
    file.parent.mkdir(parents=True)
    whole = re.search(r"(?s)```python\n(.+?)\n```", EN)[1]
    code = whole.replace('print("total", total)', 'print("total %s" % total)')
    assert code != whole
    file.write_text(f"# --8<-- [start:sum]\n{code}\n# --8<-- [end:sum]\n")
    include = '--8<-- "alignment/sample.py:sum"'
    put(project, broken(whole, include, ZH), broken(whole, include, EN))
    said = run(project, PAGE)
    line = line_of("print(", f"\n{code}")
    assert f"snippets/alignment/sample.py:{line}\n" in said and "ruff UP031" in said
    assert said.endswith("1 problem.\n")


def test_what_make_fix_would_set_otherwise_is_told(project):
    text = f"{ZH}\n结论： 对。\n"
    put(project, text, f"{EN}\nSo it is.\n")
    line = text.count("\n")
    said = run(project, PAGE)
    assert f"{PATHS[0]}:{line}\n" in said and f"make fix PAGE={PAGE} mends it" in said
    assert said.endswith("1 problem.\n")


@pytest.mark.parametrize("need", [PAGE, "gae/later"])
def test_a_page_that_needs_what_comes_later_is_told(project, need):
    for lang, text in (("zh", ZH), ("en", EN)):
        later = project / f"docs/{lang}/gae/later.md"
        later.parent.mkdir(parents=True)
        asked = text.replace("question: ", "question: (2) ")
        later.write_text(re.sub("aliases: .*", "aliases: []", asked), "utf-8")
    needs = f"needs: [{need}]"
    put(project, broken("needs: []", needs, ZH), broken("needs: []", needs, EN))
    said = run(project, PAGE)
    line = line_of("needs: []", EN)
    found = "which is this page" if need == PAGE else "which readers reach after this"
    for path in PATHS:
        assert f"{path}:{line}\n  found:    needs {need}, {found}" in said


@pytest.mark.parametrize("names", [[PAGE], ["docs/redirects.yml"]])
def test_a_redirect_to_nowhere_is_told(project, names):
    assert "no problem" in run(project, *names)
    (project / "docs/redirects.yml").write_text("alignment/old: alignment/no\n")
    said = run(project, *names)
    assert said.startswith("1 ") and said.endswith("1 problem.\n")
    assert "alignment/old: must lead to a page that exists, got alignment/no" in said


def test_a_redirect_to_a_part_that_is_not_there_is_told(project):
    moves = project / "docs/redirects.yml"
    moves.write_text(f"alignment/old: {PAGE}#why\n")
    assert "no problem" in run(project, PAGE)
    moves.write_text(f"alignment/old: {PAGE}#whyy\n")
    said = run(project, PAGE)
    assert f"alignment/old: {PAGE}#whyy must be there" in said
    assert said.startswith("1 ") and said.endswith("1 problem.\n")


# The places of a file of facts, read again in a wheel.

LINES = ["def f():", "    return gamma", "x = 1"]
FACTS = """zh: 一个概念
en: A concept
entries:
- release: owner/name@0123456
  path: in/no/wheel.py
  lines: 7
  quote: "anything"
- release: peer 1.0
  path: peer/sums.py
  lines: 2
  quote: "return gamma"
"""


def facts(root: Path, text: str = FACTS, lines: Sequence[str] = LINES) -> Path:
    (root / "docs/facts").mkdir(parents=True)
    (root / "docs/facts/sums.yml").write_text(text, "utf-8")
    (root / "pins").mkdir()
    (root / "pins/peers.txt").write_text("# read\npeer==1.0 --hash=sha256:0\n", "utf-8")
    (root / ".cache/wheels").mkdir(parents=True)
    with ZipFile(root / ".cache/wheels/peer-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("peer/sums.py", "\n".join(lines))
    return root


@pytest.mark.parametrize(
    "name",
    ["facts/sums", "docs/facts/sums.yml", r"docs\facts\sums.yml", "facts/sums.yml"],
)
def test_sound_facts_are_checked_however_they_are_named(tmp_path, name):
    assert run(facts(tmp_path), name) == "0 Checked facts/sums: no problem.\n"


def test_a_release_that_is_not_here_is_said_and_fails_nothing(tmp_path):
    facts(tmp_path)
    next((tmp_path / ".cache/wheels").glob("peer-1.0-*")).unlink()
    said, _ = run(tmp_path, "facts/sums").splitlines()
    assert said.startswith("0 ") and "peer 1.0: not read" in said


def test_a_release_that_is_not_pinned_is_refused_and_not_skipped(tmp_path):
    facts(tmp_path, FACTS.replace("peer 1.0", "peer 2.0"))
    assert run(tmp_path, "facts/sums").splitlines()[:2] == [
        "1 docs/facts/sums.yml:8",
        "  found:    peer 2.0 · peer/sums.py:2: pins/peers.txt does not pin peer 2.0, "
        "so no wheel of it is ever read",
    ]
    chinese = run(tmp_path, "facts/sums", lang="zh")
    assert "改法：如果 peer 1.0 里也有，就写它" in chinese


def test_a_wrong_line_is_told_at_its_entry_with_what_to_write(tmp_path):
    facts(tmp_path, FACTS.replace("lines: 2", "lines: 3"))
    assert run(tmp_path, "facts/sums").splitlines() == [
        "1 docs/facts/sums.yml:8",
        "  found:    peer 1.0 · peer/sums.py:3: 'return gamma' is not on these lines",
        "  expected: the lines on which the quotation stands",
        "  fix:      write lines: 2; or correct the quotation",
        "Checked facts/sums: 1 problem.",
    ]
    assert run(tmp_path, "facts/sums", lang="zh").splitlines()[1:4] == [
        "  现在：peer 1.0 · peer/sums.py:3：“return gamma”不在这几行",
        "  应为：引文所在的行",
        "  改法：写 lines: 2；或者改引文",
    ]
