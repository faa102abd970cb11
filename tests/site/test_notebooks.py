"""Notebooks: run once, drawn, shown and taken away; and what is refused."""

import json
import re
import shutil
from pathlib import Path

import pytest

from site_tools.checks.languages import compare
from site_tools.checks.shape import check_shape
from site_tools.page.page import Page, read_page
from site_tools.running import evidence, verdict
from site_tools.running.verdict import check_plots
from site_tools.site import notebooks as download
from site_tools.site import pictures
from tests.site import trial_site

EMPTY = '{"cells": [], "metadata": {"sections": []}}'
TEXT = """---
title: {title}
---

{words}

```python
language = "{said}"  # or "{other}"
from matplotlib import pyplot as plt
count = [*globals().get("count", []), 1]
```

??? example "{words}"

    ```python
    fig, ax = plt.subplots(num="{plot}")
    ax.plot([1, 2], "C1")
    ax.set_title({{"zh": "偏差", "en": "bias"}}[language])
    plt.show(){then}
    ```

![{words}](toy/bias.svg)

```python
print(count, plt.get_fignums())
```

```output
[1] []
```

??? question "Why?"

    Because.

    So.
"""
WORDS = {
    "zh": {"title": "玩具", "words": "看图。", "other": "en"},
    "en": {"title": "Toy", "words": "Look.", "other": "zh"},
}


def page(
    root: Path,
    language: str = "en",
    plot: str = "bias",
    said: str = "",
    then: str = "",
) -> Page:
    file = root / f"docs/{language}/notebooks/toy.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(trial_site.ROOT / "mkdocs.yml", root)
    words = WORDS[language] | {"said": said or language, "plot": plot, "then": then}
    file.write_text(TEXT.format(**words), "utf-8")
    return read_page(root, file.relative_to(root).as_posix())


def problems(verified: verdict.Verified) -> list[str]:
    found = [verdict.check_block(verified, block) for block in verified.running]
    found += check_plots(verified)
    return [problem.found for problem in found if problem]


def test_blocks_run_once_in_order_and_leave_their_plots(tmp_path):
    verified = verdict.run(page(tmp_path))
    assert problems(verified) == []
    drawn = [[name for name, _ in result.plots] for result in verified.run.results]
    assert drawn == [[], ["bias"], []]
    again = verdict.run(page(tmp_path))
    assert again.run.results[1].plots == verified.run.results[1].plots


def test_plots_shown_and_drawn_are_the_same(tmp_path):
    verified = verdict.run(page(tmp_path, plot="other"))
    assert problems(verified) == [
        "a plot named 'other' that the page does not show",
        "toy/bias.svg, which no block draws",
    ]


def test_a_block_that_fails_is_named_and_draws_for_no_other(tmp_path):
    verified = verdict.run(page(tmp_path, then=" or 1 / 0"))
    failed, printing = (result for result in verified.run.results[1:])
    assert failed.failure and failed.failure.type == "ZeroDivisionError"
    assert not printing.plots and not check_plots(verified)
    problem = verdict.check_block(verified, verified.running[1])
    assert problem and problem.line == 19


def test_only_the_line_of_the_language_may_differ(tmp_path):
    zh, en = page(tmp_path, "zh"), page(tmp_path, "en")
    assert compare(zh, en) == []
    assert [*check_shape(zh, tmp_path), *check_shape(en, tmp_path)] == []
    (copied,) = check_shape(page(tmp_path, "zh", said="en"), tmp_path)
    assert copied.line == 8 and copied.expected == 'language = "zh"  # or "en"'
    (other,) = compare(zh, page(tmp_path, "en", plot="bias2"))
    assert "bias2" in other.expected


