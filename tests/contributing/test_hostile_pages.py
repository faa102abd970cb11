"""Hostile pages: what a page brings besides code, named by file, line and remedy."""

import io
from pathlib import Path

import pytest

from site_tools.contributing.talk import Talk
from site_tools.judge.allowed import check_html, html_faults
from site_tools.judge.file_bytes import check_bytes
from site_tools.judge.links import check_links
from site_tools.judge.signs import check_signs
from site_tools.messages import Problem
from site_tools.page.page import read_page
from site_tools.page.rendered import parse_shown
from site_tools.source.files import symbolic_links
from site_tools.source.includes import resolve_includes
from tests.site.sample import (
    EN,
    ROOT,
    broken,
    line_of,
    page,
    shape_problems,
    shown_tree,
)

PATH = "docs/en/alignment/sample.md"
PLACE = "*verl's default*: the same."


def seen(text: str) -> list[Problem]:
    return [*check_html(page(text), shown_tree(page(text)))]


def test_html_in_the_source_is_named():
    text = broken(PLACE, '=== "<b onclick=f()>"\n\n    x')
    problem, *_ = shape_problems(page(text))
    assert (problem.line, problem.found) == (line_of("<b", text), "<b onclick=f()>")


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("[x](javascript:alert(1))", 'href="javascript:alert(1)" on <a>'),
        ("[x](&#106;avascript:f())", 'href="javascript:f()" on <a>'),
        ('*x*{ onclick="f()" }', 'onclick="f()" on <em>'),
        ("![x](https://x.org/a.svg)", 'src="https://x.org/a.svg" on <img>'),
        ("*x*{ #__config }", 'id="__config" on <em>'),
        ('*x*{ data-copy="rm" }', 'data-copy="rm" on <em>'),
        # A widget, a download, an announcement in another place than theirs.
        ('*x*{ data-lab="gae" }', 'data-lab="gae" on <em>'),
        ('![x](a.svg){ data-lab="//a/b" }', 'data-lab="//a/b" on <img>'),
        ('*x*{ data-download="a.zip" }', 'data-download="a.zip" on <em>'),
        ('*x*{ role="alert" }', 'role="alert" on <em>'),
        ('*x*{ aria-live="assertive" }', 'aria-live="assertive" on <em>'),
        ('*x*{ aria-hidden="true" }', 'aria-hidden="true" on <em>'),
        ("[x](https://x.org@y.org/)", 'href="https://x.org@y.org/" on <a>'),
        ("[x](https:x.org)", 'href="https:x.org" on <a>'),
        # Python takes this for one comment, a browser for two and a script.
        ("x](<!--><b>-->)", "<!--><b>-->"),
    ],
)
def test_html_that_markdown_makes_is_named(planted, found):
    text = broken(PLACE, planted)
    (problem,) = [p for p in seen(text) if p.found == found]
    assert problem.path == PATH
    assert problem.line in (line_of(planted, text), 1)
    assert problem.fix == "write it in Markdown, or put it between backticks"
    assert (problem.line == 1) == ("&#106;" in planted)  # no longer as it was written


@pytest.mark.parametrize(
    "planted", ["[x](//evil.example/)", "[x]\n\n[x]: //evil.example/"]
)
def test_a_link_to_another_site_says_so(planted):
    """As a link within the site it would look, with the scheme left out."""
    text = broken(PLACE, f"{PLACE} {planted}")
    linked = check_links(page(text), shown_tree(page(text)))
    (told,) = [p for p in (*seen(text), *linked) if "evil" in p.found]
    assert (told.path, told.line) == (PATH, line_of("//evil", text))
    assert told.found == 'href="//evil.example/" on <a>'
    assert told.fix == "write https: in front of //, or the path of a page"


def test_what_is_not_listed_is_refused():
    for html in (
        "<object data=x>",
        "<form>",
        "<a href='java\tscript:f()'>",
        "<!DOCTYPE>",
    ):
        assert [*html_faults(parse_shown(html))]


