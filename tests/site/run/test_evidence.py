"""What was verified: noted whole, lapsing with what it rests on, shown as no more."""

import re
from pathlib import Path

import pytest

from site_tools.compile.article import complete_boxes, marks
from site_tools.judge.census import boxes as codes
from site_tools.ledger import Entry, Ledger, read
from site_tools.page.rendered import render
from site_tools.run.evidence import (
    RECORD,
    Evidence,
    Setting,
    block_hashes,
    gather,
    local,
    note,
    package_hash,
    passed,
    setting,
    unverified,
)
from tests.site.sample import EN, ROOT, broken, line_of, page
from tests.site.trial_site import write_files

HERE = Setting("package", "2.13.0+cpu", "3.11.7")
PAGE = "docs/en/alignment/sample.md"
OTHER = "docs/en/alignment/other.md"


def hashes(text: str) -> list[str]:
    return list(block_hashes(page(text).blocks).values())


def test_a_changed_block_changes_its_hash_and_those_below():
    first, second = hashes(EN)
    changed = hashes(broken("total == 3", "total == 4"))
    assert changed[0] == first and changed[1] != second
    above = hashes(broken('print("total", total)', 'print("total",  total)'))
    assert above[0] != first and above[1] != second


CODE = '''"""What it is."""

def double(x):
    """Twice."""
    return 2 * x  # no more
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Twice", "Two times", True),
        ("What it is", "Doubling", True),
        ("# no more", "# ok", True),
        ('    """Twice."""\n', "", True),
        *(("2 * x", new, False) for new in ("3 * x", "2 * x or None", "2.0 * x", "(2")),
    ],
)
def test_only_code_changes_the_package(tmp_path, old, new, same):
    (tmp_path / "double.py").write_text(CODE)
    before = package_hash(tmp_path)
    (tmp_path / "double.py").write_text(broken(old, new, CODE))
    assert (package_hash(tmp_path) == before) is same


def noted(here: Setting = HERE, text: str = EN, passes: int = 2) -> Ledger:
    return {PAGE: Entry(here.made_from, here.by, {"passed": hashes(text)[:passes]})}


@pytest.mark.parametrize(
    "known",
    [
        {},
        noted(passes=0),
        noted(HERE._replace(package="other package")),
        noted(HERE._replace(python="3.12.1")),
        noted(HERE._replace(torch="2")),
        {PAGE: Entry(HERE.made_from, HERE.by, ["passed"])},
    ],
)
def test_another_package_torch_or_python_verifies_nothing(known):
    assert len(unverified(Evidence(HERE, known), PAGE, page().blocks)) == 2
    for lang, words in (("en", "not verified here"), ("zh", "尚未在此验证")):
        assert shown(Evidence(HERE, known), lang) == [words] * 2


def test_a_changed_block_is_named_with_the_remedy():
    text = broken("total == 3", "total == 4")
    (problem,) = unverified(Evidence(HERE, noted()), PAGE, page(text).blocks)
    assert problem.line == line_of("{ .python .cont", text)
    assert "make build" in problem.fix


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path, {PAGE: EN, OTHER: EN, "ppo_ref/__init__.py": ""})
    return tmp_path


def run(root: Path, **ends: str) -> Ledger:
    """Note a run: of each page the blocks that passed."""
    names = {"x": PAGE, "y": OTHER, "gone": "docs/en/gone.md"}
    done = {names[name]: {"passed": [*blocks]} for name, blocks in ends.items()}
    note(root, "cpu", HERE, "CPU", done)
    return read(root / local("cpu"))


def test_a_run_of_one_page_leaves_the_others_as_they_were(root):
    run(root, x="ab", y="ab")
    after = run(root, x="a", gone="a")
    assert after.keys() == {PAGE, OTHER}
    assert [passed(after, at, HERE) for at in (PAGE, OTHER)] == [["a"], ["a", "b"]]


def test_a_run_is_noted_and_read_again(root):
    first, second = hashes(EN)
    note(root, "cpu", setting(root), "CPU", {PAGE: {"passed": [first]}})
    known = gather(root)
    assert known.on_cpu(PAGE, first) and not known.on_cpu(PAGE, second)


@pytest.mark.parametrize("text", [b"{", b"\xff\xfe{", b"<<<<<<< HEAD\n"])
def test_a_damaged_ledger_counts_for_nothing(root, text):
    for name in (local("cpu"), RECORD):
        write_files(root, {name: ""})
        (root / name).write_bytes(text)
    known = gather(root)
    assert known.cpu == known.gpu == {}
    assert run(root, x="ab").keys() == {PAGE}  # a cache begins anew


def test_the_committed_record_can_be_read():
    ledger = read(ROOT / RECORD)
    if not ledger:
        pytest.skip(f"no {RECORD} yet: make record writes it on a machine with a GPU")
    for entry in ledger.values():
        assert len(entry.by["commit"]) == 40 and entry.made_from.keys() >= {"blocks"}


# The marks beside the blocks.

MOVED = broken("total = 1 + 1", 'device = "cpu"\ntotal = 1 + 1')
CPU = "verified · torch 2.13.0 · CPU"


def gpu(package: str = "package", text: str = MOVED, last: str = "") -> Ledger:
    by = {"device": "NVIDIA H200", "torch": "2.13.0+cu130", "date": "2026-11-20"}
    made_from = {"package": package, "blocks": last or hashes(text)[-1]}
    return {PAGE: Entry(made_from, by | {"commit": "0123456789" * 4})}


def shown(known: Evidence, lang: str = "en", text: str = EN, html: bool = False):
    """The marks of the page: their words, or as HTML."""
    blocks = list(page(text).blocks)
    found = marks(known, PAGE, blocks, lang, "../../about/")
    whole = complete_boxes(render(text, ROOT), blocks, lang, lambda: "p.whl", found)
    tags = re.findall(r'<a class="mark.*?</a>(?=<pre>)', whole)
    return tags if html else [re.sub("<[^>]*>", "", tag) for tag in tags]


def test_a_verified_block_says_with_what_in_both_languages():
    known = Evidence(HERE, noted(), gpu(text=EN))  # which stays on the CPU
    assert shown(known) == [CPU] * 2
    assert shown(known, "zh") == ["已验证 · torch 2.13.0 · CPU"] * 2
    assert all('"mark unverified"' in x for x in shown(Evidence(HERE), html=True))


def test_a_gpu_record_that_holds_adds_cuda():
    known = Evidence(HERE, noted(text=MOVED), gpu())
    assert shown(known, text=MOVED) == [f"{CPU} · CUDA"] * 2
    mark, _ = shown(known, text=MOVED, html=True)
    assert "NVIDIA H200, torch 2.13.0+cu130, 2026-11-20, 0123456" in mark
    assert "stale" not in mark


@pytest.mark.parametrize("record", [gpu("older"), gpu(last="x")])
def test_a_stale_gpu_record_is_grey_and_names_its_commit(record):
    known = Evidence(HERE, noted(text=MOVED), record)
    for lang, text in (("en", "CUDA as of 0123456"), ("zh", "CUDA 截至 0123456")):
        for mark in shown(known, lang, MOVED, html=True):
            assert f'CPU · <span class="stale">{text}</span>' in mark


TABS = """=== "a tab"

    ```python
    x = "<&\\""  # 优势
    ```
"""


def test_every_box_gets_what_is_meant_for_its_block():
    text = broken("## Next", f"{TABS}\n## Next")
    html, blocks = render(text, ROOT), page(text).blocks
    boxed = [block for block in blocks if block.has_box]
    signs = [f"<i>{n}</i>" for n in range(len(boxed))]
    made = complete_boxes(html, blocks, "en", lambda: "p.whl", signs)
    assert [block.text for block in boxed] == [t.strip("\n") for t in codes(made)]
    for mark, block in zip(signs, boxed, strict=True):
        before, found, after = made.partition(f">{mark}<pre>")
        assert found and before.rpartition("<")[2].startswith("div class=")
        assert codes("<pre>" + after)[0].strip("\n") == block.text
    assert re.sub(' marked"|<i>.</i>', "", made).count("<div") == html.count("<div")


def test_a_box_too_many_is_refused():
    for raw in ("    indented code\n", "<pre><code>raw</code></pre>\n"):
        html = render(f"{EN}\ntext\n\n{raw}", ROOT)
        with pytest.raises(ValueError, match="4 fences, 5 boxes"):
            complete_boxes(html, page(EN).blocks, "en", lambda: "p.whl")
