"""python -m site_tools import and export, as a contributor runs them."""

import argparse
import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from site_tools.commands import export, import_log
from site_tools.commands.talk import Refusal, Talk
from site_tools.logs.reading import read
from site_tools.logs.sorting import Kind, sort
from site_tools.logs.wording import cleaned
from site_tools.site import sources
from tests.contributing.invented_log import LOG
from tests.site.test_dialogue_log import DIALOGUES, ROOT

YES, NO = "y", ""


class Desk:
    """A project folder, a log in it, and who answers what is asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / "talk_1.md"
        self.log.write_bytes(LOG.encode())
        self.said = ""

    def run(self, command, *words: str, answers: str = "", language: str = "en"):
        parser = argparse.ArgumentParser()
        command.options(parser, str)
        replies: Iterator[str] = iter(answers)
        out = io.StringIO()
        talk = Talk(language, out=out, answer=lambda: next(replies))
        try:
            return command.run(parser.parse_args(words), self.root, talk)
        finally:
            self.said = out.getvalue()
            assert next(replies, None) is None, "something was not asked"

    @property
    def files(self) -> list[str]:
        found = (f.relative_to(self.root) for f in self.root.rglob("*") if f.is_file())
        return sorted(map(str, found))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(import_log, "known_pages", lambda root: lambda asked: None)
    return Desk(tmp_path)


def test_a_dry_run_says_one_line_a_question_and_writes_nothing(desk: Desk) -> None:
    assert desk.run(import_log, str(desk.log), "--dry-run") == 0
    assert desk.said.splitlines()[:3] == [
        "Question 1 (line 10): values 为什么要左移一格？",
        "Question 2 (line 46): Where do these figures come from?",
        "Question 3 (line 70), a follow-up of question 2: 给出示例",
    ]
    assert len(desk.said.splitlines()) == 6
    assert desk.files == ["talk_1.md"]


@pytest.mark.slow
def test_a_question_that_the_site_answers_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "为何gae相比mc可以降低方差？"
    known = import_log.known_pages(ROOT)
    assert known(asked) == "gae/variance"
    assert known("怎样给羊毛衫去起的球？") is None
    desk = Desk(tmp_path)
    spoken = LOG.replace("Where do these figures come from?", asked)
    spoken = spoken.replace("好的！给出示例", "为何 GAE 相比 MC 可以降低方差？")
    desk.log.write_bytes(spoken.encode())
    monkeypatch.setattr(import_log, "known_pages", lambda root: known)
    desk.run(import_log, str(desk.log), "--dry-run", language="zh")
    assert desk.said.splitlines()[1:3] == [
        f"问题 2（第 46 行），gae/variance 也许已经答了：{asked}",
        "问题 3（第 70 行），和问题 2 重复，gae/variance 也许已经答了："
        "为何 GAE 相比 MC 可以降低方差？",
    ]


def test_each_proposal_is_a_question_and_the_whole_is_one(desk: Desk) -> None:
    desk.run(import_log, str(desk.log), answers="yyyyy")
    asked = [text.splitlines()[-1].strip() for text in desk.said.split("[y/N] ")]
    assert asked[:5] == [
        "Question 3 is a follow-up of question 2: one draft for both?",
        "Question 4 is a follow-up of question 2: one draft for both?",
        "Question 5 asks question 1 again: one draft for both?",
        "Question 6 asks for a format, not about PPO: leave it out?",
        "6 questions: write 2 drafts, merge 3, leave out 1?",
    ]
    folder = "drafts/talk_1"
    names = [f"{folder}/{n}" for n in ("log.txt", "question_01.md", "question_02.md")]
    assert desk.files == [*names, "talk_1.md"]
    text = (desk.root / folder / "question_02.md").read_text("utf-8")
    assert "aliases: []" in text
    assert "Answered, question 4 { #chat-answered-3 }" in text
    assert desk.said.splitlines()[-3].endswith(
        "question_01.md, unverified: code blocks 1, figures 6, places in code 4"
    )


def test_what_is_declined_gets_a_draft_of_its_own(desk: Desk) -> None:
    # 3 is not merged into 2; 4 then belongs to 3; 5 is no duplicate; 6 stays.
    desk.run(import_log, str(desk.log), answers="nynny")
    assert "Question 4 is a follow-up of question 3: one draft for both?" in desk.said
    assert "6 questions: write 5 drafts, merge 1, leave out 0?" in desk.said
    assert len(desk.files) == 5 + 1 + 1


ANSWERED = LOG.replace("Where do these figures come from?", "Is GAE less noisy?")


def answered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log whose second question a page answers; the page, with an empty list."""
    desk.log.write_bytes(ANSWERED.encode())
    page = desk.root / "docs/en/gae/variance.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\nquestion: Does it?\naliases: []\n---\n", "utf-8")

    def search(asked: str) -> str | None:
        return "gae/variance" if "noisy" in asked else None

    monkeypatch.setattr(import_log, "known_pages", lambda root: search)
    return page


