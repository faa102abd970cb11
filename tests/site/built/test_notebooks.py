"""Notebooks: run once, drawn, shown and taken away; and what is refused."""

import json
import re
import shutil
from pathlib import Path

import pytest

from site_tools.compile import notebooks as download
from site_tools.compile.plots import themed as as_picture
from site_tools.compile.resolved import resolved
from site_tools.finish.article import parsed
from site_tools.finish.reading import settle_notebook
from site_tools.judge.figures import check_plots
from site_tools.judge.languages import compare
from site_tools.judge.outputs import check_block
from site_tools.page.page import Page, read_page
from site_tools.run.execution import Verified, run_page
from tests.layout import ROOT
from tests.site import trial_site
from tests.site.articles import article
from tests.site.sample import broken, shape_problems

TOY = "docs/en/notebooks/toy.md"
CHINESE = {"Toy": "玩具", "Look.": "看图。", '"en"  # or "zh"': '"zh"  # or "en"'}


def page(root: Path, language: str = "en", *changes: tuple[str, str]) -> Page:
    """The notebook of the trial site, with these words in place of others."""
    text = (trial_site.PAGES / "whole" / TOY).read_text("utf-8")
    for old, new in (CHINESE if language == "zh" else {}).items():
        text = text.replace(old, new)
    for old, new in changes:
        text = broken(old, new, text)
    shutil.copy(trial_site.ROOT / "mkdocs.yml", root)
    trial_site.write_files(root, {TOY.replace("/en/", f"/{language}/"): text})
    return read_page(root, TOY.replace("/en/", f"/{language}/"))


def problems(verified: Verified) -> list[str]:
    found = [check_block(verified, block) for block in verified.running]
    found += check_plots(verified)
    return [problem.found for problem in found if problem]


def test_blocks_run_once_in_order_and_leave_their_plots(tmp_path):
    verified = run_page(page(tmp_path))
    assert problems(verified) == []
    drawn = [[name for name, _ in result.plots] for result in verified.run.results]
    assert drawn == [[], ["bias"], []]
    again = run_page(page(tmp_path))
    assert again.run.results[1].plots == verified.run.results[1].plots


def test_plots_shown_and_drawn_are_the_same(tmp_path):
    verified = run_page(page(tmp_path, "en", ('num="bias"', 'num="other"')))
    assert problems(verified) == [
        "a plot named 'other' that the page does not show",
        "toy/bias.svg, which no block draws",
    ]


def test_a_block_that_fails_is_named_and_draws_for_no_other(tmp_path):
    verified = run_page(page(tmp_path, "en", ("plt.show()", "plt.show() or 1 / 0")))
    failed, printing = (result for result in verified.run.results[1:])
    assert failed.failure and failed.failure.type == "ZeroDivisionError"
    assert not printing.plots and not check_plots(verified)
    problem = check_block(verified, verified.running[1])
    assert problem and problem.line == 19


def test_only_the_line_of_the_language_may_differ(tmp_path):
    zh, en = page(tmp_path, "zh"), page(tmp_path, "en")
    assert compare(zh, en) == []
    assert [*shape_problems(zh), *shape_problems(en)] == []
    changed = page(tmp_path, "zh", ('language = "zh"', 'language = "en"'))
    (copied,) = shape_problems(changed)
    assert copied.line == 8 and copied.expected == 'language = "zh"  # or "en"'
    (other,) = compare(zh, page(tmp_path, "en", ('num="bias"', 'num="bias2"')))
    assert "bias2" in other.expected


def test_a_plot_has_the_colours_of_the_site_and_no_other(tmp_path):
    ((name, svg),) = run_page(page(tmp_path)).run.results[1].plots
    themed = as_picture(svg, name)
    assert "var(--second)" in themed and not re.search("#[0-9a-f]{6}", themed)
    assert "DejaVu" not in themed and "metadata" not in themed
    shade = '<path d="M0 0" style="fill: #9467bd; fill-opacity: 0.04"/></svg>'
    shaded = as_picture(svg.replace("</svg>", shade), name)
    # Deeper on a dark screen, where it would vanish.
    assert "--on-paper: 0.04; --in-dark: 0.23" in shaded
    with pytest.raises(ValueError, match=r"plot bias: colours must be .*#2ca02c"):
        as_picture(svg.replace("#ff7f0e", "#2ca02c"), name)


def test_what_is_downloaded_runs_and_says_what_it_needs(tmp_path):
    toy = page(tmp_path)
    drawn = [dict(result.plots) for result in run_page(toy).run.results]
    made = download.notebook(
        resolved(toy, tmp_path), "Toy", drawn, "en", "", "ppo.whl", toy.id
    )
    cells = json.loads(made)["cells"]
    assert cells[1]["source"] == "%pip install -q matplotlib ppo.whl"
    told = "".join(c["source"] for c in cells if c["cell_type"] == "markdown")
    assert "???" not in told and "bias.svg" not in told
    assert "**Why?**\n\nBecause.\n\nSo." in told
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    outputs = [output for cell in code[1:] for output in cell["outputs"]]
    assert "image/svg+xml" in outputs[0]["data"] and outputs[1]["text"] == "[1] []\n"
    assert all("    fig" not in cell["source"] for cell in code)


CONTENTS = """<nav class="md-nav--secondary">
<a href="#_1">一棵树</a><a href="#v">$V$ of it</a></nav>"""


def test_a_notebook_has_the_anchors_of_its_contents_and_marked_formulas():
    html = "<h2 id=''>一棵树</h2><p>If $V_t$ is 0, $\\lambda$ is.</p><h2>$V$ of it</h2>"
    made = article(
        html + "<pre>$HOME is $x$</pre>", "zh", "notebooks/gae_laboratory/jupyter"
    )
    made.soup.append(parsed(CONTENTS))
    settle_notebook(made, ROOT)
    first, second = made.content.find_all("h2")
    assert (first["id"], second["id"]) == ("_1", "v")
    marked = made.content.find_all("span", class_="arithmatex")
    assert [span.get_text() for span in marked] == [
        r"\(V_t\)",
        r"\(\lambda\)",
        r"\(V\)",
    ]
    paragraph = made.content.find_all("p")[-1].get_text()
    assert paragraph == r"If \(V_t\) is 0, \(\lambda\) is."
    assert made.content.pre.get_text() == "$HOME is $x$"
    assert r"\(V\) of it" in made.soup.find("nav").get_text()


def test_a_site_shows_plots_and_its_notebook(trial):
    built = trial / "site/en/notebooks/toy"
    html = (built / "index.html").read_text("utf-8")
    assert 'class="plot"' in html and "pip install" not in html
    assert '<a href="toy.ipynb" download>' in html
    assert html.count('class="verdict"') == 1
    taken = (built / "toy.ipynb").read_text("utf-8")
    assert json.loads(taken)["nbformat"] == 4
    rendered = (built / "jupyter/index.html").read_text("utf-8")
    main = rendered.partition("<article")[2].partition("</article>")[0]
    (image,) = re.findall(r"<img [^>]*>", main)
    assert 'alt="Look."' in image and 'src="data:image/svg+xml' in image
    assert '<a href="../">Toy</a>' in main and "[1] []" in main
    for foreign in ("<style", "<script", "clipboard-copy", "tabindex"):
        assert foreign not in main
    index = json.loads((trial / "site/en/search/search_index.json").read_text())
    assert not [doc for doc in index["docs"] if "jupyter" in doc["location"]]
    assert not list((trial / "site").rglob("bias.svg"))
