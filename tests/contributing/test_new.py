"""The command new: a short page that passes, a wording where the answer is already."""

import argparse
import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from site_tools.checks.accord import State, read
from site_tools.checks.all import check_pair, check_written, judge
from site_tools.checks.unfinished import todo
from site_tools.commands import new
from site_tools.commands.talk import Refusal, Talk
from site_tools.contributing import asked_before
from site_tools.contributing.likeness import Known
from site_tools.contributing.skeleton import next_links, skeleton
from site_tools.ledger import store_together
from site_tools.page import page, tree

ROOT = Path(__file__).parents[2]
ASKED = "How large should a GRPO group be?"
ZH = "GRPO 的组大小怎么选？"
KNOWN = "Does it help to add up later deltas in GAE?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The pages, the snippets and the tests of their formulas, to write into."""
    for name in ("docs", "snippets", "tests/properties"):
        away = shutil.ignore_patterns("theme", "*.pyc")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=away)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def run(
    root: Path,
    *words: str,
    says: str = "n",
    lang: str = "en",
    answer: Callable[[], str | None] | None = None,
    agreed: bool = False,
) -> str:
    """What the command says, as somebody hears it who answers each question so."""
    parser = argparse.ArgumentParser()
    new.options(parser, str)
    out = io.StringIO()
    talk = Talk(lang, out=out, answer=answer or (lambda: says), agreed=agreed)
    assert new.run(parser.parse_args(words), root, talk) == 0
    return out.getvalue()