def test_what_is_answered_is_left_out_and_the_page_gets_the_wording(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = answered(desk, monkeypatch)
    # 2 is answered; 3 and 4 go on from it; 5 asks 1 again; 6 is a format; all of it.
    desk.run(import_log, str(desk.log), answers="yyyyyy")
    assert "Question 2 is perhaps answered at gae/variance: leave it out" in desk.said
    assert "Question 3 is a follow-up of question 2, which is left out" in desk.said
    assert "write 1 drafts, merge 1, leave out 4?" in desk.said
    assert 'aliases: ["Is GAE less noisy?"]' in page.read_text("utf-8")


@pytest.mark.parametrize("yes", [True, False])
def test_a_draft_all_the_same_names_the_page_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, yes: bool
) -> None:
    page = answered(desk, monkeypatch)
    if yes:  # says yes to what a machine may decide, and to no perhaps wrong page
        parser = argparse.ArgumentParser()
        import_log.options(parser, str)
        talk = Talk("en", agreed=True, out=io.StringIO())
        import_log.run(parser.parse_args([str(desk.log)]), desk.root, talk)
    else:
        desk.run(import_log, str(desk.log), answers="nyyyyy")
    assert "aliases: []" in page.read_text("utf-8")
    text = (desk.root / "drafts/talk_1/question_02.md").read_text("utf-8")
    told = text.partition("<!--\n")[2]
    assert told.startswith("Perhaps answered already at gae/variance: read that page")


def test_no_writes_nothing(desk: Desk) -> None:
    with pytest.raises(Refusal, match=r"^Nothing was written\.$"):
        desk.run(import_log, str(desk.log), answers="yyyyn")
    assert desk.files == ["talk_1.md"]
    assert not (desk.root / "drafts").exists()


def test_where_nobody_answers_nothing_is_written(desk: Desk) -> None:
    parser = argparse.ArgumentParser()
    import_log.options(parser, str)
    talk = Talk("en", out=io.StringIO(), answer=lambda: None)
    with pytest.raises(Refusal):
        import_log.run(parser.parse_args([str(desk.log)]), desk.root, talk)
    assert desk.files == ["talk_1.md"]


def test_a_log_that_breaks_the_format_is_refused_and_nothing_written(
    desk: Desk,
) -> None:
    desk.log.write_bytes(LOG.replace("### 问题 5", "### 问题 6").encode())
    with pytest.raises(Refusal) as refusal:
        desk.run(import_log, str(desk.log))
    assert str(refusal.value).splitlines()[:3] == [
        f"{desk.log}:82",
        "  found:    ### 问题 6",
        "  expected: ### 问题 5",
    ]
    with pytest.raises(Refusal) as refusal:
        desk.run(import_log, str(desk.log), language="zh")
    chinese = Talk("zh").words(str(refusal.value)).splitlines()
    assert chinese[1:3] == ["  现在：### 问题 6", "  应为：### 问题 5"]
    assert chinese[3].startswith("  改法：问题从 1 起连续编号")
    assert chinese[4] == "什么也没有写。"
    assert desk.files == ["talk_1.md"]