def test_html_in_the_front_matter_is_named():
    line = next(row for row in EN.splitlines() if row.startswith("question:"))
    for html in ("<script>", "&lt;script&gt;"):
        text = EN.replace(line, f"question: 'x {html}'")
        problem = page(text).problems[0]
        assert (problem.path, problem.line) == (PATH, line_of("question:", text))
        assert html.startswith(problem.found)
        assert problem.expected == "front matter without HTML"
        assert problem.fix == "say it in plain words"


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("answers: !!python/object/apply:os.mkdir [{canary}]", "not plain YAML"),
        ("answers: &a [x]\nextra: [*a, *a]", "not plain YAML"),
        (f"answers: {'[' * 30}{']' * 30}", "not plain YAML"),
        ("answers: x\nanswers: y", "the key answers twice"),
        ("answers: x\n? [a]\n: b", "a key that is not a word"),
    ],
)
def test_yaml_that_does_more_than_say_is_named(planted, found, tmp_path):
    canary = tmp_path / "canary"
    text = EN.replace('answers: ["004·2"]', planted.format(canary=canary))
    (problem,) = [
        p for p in page(text).problems if p.message.key == "front_matter_yaml"
    ]
    assert problem.path == PATH and found in problem.found
    assert line_of("answers", text) <= problem.line <= line_of("refs", text)
    assert problem.fix
    assert not canary.exists()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for folder in ("snippets/alignment", "docs/en/alignment"):
        (root / folder).mkdir(parents=True)
    (root / "mkdocs.yml").symlink_to(ROOT / "mkdocs.yml")
    (tmp_path / "secret.py").write_text("token = 1")
    (tmp_path / "secret.svg").write_text("<svg viewBox='0 0 1 1'/>")
    (root / "snippets/alignment/linked.py").symlink_to(tmp_path / "secret.py")
    (root / "snippets/alignment/linked.svg").symlink_to(tmp_path / "secret.svg")
    return root


@pytest.mark.parametrize(
    "file", ["../../secret.py", "/etc/passwd", "alignment/linked.py"]
)
def test_an_include_does_not_leave_its_folder(project, file):
    with pytest.raises(ValueError, match=r" lies outside snippets/$") as told:
        resolve_includes((f'--8<-- "{file}"',), 7, project / "snippets")
    assert told.value.message.values["line"] == 7 and "token" not in str(told.value)


@pytest.mark.parametrize("file", ["../../../secret.svg", "/secret.svg", "linked.svg"])
def test_a_picture_does_not_leave_its_folder(project, file):
    text = broken(PLACE, f"![x]({file})")
    (project / PATH).write_text(text, "utf-8")
    read = read_page(project, PATH)
    (problem,) = [p for p in read.problems if p.found.endswith(f" {file}")]
    assert (problem.path, problem.line) == (PATH, line_of(file, text))
    assert problem.expected == "an SVG file of snippets, beside the page's code"
    assert not read.pictures


def test_symbolic_links_are_named(project):
    (project / "docs/en/away").symlink_to("/etc")
    found = {problem.path: problem.fix for problem in symbolic_links(project)}
    assert found.keys() == {
        "docs/en/away",
        "snippets/alignment/linked.py",
        "snippets/alignment/linked.svg",
    }
    assert all(fix.startswith("put a copy of the file here") for fix in found.values())
    assert symbolic_links(ROOT) == []


