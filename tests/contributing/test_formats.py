"""A chat as people have it: read, whatever it came in, or the remedy named."""

import io
import json
from pathlib import Path

import pytest
import yaml

from site_tools.contributing import chat
from site_tools.contributing.chat import chat_title, draft, rounds
from site_tools.contributing.formats import read_chats
from site_tools.contributing.log import Broken, Turn
from tests.contributing.trial import command, state

CHATS = Path(__file__).with_name("chats")

TITLED = yaml.safe_load(Path(__file__).with_name("chats.yml").read_text("utf-8"))


@pytest.mark.parametrize("name", TITLED)
def test_every_format_gives_its_conversations(name):
    chats = read_chats((CHATS / name).read_bytes(), name)
    found = {chat_title(each): rounds(each.turns) for each in chats}
    assert [*found] == [*TITLED[name]]
    for title, expected in TITLED[name].items():
        asked = [chat.title(each.question) for each in found[title]]
        assert asked == [*expected]
        for each, answer in zip(found[title], expected.values(), strict=True):
            assert each.answer.strip().startswith(answer)
    assert {path.name for path in CHATS.iterdir()} == {*TITLED}


def drafted(name: str) -> list[str]:
    first, *_ = read_chats((CHATS / name).read_bytes(), name)
    return [draft(each, "drafts/a.md") for each in rounds(first.turns)]


def test_a_draft_has_formulas_as_a_page_writes_them_and_pictures_by_name():
    clipping, _ = drafted("chatgpt.json")
    assert "\nBecause $V$ moves.\n\n$$\nL = \\max(a, b) \\\\[4pt]\n$$\n" in clipping
    assert "\n![file-service://file-k3](not-fetched)\n\nWhy does" in clipping
    assert "\n| 0.6 | 0.12 |\n" in drafted("chatgpt.json")[1]
    assert "![curve.png](not-fetched)\n\n" not in drafted("claude.json")[0]
    assert "![log.txt](not-fetched)" in drafted("deepseek.json")[0]
    assert "for t in reversed(range(T)):" in drafted("share.md")[0]
    assert "`\\(x\\)` $y$" in chat.with_dollars("`\\(x\\)` \\(y\\)")
    code = "```\n\\(x\\)\n```\n"
    assert chat.with_dollars(code) == code


@pytest.mark.parametrize(
    ("asks", "answers"),
    [
        ("User:", "Assistant:"),
        ("Human:", "AI:"),
        ("Q:", "A:"),
        ("**You:**", "**ChatGPT:**"),
        ("**You**:", "**Claude**:"),
        ("## Prompt:", "## Response:"),
        ("### User", "### ChatGPT"),
        ("# 用户：", "# DeepSeek："),
        ("###### You said:", "###### ChatGPT said:"),
        ("您说：", "ChatGPT 说："),
        ("我:", "答:"),
        ("问：", "GPT-4o："),
        ("User", "AI"),
        ("🧑 **User**", "🤖 **Assistant**"),
        ("你：", "豆包："),
    ],
)
def test_marks_that_people_paste(asks, answers):
    rows = [f"{asks}\nWhy is {n}?\n\n{answers}\nSo: {n}." for n in ("0.1", "0.2")]
    if asks.endswith((":", "：", ":**")):
        rows.append(f"{asks} Why is 0.3?\n{answers} So: 0.3.")
    (found,) = read_chats("\n\n".join(rows).encode(), "chat.md")
    each = [(r.question.strip(), r.answer.strip()) for r in rounds(found.turns)]
    values = ("0.1", "0.2", "0.3")[: len(rows)]
    assert each == [(f"Why is {n}?", f"So: {n}.") for n in values]


def test_a_message_in_each_line_is_one_conversation():
    said = [("user", "Why?"), ("assistant", [{"type": "text", "text": "So."}])]
    rows: list[dict[str, object]] = [{"role": r, "content": c} for r, c in said]
    tool = {"role": "user", "content": [{"type": "tool_result", "content": "x"}]}
    session = [{"type": "summary"}, *({"message": row} for row in [*rows, tool])]
    for lines in (rows, session):
        (found,) = read_chats("\n".join(map(json.dumps, lines)).encode(), "a.jsonl")
        assert rounds(found.turns) == [(1, "Why?", "So.")]
    (found,) = read_chats(json.dumps(rows, indent=1).encode(), "a.json")
    assert rounds(found.turns) == [(1, "Why?", "So.")]