def test_a_file_that_is_none_is_refused(desk: Desk) -> None:
    with pytest.raises(Refusal, match=r"No file .*/nothing\.md; name a log"):
        desk.run(import_log, str(desk.root / "nothing.md"))
    with pytest.raises(Refusal, match="is a folder; name a log, as in make import"):
        desk.run(import_log, str(desk.root))
    with pytest.raises(Refusal, match=r"^Name a log, as in make import LOG=chat\.md$"):
        desk.run(import_log, "")


@pytest.mark.parametrize("name", ["question_01.md", "notes.txt"])
def test_nothing_is_written_over(desk: Desk, name: str) -> None:
    kept = desk.root / "drafts/talk_1" / name
    kept.parent.mkdir(parents=True)
    kept.write_text("mine", "utf-8")
    with pytest.raises(Refusal, match=f"{name} is in the way"):
        desk.run(import_log, str(desk.log))
    assert kept.read_text("utf-8") == "mine"
    assert len(desk.files) == 2


def test_another_folder_must_be_new_or_empty(desk: Desk) -> None:
    out = desk.root / "elsewhere"
    out.mkdir()
    desk.run(import_log, str(desk.log), "--out", str(out), answers="yyyyy")
    assert (out / "question_02.md").is_file()
    with pytest.raises(Refusal, match=r"log\.txt is in the way"):
        desk.run(import_log, str(desk.log), "--out", str(out))
    with pytest.raises(Refusal, match=r"talk_1\.md is in the way"):
        desk.run(import_log, str(desk.log), "--out", str(desk.log))
    hidden = desk.root / "link"
    hidden.symlink_to("nowhere")
    with pytest.raises(Refusal, match="link is in the way"):
        desk.run(import_log, str(desk.log), "--out", str(hidden))


def test_all_drafts_or_none(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == "question_02.md":
            raise OSError(28, "No space left on device")
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Refusal, match="cannot be written: No space left"):
        desk.run(import_log, str(desk.log), answers="yyyyy")
    assert desk.files == ["talk_1.md"]


def test_the_drafts_give_the_log_back_byte_for_byte(desk: Desk) -> None:
    desk.run(import_log, str(desk.log), answers="yyyyy")
    desk.log.unlink()
    back = desk.root / "back.md"
    desk.run(export, str(desk.root / "drafts/talk_1"), "-o", str(back))
    assert back.read_bytes() == LOG.encode()
    assert desk.said == f"Written: {back}\n"
    with pytest.raises(Refusal, match="exists; nothing was written"):
        desk.run(export, str(desk.root / "drafts/talk_1"), "-o", str(back))


def test_to_the_output_go_bytes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.run(import_log, str(desk.log), answers="yyyyy")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    options = argparse.Namespace(
        pages=[str(desk.root / "drafts/talk_1")], output=None, language=None, time=None
    )
    assert export.run(options, desk.root, Talk("en")) == 0
    assert out.getvalue() == LOG.encode()


PAGE = """---
question: Is two the sum?
---

## It is { #answer }

**Yes.** It is `2.00`{ data-is="total" }, not `x`.

### 问题 9 { #odd }

```{ .python .cont }
--8<-- "gae/sum.py:add"
```

```output
total 2
```

=== "a tab"

    ``` { .python .norun data-reason="long" }
    ```
"""
ANSWER = """## It is

**Yes.** It is 2.00, not `x`.

\\### 问题 9

```python
total = 1 + 1
print("total", total)
```

```output
total 2
```

=== "a tab"

    ```python
    ```
"""