def test_a_page_that_is_a_link_is_named(project):
    (project / PATH).symlink_to("/etc/passwd")
    found = [problem.found for problem in read_page(project, PATH, EN).problems]
    assert "a symbolic link to /etc/passwd" in found


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("a\x1b[2Jb", "character, U+001B (-), column 2: a⟨U+001B⟩[2Jb"),
        ("a\u202eb", "U+202E (right-to-left override), column 2: a⟨U+202E⟩b"),
        ("a\u2066b", "U+2066 (left-to-right isolate), column 2: a⟨U+2066⟩b"),
        ("a\ufeffb", "U+FEFF (zero width no-break space), column 2: a⟨U+FEFF⟩b"),
        ("a\U000e0041b", "U+E0041 (tag latin capital letter a), column 2: a⟨U+E0041⟩b"),
        ("p\u0430y", "U+0430 (cyrillic small letter a), column 2: p⟨U+0430⟩y"),
        ("p\uff41y", "U+FF41 (fullwidth latin small letter a), column 2: p⟨U+FF41⟩y"),
        ("t\u03bfken", "U+03BF (greek small letter omicron), column 2: t⟨U+03BF⟩ken"),
        ("[" * 2001, "a line of 2001 characters"),
    ],
)
def test_what_nobody_sees_is_named(planted, found):
    text = broken(PLACE, planted)
    (problem,) = check_bytes(text.encode(), PATH)
    assert problem.line == line_of(planted, text)
    assert problem.found.endswith(found)
    fixes = ("delete that piece", "type the word again", "break it in two paragraphs")
    assert problem.fix.startswith(fixes)


def test_letters_that_are_what_they_look_like_are_free():
    text = broken(PLACE, "λ 参数 Δt δ_t π_old λ-return 50 µs é ñ ü ₜ，（好）「α」 ℓ")
    assert check_bytes(text.encode(), PATH) == []


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\u0430", "\uff41"])
def test_code_that_a_page_includes_shows_what_it_is(project, sign):
    code = project / "snippets/alignment/trial.py"
    code.parent.mkdir(parents=True, exist_ok=True)
    code.write_text(f'total = 2\nname = "{sign}"\n', "utf-8")
    text = broken("total = 1 + 1", '--8<-- "alignment/trial.py"\ntotal = 1 + 1')
    (problem,) = check_signs(read_page(project, PATH, text))
    assert problem.snippet == "snippets/alignment/trial.py:2"
    assert f"U+{ord(sign):04X}" in problem.found


@pytest.mark.parametrize("written", ["\u202e", "&#x202e;", "&#1072;"])
def test_a_picture_shows_what_it_is(project, written):
    file = project / "snippets/alignment/sample.svg"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'<svg viewBox="0 0 9 9">\n<text>a{written}b</text></svg>', "utf-8")
    text = broken(PLACE, "![a sum](sample.svg)")
    (problem,) = check_signs(read_page(project, PATH, text))
    assert (problem.path, problem.line) == ("snippets/alignment/sample.svg", 2)


@pytest.mark.parametrize("written", ["&#x202e;", "&shy;", "&#1072;"])
def test_what_is_written_by_its_number_is_named(written):
    text = broken(PLACE, f"a{written}b")
    (problem,) = check_signs(page(text))
    assert problem.line == line_of(written, text)


def test_a_picture_has_a_weight(project):
    file = project / "snippets/alignment/sample.svg"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = broken(PLACE, "![a sum](sample.svg)")
    path = '<path d="M0 0"/>'
    for count, expected in ((4000, []), (4200, ["picture_heavy"])):
        file.write_text(f'<svg viewBox="0 0 9 9">{path * count}</svg>', "utf-8")
        problems = read_page(project, PATH, text).problems
        assert [each.message.key for each in problems] == expected


@pytest.mark.parametrize(
    ("lines", "columns", "expected"),
    [(60, 40, []), (61, 1, ["output_long"]), (59, 52, ["output_long"])],
)
def test_an_output_has_a_length(lines, columns, expected):
    text = broken("total 2\n```", "\n".join(["x" * columns] * lines) + "\n```")
    keys = [each.message.key for each in shape_problems(page(text))]
    assert [key for key in keys if key == "output_long"] == expected


def test_a_terminal_is_told_nothing_that_it_would_obey():
    out = io.StringIO()
    Talk(out=out).show("a\x1b]0;title\x07b")
    assert out.getvalue() == "a\\x1b]0;title\\x07b\n"