def state(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def written(root: Path, before: dict[str, bytes]) -> list[str]:
    now = state(root)
    assert before.keys() <= now.keys()
    return sorted(name for name in now if now[name] != before.get(name))


@pytest.mark.parametrize(
    ("asked", "more", "languages"),
    [
        (ASKED, [], ["en"]),
        (ZH, [], ["zh"]),
        (ZH, ["--write", "en"], ["en"]),
        (ASKED, ["--write", "both"], ["en", "zh"]),
    ],
)
def test_a_page_that_passes_in_at_most_three_files(
    root: Path, asked: str, more: list[str], languages: list[str]
) -> None:
    before = state(root)
    told = run(root, "gae/group_size", "--question", asked, *more)
    pages = [f"docs/{language}/gae/group_size.md" for language in languages]
    assert written(root, before) == [*pages, "snippets/gae/group_size.py"]
    for path in pages:
        read = page.read_page(root, path)
        assert check_written(read, root) == [] == check_pair(read, root)
        assert asked in read.meta["question"]
    assert "near it: " in told and "1. Replace every TODO" in told
    assert "\n2. make check PAGE=gae/group_size " in told and "\n3. Then open a" in told


@pytest.mark.slow
def test_it_runs_and_its_output_is_what_it_prints(root: Path) -> None:
    run(root, "critic/group_size", "--question", ZH, "--write", "both")
    pages = [f"docs/{language}/critic/group_size.md" for language in ("zh", "en")]
    assert judge(root, pages) == []
    text = (root / pages[0]).read_text("utf-8")
    assert "A      0.70 " in text
    (root / pages[0]).write_text(text.replace("A      0.70", "A      0.71"), "utf-8")
    assert judge(root, pages) != []


def test_what_it_left_to_write_is_told_until_it_is_written(root: Path) -> None:
    run(root, "gae/group_size", "--question", ASKED)
    path = "docs/en/gae/group_size.md"
    text = (root / path).read_text("utf-8")
    found = todo(root, path, text)
    assert {p.path for p in found} == {path, "snippets/gae/group_size.py"}
    verdict = next(p for p in found if p.found == "TODO: Yes, No or Half")
    assert text.splitlines()[verdict.line - 1].startswith("**TODO: Yes, No or Half.**")
    assert verdict.fix == "write your own answer here, and take the TODO away"
    own = re.sub(r"\bTODO\b:? ?", "", text)
    assert {p.path for p in todo(root, path, own)} == {"snippets/gae/group_size.py"}


def test_no_page_is_left_as_it_was_begun() -> None:
    files = [f for lang in page.LANGUAGES for f in (ROOT / "docs" / lang).rglob("*.md")]
    left = [
        problem
        for file in files
        for problem in todo(
            ROOT, file.relative_to(ROOT).as_posix(), file.read_text("utf-8")
        )
    ]
    assert len(files) > 60 and left == [], "\n".join(map(str, left))


def test_every_page_can_be_linked_to(root: Path) -> None:
    """Whatever stands in their titles: brackets, braces, formulas."""
    run(root, "gae/group_size", "--question", ASKED)
    path = "docs/en/gae/group_size.md"
    pages = [p.removesuffix(".md") for p in tree.paths(ROOT / "docs" / "en")]
    known = [Known(other, "", 0.0) for other in pages]
    every = (next_links("gae/group_size", known[at:], ["en"], root) for at in range(60))
    links = "\n".join(dict.fromkeys("\n".join(e["en"] for e in every).split("\n")))
    assert links.count("](") > 30 and "](../alignment/value_before_token.md)" in links
    text = skeleton("gae/group_size", ASKED, ["en"], {"en": links})[path]
    assert check_written(page.read_page(root, path, text), root) == []


def test_a_title_with_a_figure_is_not_linked_to(root: Path) -> None:
    title = root / "docs/en/gae/variance.md"
    text = title.read_text("utf-8").replace("Does GAE", "Does λ=0.95")
    title.write_text(text, "utf-8")
    known = [Known("gae/variance", "", 1.0), Known("gae/inputs", "", 0.9)]
    links = next_links("gae/group_size", known, ["en"], root)
    assert links == {"en": "- [Are values and rewards all that GAE needs?](inputs.md)"}


@pytest.mark.parametrize(
    "asked", ['What is "V": a {page}?', "# V?", "- V", "!!python/name:os.system", "V\\"]
)
def test_a_question_stands_there_as_it_was_asked(root: Path, asked: str) -> None:
    run(root, "gae/group_size", "--question", asked, "--anyway")
    read = page.read_page(root, "docs/en/gae/group_size.md")
    assert read.meta["question"] == asked and read.problems == ()


def test_whoever_asks_what_is_answered_adds_a_wording(root: Path) -> None:
    before = state(root)
    told = run(root, "gae/later", "--question", KNOWN, says="y")
    assert "Perhaps answered at gae/why_sum_deltas: Why does GAE add up later" in told
    assert ": add your wording there? [y/N]" in told
    assert "docs/locks/gae/why_sum_deltas.txt: brought up to date, the lang" in told
    path = "docs/en/gae/why_sum_deltas.md"
    lock = "docs/locks/gae/why_sum_deltas.txt"
    assert written(root, before) == [path, lock]
    row = f"  - {KNOWN}\n".encode()
    now = (root / path).read_bytes()
    assert now.count(row) == 1 and now.replace(row, b"") == before[path]
    accord = read(root, "gae/why_sum_deltas")
    assert accord.state is read(ROOT, "gae/why_sum_deltas").state is State.ACCORD
    assert check_written(page.read_page(root, path), root) == []
    again = run(root, "gae/why_sum_deltas", "--alias", "--question", KNOWN.lower())
    assert again == f"{path} has this wording already; nothing to add\n"


def test_whoever_says_no_is_asked_before_a_page_is_written(root: Path) -> None:
    before = state(root)
    with pytest.raises(Refusal, match=r"^Nothing was written\.$"):
        run(root, "gae/later", "--question", KNOWN)
    assert written(root, before) == []
    perhaps = asked_before.answered(asked_before.nearest(KNOWN, root))
    said = iter("n" * len(perhaps) + "y")
    told = run(root, "gae/later", "--question", KNOWN, answer=lambda: next(said))
    assert told.index("Perhaps answered") < told.index("[y/N]") < told.index("Written")
    assert "Write a new page all the same? [y/N]" in told
    assert len(written(root, before)) == 2


@pytest.mark.parametrize("agreed", [True, False])
def test_where_nobody_decides_nothing_is_written(root: Path, agreed: bool) -> None:
    before = state(root)
    with pytest.raises(Refusal, match=r"ARGS=--alias, .* or ARGS=--anyway"):
        run(root, "gae/a", "--question", KNOWN, agreed=agreed, answer=lambda: None)
    assert written(root, before) == []
    told = run(root, "gae/a", "--question", KNOWN, "--anyway", answer=lambda: None)
    assert "Perhaps answered at" in told and "[y/N]" not in told
    assert len(written(root, before)) == 2


def test_a_wording_can_be_added_without_a_search(root: Path) -> None:
    before = state(root)
    told = run(
        root, "docs/en/gae/variance.md", "--alias", "--question", "新的 λ 问法？"
    )
    path = "docs/zh/gae/variance.md"
    assert path in written(root, before) and "[y/N]" not in told
    assert "aliases" in told and "新的 λ 问法？" in page.read_page(root, path).texts(
        "aliases"
    )
    (root / path).unlink()
    with pytest.raises(Refusal, match=f"No {path} to add it to; docs/en/gae/"):
        run(root, "gae/variance", "--alias", "--question", "又一种问法？")
    with pytest.raises(Refusal, match="nearest is gae/variance"):
        run(root, "gae/varianc", "--alias", "--question", "Why?")


@pytest.mark.parametrize(
    ("name", "asked", "more"),
    [
        ("gae/variance", ASKED, []),
        ("gae/variance", ASKED, ["--write", "zh"]),
        ("../gae/a", ASKED, []),
        ("/etc/passwd", ASKED, []),
        ("gae/../../a", ASKED, []),
        ("GAE/Why", ASKED, []),
        ("gea/why", ASKED, []),
        ("gae/why", "", []),
        ("gae/why", "Why?\nHow?", []),
        ("gae/why", "w" * 200, []),
        ("gae/nowhere", "Why?", ["--alias"]),
    ],
)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_refusal_writes_nothing_and_is_in_the_language_asked_for(
    root: Path, name: str, asked: str, more: list[str], lang: str
) -> None:
    before = state(root)
    with pytest.raises(Refusal) as refused:
        run(root, name, "--question", asked, *more, lang=lang)
    assert written(root, before) == []
    words = Talk(lang).words(str(refused.value))
    assert bool(re.search("[㐀-鿿]", words)) is (lang == "zh"), words


def test_a_taken_name_is_told_with_where_it_is(root: Path) -> None:
    (root / "docs/zh/gae/variance.md").unlink()
    told = (
        r"^gae/variance is taken: docs/en/gae/variance\.md, .*use in gae: inputs, "
        r".*PAGE=gae/variance Q=\.\.\. ARGS=--alias$"
    )
    with pytest.raises(Refusal, match=told):
        run(root, "gae/variance", "--question", ZH)


def test_everything_it_says_is_said_in_chinese(root: Path) -> None:
    said = run(root, "gae/later", "--question", KNOWN, "--anyway", lang="zh")
    told = said.splitlines()
    assert told and [line for line in told if not re.search("[㐀-鿿]", line)] == []
    for text in (new.HELP, *new.EXAMPLES.splitlines()[::2], new.EXAMPLES):
        words = Talk("zh").words(text)
        assert re.search("[㐀-鿿]", words) or "..." in words, words


def test_files_that_cannot_all_be_written_are_not_there(root: Path) -> None:
    shutil.rmtree(root / "snippets" / "gae")
    (root / "snippets" / "gae").write_text("in the way", "utf-8")
    before = state(root)
    with pytest.raises(Refusal, match=r"Nothing was written: .*snippets/gae"):
        run(root, "gae/group_size", "--question", ASKED)
    assert written(root, before) == []


def test_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "b" / "1", tmp_path / "2"
    second.write_bytes(b"taken")
    with pytest.raises(FileExistsError):
        store_together({first: b"1", second: b"2"})
    assert state(tmp_path) == {"2": b"taken"} and not first.parent.parent.exists()
    second.unlink()
    store_together({first: b"1", second: b"2"})
    assert state(tmp_path) == {"a/b/1": b"1", "2": b"2"}


DRAFT = """---
question: "How large should a GRPO group be?"
aliases: ["GRPO 的组大小怎么选？", "Is 8 enough?", "{}"]
---

## To be written {{ #answer }}

It is 0.5 at 99 %.

```python
raise NotImplementedError
```

## From the chat, unverified {{ #chat }}

```{{ .python .norun data-reason="unverified: from a chat, not run" }}
x = 1  # {}
```

````{{ .python .norun data-reason="unverified: from a chat, not run" }}
```
y = 2
```
````
"""


@pytest.mark.parametrize("more", [[], ["--write", "both"]])
def test_a_draft_gives_question_wordings_and_code(root: Path, more: list[str]) -> None:
    file = root / "draft.md"
    file.write_text(DRAFT.format("w" * 200, "w" * 99), "utf-8")
    told = run(root, "gae/group_size", "--draft", str(file), *more)
    assert f"{file} keeps its sentences: nobody has verified them" in told
    read = page.read_page(root, "docs/en/gae/group_size.md")
    assert read.meta["question"] == ASKED and read.meta["aliases"] == ["Is 8 enough?"]
    assert check_written(read, root) == [] == check_pair(read, root)
    shown = [b.text for b in read.blocks if b.reason is not None]
    assert shown == ["x = 1  # " + "w" * 99, "```\ny = 2\n```"]
    assert "0.5 at" not in read.text and "NotImplemented" not in read.text
    reasons = [p for p in todo(root, read.path, read.text) if "a chat" in p.found]
    assert len(reasons) == 2
    if more:
        twin = page.read_page(root, "docs/zh/gae/group_size.md")
        assert twin.meta["aliases"] == ["GRPO 的组大小怎么选？"]
        assert check_written(twin, root) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"# A log\n", "is no draft: it must begin with question"),
        (b"---\nquestion: [A?]\n---\n", "is no draft: it must begin with question"),
        (b"\xff", "is no draft: it must be UTF-8"),
        (b'---\nquestion: "' + b"w" * 200 + b'"\n---\n', "at most 120 columns"),
    ],
)
def test_what_is_no_draft_is_refused(root: Path, text: bytes, message: str) -> None:
    (root / "draft.md").write_bytes(text)
    with pytest.raises(Refusal, match=message):
        run(root, "gae/group_size", "--draft", str(root / "draft.md"))
    with pytest.raises(Refusal, match=r"Nothing was written: .*none"):
        run(root, "gae/group_size", "--draft", str(root / "none"))