HEADED = "**User:** Ann (a@example.invalid)\n\n## Prompt:\nWhy?\n\n## Response:\nSo."
LATER = "User: Why?\nAssistant: So.\nPrompt: a\nPrompt: b\nAI: c\nYou can: d"


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("Hi.\nWhy is it 0.5? I use verl.\nThank you all very much!", "Why is it 0.5?"),
        ("I use verl 0.9 on eight cards. what is the ratio\nthx", "what is the ratio"),
        ("你好！values 要不要 detach\n谢谢！", "values 要不要 detach"),
        ("好的！给出示例", "给出示例"),
    ],
)
def test_the_sentence_that_asks_is_the_question(said, asks):
    assert chat.title(said) == asks
    for thanks in ("thx", "Thanks a lot!", "好的，谢谢你！"):
        turns = [Turn(True, said), Turn(False, "a"), Turn(True, thanks)]
        assert len(rounds([*turns, Turn(False, "b")])) == 1


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        ("User: Why?\nUser: 0.4?\nAI: So.\nAI: Or so.", "Why? 0.4?", "So. Or so."),
        (HEADED, "Why?", "So."),
        (LATER, "Why?", "So. Prompt: a Prompt: b AI: c You can: d"),
    ],
)
def test_turns_of_one_side_and_what_looks_like_a_mark_are_one_round(
    text, question, answer
):
    (found,) = read_chats(text.encode(), "chat.md")
    ((number, asked, answered),) = rounds(found.turns)
    assert (number, " ".join(asked.split())) == (1, question)
    assert " ".join(answered.split()) == answer


TEXT = (CHATS / "share_zh.md").read_text("utf-8") + "上\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_marks_of_an_encoding_and_ends_of_lines_are_no_matter(encoding, end):
    (found,) = read_chats(TEXT.replace("\n", end).encode(encoding), "chat.md")
    assert found == read_chats(TEXT.encode(), "chat.md")[0]


# A bad file, its line, and what the message must say: the thing, and the remedy.
BAD = [
    (b"", 1, "an empty file", "paste it into this file"),
    (b"\xef\xbb\xbf \n", 1, "an empty file", "paste it"),
    (b"%PDF-1.7\n%\xe2\xe3", 1, "a file of PDF", "copy it into a new file chat.md"),
    (b"\x89PNG\r\n\x1a\n\0", 1, "a file of PNG", "copy the chat itself"),
    (b"\n<!DOCTYPE html><html>", 1, "a file of HTML", "chat.md"),
    (b"PK\x03\x04\x14\0", 1, "a ZIP archive", "name conversations.json out of it"),
    (TEXT.encode("utf-16-le"), 1, "UTF-16 without a BOM", "-f UTF-16LE -t UTF-8 a.md"),
    (TEXT.encode("utf-16")[:-1], 12, "middle of a character", "copy or download it"),
    (TEXT.encode("gbk"), 1, "read as GBK, the line is: ratio 第一次", "-f GB18030"),
    (b"User: \xff\xff?", 1, "the byte 0xff", "save it as plain text in UTF-8"),
    (TEXT.encode()[:-2], 12, "middle of a character", "copy or download it"),
    (
        b'[{"title": "a",\n"mapping": {"q": 1, "r',
        2,
        "JSON that ends in the middle",
        "export or download it",
    ),
    (
        b'[{"mapping":\n{"q": nul}},\n{}\n]',
        2,
        "broken JSON: Expecting",
        "export it once",
    ),
    (b'{"messages":[]}\n{"mess', 2, "JSON that ends in the middle", "export or"),
    (b'[{"user":"a","id":1}]', 1, "no chat: user, id", '{"messages":[{"role":"user"'),
    (b"[]", 1, "no chat: []", "conversations.json"),
    (b'{"messages":[]}', 1, "nobody asks anything", "the right file"),
    (b"User: a\nUser: b", 1, "2 questions marked User:", "write a line Assistant:"),
    (b"x\nAI: a\nAI: b", 2, "2 answers marked AI:", "write a line User:"),
    (b"Why?\nSo.\n", 1, "not say who speaks; it begins: Why?", "write a line User:"),
    (b"User: a\nAI: b\n```py\nx", 3, "code opened by ```", "add a line ```"),
]