def test_a_plot_has_the_colours_of_the_site_and_no_other(tmp_path):
    ((name, svg),) = verdict.run(page(tmp_path)).run.results[1].plots
    themed = pictures.themed(svg, name)
    assert "var(--second)" in themed and not re.search("#[0-9a-f]{6}", themed)
    assert "DejaVu" not in themed and "metadata" not in themed
    shade = '<path d="M0 0" style="fill: #9467bd; fill-opacity: 0.04"/></svg>'
    shaded = pictures.themed(svg.replace("</svg>", shade), name)
    # Deeper on a dark screen, where it would vanish.
    assert "--on-paper: 0.04; --in-dark: 0.23" in shaded
    with pytest.raises(ValueError, match=r"plot bias: colours must be .*#2ca02c"):
        pictures.themed(svg.replace("#ff7f0e", "#2ca02c"), name)


def test_what_is_downloaded_runs_and_says_what_it_needs(tmp_path):
    toy = page(tmp_path)
    drawn = [dict(result.plots) for result in verdict.run(toy).run.results]
    made = download.notebook(
        toy.text, "Toy", toy.blocks, drawn, "en", "ppo.whl", toy.id
    )
    cells = json.loads(made)["cells"]
    assert "pip install matplotlib ppo.whl" in cells[0]["source"]
    told = "".join(c["source"] for c in cells if c["cell_type"] == "markdown")
    assert "???" not in told and "bias.svg" not in told
    assert "**Why?**\n\nBecause.\n\nSo." in told
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert "image/svg+xml" in outputs[0]["data"] and outputs[1]["text"] == "[1] []\n"
    assert all("    fig" not in cell["source"] for cell in code)


def test_the_sections_of_a_notebook_have_the_ids_of_its_page():
    made = '<h2 id="看图">看图<a class="anchor-link" href="#看图">¶</a></h2>'
    named = EMPTY.replace("[]}}", '["look"]}}')
    html, (section,) = download.settle(made, named, "a.ipynb", "A", "zh")
    assert '<h2 id="look">看图<a class="headerlink" href="#look">' in html
    assert (section["id"], section["name"]) == ("look", "看图")


def test_formulas_of_a_notebook_are_typeset_and_code_is_not():
    made = "<p>$a$ and <code>$b$</code></p><p>$$\nc\n$$</p><pre>$d$ $e$</pre>"
    html, _ = download.settle(made, EMPTY, "a.ipynb", "A < B", "zh")
    assert html.count('<span class="arithmatex">') == 1
    assert html.count('<div class="arithmatex">') == 1
    assert "<code>$b$</code>" in html and "<code>$d$ $e$</code>" in html
    assert '<a href="../">A &lt; B</a>' in html


def test_a_strict_build_shows_plots(tmp_path):
    trial_site.write(tmp_path)
    toy = page(tmp_path)
    evidence_of_toy = {toy.path: evidence.outcome(verdict.run(toy))}
    here = evidence.setting(tmp_path)
    evidence.note(tmp_path, "cpu", here, "CPU", evidence_of_toy)
    passing, _ = (run := trial_site.build(tmp_path, "mkdocs.en.yml")).communicate()
    assert run.returncode == 0, passing
    built = tmp_path / "site/en/notebooks/toy"
    html = (built / "index.html").read_text("utf-8")
    assert 'class="plot"' in html and "pip install" not in html
    assert '<a href="jupyter/toy.ipynb" download>' in html
    assert html.count('class="mark"') == 3
    taken = (built / "jupyter/toy.ipynb").read_text("utf-8")
    assert json.loads(taken)["nbformat"] == 4
    rendered = (built / "jupyter/index.html").read_text("utf-8")
    main = rendered.partition("<article")[2].partition("</article>")[0]
    assert '<img alt="Look." src="data:image/svg+xml' in main
    assert '<a href="../">Toy</a>' in main and "<pre><code>[1] []" in main
    for foreign in ("<style", "<script", "clipboard-copy", "tabindex"):
        assert foreign not in main
    index = json.loads((tmp_path / "site/en/search/search_index.json").read_text())
    assert not [doc for doc in index["docs"] if "jupyter" in doc["location"]]
    assert not list((tmp_path / "site").rglob("bias.svg"))