@pytest.fixture
def site(desk: Desk) -> Desk:
    for file, text in {
        "docs/en/gae/sum.md": PAGE,
        "docs/zh/gae/product.md": PAGE.replace("Is two the sum?", "积是二么？"),
        "snippets/gae/sum.py": "# --8<-- [start:add]\ntotal = 1 + 1\n"
        'print("total", total)\n# --8<-- [end:add]\n',
    }.items():
        (desk.root / file).parent.mkdir(parents=True, exist_ok=True)
        (desk.root / file).write_text(text, "utf-8")
    return desk


def test_a_page_becomes_a_round_of_a_log(site: Desk) -> None:
    site.run(export, "gae/sum", "docs/en/gae/sum.md", "--time", "2026-03-01 20:15:00")
    log = read(site.said.encode(), "log.md")
    assert log.time == "2026-03-01 20:15:00"
    assert [each.question for each in log.rounds] == ["Is two the sum?\n"] * 2
    assert log.rounds[1].answer == ANSWER
    assert log.rounds[0].answer == f"{ANSWER}\n---\n\n"


def test_what_export_refuses(site: Desk) -> None:
    with pytest.raises(
        Refusal, match=r"No docs/en/gae/product\.md, but docs/zh/gae/pro"
    ):
        site.run(export, "gae/product")
    site.run(export, "gae/product", "--language", "zh")
    assert "用户：积是二么？\n" in site.said
    with pytest.raises(Refusal, match="No page gae/som; the nearest is gae/sum"):
        site.run(export, "gae/som")
    with pytest.raises(Refusal, match=r"without a leading / or \.\."):
        site.run(export, "../secret")
    with pytest.raises(Refusal, match="expected: a time below"):
        site.run(export, "gae/sum", "--time", "yesterday")
    (site.root / "snippets/gae/sum.py").unlink()
    with pytest.raises(Refusal, match="an include that pymdownx can resolve"):
        site.run(export, "gae/sum")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_real_pages_make_a_log_that_can_be_read(desk: Desk, language: str) -> None:
    pages = ["contribute/dialogue_log", "gae/variance", "alignment/value_before_token"]
    shutil.copytree(ROOT / "docs", desk.root / "docs")
    (desk.root / "snippets").symlink_to(ROOT / "snippets")
    desk.run(export, *pages, language=language)
    log = read(desk.said.encode(), "log.md")
    assert len(log.rounds) == 3
    for each in log.rounds:
        assert "data-is" not in each.answer
        assert "--8<-- " not in each.answer
        assert "{ #" not in each.answer


@pytest.mark.skipif(
    not DIALOGUES.is_dir(), reason="the dialogues lie beside the project, unpublished"
)
def test_the_five_dialogues_become_22_drafts_and_come_back(desk: Desk) -> None:
    drafts, agreed = (
        0,
        {"000": "yy", "001": "y", "002": "yy", "003": "y", "004": "yyyy"},
    )
    for file in sorted(DIALOGUES.glob("*.txt")):
        out = desk.root / file.stem
        answers = agreed[file.name[:3]]
        desk.run(import_log, str(file), "--out", str(out), answers=answers)
        drafts += len(list(out.glob("question_*.md")))
        back = desk.root / f"{file.stem}.md"
        desk.run(export, str(out), "-o", str(back))
        assert back.read_bytes() == file.read_bytes()
    assert drafts == 27 - 2 - 3


@pytest.mark.slow
@pytest.mark.skipif(
    not DIALOGUES.is_dir(), reason="the dialogues lie beside the project, unpublished"
)
def test_the_home_of_each_question_of_the_five_dialogues_is_found() -> None:
    known = import_log.known_pages(ROOT)
    homes = {a.id: a.page for d in sources.dialogues(ROOT) for a in d.questions}
    for file in sorted(DIALOGUES.glob("*.txt")):
        for each in sort(read(file.read_bytes(), file.name)):
            asked = cleaned(each.round.question)[: import_log.SEARCHED]
            if each.kind is not Kind.FORMAT:
                home = homes.pop(f"{file.name[:3]}·{each.round.number}")
                assert known(asked) == home
    assert list(homes) == ["000·2", "002·2", "004·12"]