@pytest.mark.parametrize(("content", "line", "found", "fix"), BAD)
def test_a_file_that_cannot_be_read_is_named_with_the_remedy(content, line, found, fix):
    with pytest.raises(Broken) as broken:
        read_chats(content, "a.md")
    problem = broken.value.problem
    assert (problem.path, problem.line) == ("a.md", line)
    assert found in problem.found and fix in problem.fix
    assert len(problem.remarks("zh").splitlines()) == 3


HOSTILE = [1, None, "x", [], {}, [[]], {"a": 1}]


@pytest.mark.parametrize("key", ["mapping", "chat_messages", "messages"])
@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_json_of_any_shape_is_refused_in_our_words(key, value):
    node = dict.fromkeys(("role", "sender", "message", "content", "author"), value)
    node |= {"parent": "b", "uuid": "b", "parent_message_uuid": "b", "files": value}
    for nodes in (value, [value], {"b": value}, {"b": node}, [node, node]):
        with pytest.raises(Broken):
            read_chats(json.dumps([{key: nodes}, value]).encode(), "a.json")


# The command.


def bring(root: Path, name: str, *words: str, **how) -> tuple[int, list[str]]:
    code, said = command(root, "import", str(CHATS / name), *words, **how)
    return code, said.splitlines()


def test_where_there_are_many_one_is_chosen(desk):
    code, said = bring(desk, "chatgpt.json")
    assert code == 1 and said[1:3] == ["    1  Value clipping", "    2  Dinner"]
    assert said[-1].endswith('as in ARGS="--chat 1"') and not state(desk)
    assert bring(desk, "chatgpt.json", "--yes", says="2")[0] == 1 and not state(desk)
    replies = iter(["7", "zzz", "clip", "y"])
    code, said = bring(desk, "chatgpt.json", answer=lambda: next(replies))
    assert code == 0 and {*state(desk)} == {
        f"drafts/chatgpt_1/question_{n:02}.md" for n in (1, 2)
    }
    assert sum("No conversation is" in line for line in said) == 2
    code, said = bring(desk, "chatgpt.json", "--chat", "2", "--yes")
    assert code == 0 and "drafts/chatgpt_2/question_01.md" in state(desk)
    assert said[0].startswith("Read as an export of ChatGPT or DeepSeek")
    assert "Question 1: Soup or salad?" in said


def test_what_is_left_out_and_not_fetched_is_said(desk):
    said = bring(desk, "chatgpt.json", "--chat", "clipping", "--dry-run")[1]
    assert "Not taken: 6 messages (of the system, of tools" in said[-2]
    assert said[-1] == "Pictures: 1, named in the drafts; none is fetched"
    said = bring(desk, "human.txt", "--dry-run")[1]
    assert said[0] == "Read as text, asked at “Human:”, answered at “Assistant:”"
    assert "Taken as text, with their lines: User: (12), Answer: (13); wh" in said[-1]
    code, text = command(desk, "import", "https://chatgpt.com/share/1")
    assert code == 1 and "copy the whole page into a file chat.md" in text


def test_questions_that_differ_in_a_number_are_questions_of_their_own(
    desk, monkeypatch
):
    made, search = [], chat.search
    monkeypatch.setattr(chat, "search", lambda pages: made.append(0) or search(pages))
    log = "".join(f"User: Why {n / 8}?\nAI: {n * 3 / 8}\n" for n in range(1, 121))
    (desk / "chat.txt").write_text(log, "utf-8")
    code, _ = command(desk, "import", str(desk / "chat.txt"), "--yes")
    drafts = [name for name in state(desk) if name.startswith("drafts/chat/")]
    assert code == 0 and len(drafts) == 120
    assert "drafts/chat/question_007.md" in drafts
    assert len(made) == 1, "the wordings are indexed once, or time is lost on each"


def test_a_terminal_gets_a_bar(desk):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    talk = chat.Talk(out=terminal)
    assert [*talk.progress(range(1000))] == [*range(1000)]
    steps = terminal.getvalue().split("\r")
    assert len(steps) == 41 and steps[-1] == f"[{'#' * 40}] 1000/1000\n"
