"""Exports of further tools: text, code and roles come over whole, the rest is counted.

The files are made by hand, in the shape of the real ones and no larger than needed.
"""

import json
import time

import pytest

from site_tools.contributing import activity, artifacts
from site_tools.contributing.chat import rounds, tripled_formulas
from site_tools.contributing.formats import read_chats
from site_tools.contributing.log import Broken
from tests.contributing.trial import command

CODE = "for t in reversed(range(T)):\n    last = delta[t] + gamma * last"
ANSWER = f"So:\n\n```python\n{CODE}\n```\n\nAnd $x$."
Said = list[tuple[str, str]]


def read(value: object, name: str = "a.json") -> tuple[Said, list[int]]:
    """The rounds of the one conversation of a file, and how much was not taken."""
    (chat,) = read_chats(_bytes(value), name)
    said = [(r.question.strip(), r.answer.strip()) for r in rounds(chat.turns)]
    return said, [int(str(left.values["count"])) for left in chat.left]


def _bytes(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return json.dumps(value, ensure_ascii=False).encode()


WEBUI = {
    "id": "c",
    "user_id": "u",
    "title": "GAE",
    "chat": {
        "title": "GAE",
        "models": ["qwen"],
        "messages": [{"role": "user", "content": "Why is 0.5 not here?"}],
        "history": {
            "currentId": "4",
            "messages": {
                "1": {"id": "1", "parentId": None, "role": "user", "content": "Why?"},
                "2": {
                    "id": "2",
                    "parentId": "1",
                    "role": "assistant",
                    "content": "No.",
                },
                "3": {
                    "id": "3",
                    "parentId": "1",
                    "role": "assistant",
                    "content": "So.",
                },
                "5": {"id": "5", "parentId": "3", "role": "user", "content": "为何？"},
                "4": {
                    "id": "4",
                    "parentId": "5",
                    "role": "assistant",
                    "content": ANSWER,
                },
            },
        },
    },
}


def test_open_webui_gives_the_branch_that_was_last_shown():
    (found,) = read_chats(_bytes([WEBUI]), "a.json")
    assert found.title == "GAE" and found.format.key == "format_webui"
    assert read([WEBUI]) == ([("Why?", "So."), ("为何？", ANSWER)], [1])
    assert read({"history": WEBUI["chat"]["history"]})[0] == read([WEBUI])[0]


def test_ai_studio_leaves_out_thoughts_and_says_so():
    chunks = [
        {"role": "user", "text": "Why?", "tokenCount": 2},
        {"role": "user", "driveDocument": {"id": "x"}},
        {"role": "model", "text": "**Planning**", "isThought": True},
        {"role": "model", "text": ANSWER, "finishReason": "STOP"},
    ]
    exported = {"runSettings": {}, "chunkedPrompt": {"chunks": chunks}}
    assert read(exported) == ([("Why?", ANSWER)], [2])


def test_copilot_gives_markdown_edits_and_names():
    response = [
        {"kind": "thinking", "value": "hm"},
        {"value": "See ", "supportThemeIcons": False},
        {"kind": "inlineReference", "name": "gae.py", "inlineReference": {}},
        {"value": f".\n\n{ANSWER}"},
        {"kind": "toolInvocationSerialized", "toolId": "x"},
        {
            "kind": "textEditGroup",
            "uri": {"path": "/w/gae.py"},
            "edits": [[{"text": CODE, "range": {}}]],
        },
    ]
    exported = {
        "requesterUsername": "me",
        "responderUsername": "GitHub Copilot",
        "requests": [
            {"message": {"text": "Why?", "parts": []}, "response": response},
            {"message": {"text": "And so?"}, "response": [{"value": "Yes."}]},
        ],
    }
    edit = f"/w/gae.py\n\n```\n{CODE}\n```"
    due = f"See `gae.py`.\n\n{ANSWER}\n\n{edit}"
    assert read(exported) == ([("Why?", due), ("And so?", "Yes.")], [2])


def codex(kind: str, **payload: object) -> str:
    return json.dumps({"timestamp": "2026-01-01", "type": kind, "payload": payload})


def said_to_codex(role: str, kind: str, text: str) -> str:
    content = [{"type": kind, "text": text}]
    return codex("response_item", type="message", role=role, content=content)


def test_codex_gives_what_was_said_once_and_counts_its_tools():
    context = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"
    rows = [
        codex("session_meta", id="s", cwd="/w", cli_version="0.65.0"),
        said_to_codex("user", "input_text", context),
        said_to_codex("user", "input_text", "Why?"),
        codex("event_msg", type="user_message", message="Why?"),
        codex("response_item", type="reasoning", summary=[]),
        codex("response_item", type="function_call", name="shell", arguments="{}"),
        said_to_codex("assistant", "output_text", ANSWER),
        codex("event_msg", type="agent_message", message=ANSWER),
    ]
    assert read("\n".join(rows), "rollout.jsonl") == ([("Why?", ANSWER)], [3])


def test_an_older_deepseek_says_who_speaks_by_turns():
    texts = ["Why?", "No.", "And?", ANSWER]
    nodes: dict[str, object] = {"root": {"id": "root", "parent": None, "message": None}}
    for number, text in enumerate(texts, 1):
        message = {"content": text, "reasoning_content": "hm", "inserted_at": "2025"}
        parent = str(number - 1) if number > 1 else "root"
        nodes[str(number)] = {"id": str(number), "parent": parent, "message": message}
    exported = [{"id": "c", "title": "GAE", "mapping": nodes}]
    assert read(exported) == ([("Why?", "No."), ("And?", ANSWER)], [])


def activity_row(title: str, time: str, html: str = "") -> dict[str, object]:
    row = {"header": "Gemini Apps", "title": title, "time": time}
    return row | ({"safeHtmlItem": [{"html": html}]} if html else {})


HTML = (
    "<p>So <b>it</b> is:</p><pre><code class='language-python'>"
    "for t in reversed(range(T)):\n    last = delta[t] + gamma * last"
    "</code></pre><ul><li>a &lt; b</li><li>c</li></ul>"
    "<table><tr><th>x</th><th>y</th></tr><tr><td>0.1</td><td>0.2</td></tr></table>"
)
TABLE = "| x | y |\n| 0.1 | 0.2 |"
AS_TEXT = f"So **it** is:\n\n```python\n{CODE}\n```\n\n- a < b\n- c\n\n{TABLE}"


def test_gemini_takeout_as_json_is_joined_by_time():
    rows = [  # the newest first
        activity_row("Used Gemini Apps", "2026-03-02T09:00:00.000Z"),
        activity_row("Prompted Another day?", "2026-03-02T08:00:00Z", "<p>Yes.</p>"),
        activity_row("Prompted And then?", "2026-03-01T10:20:00.5Z", HTML),
        activity_row("Prompted Why?", "2026-03-01T10:00:00.000Z", "<p>No.</p>"),
    ]
    first, second = read_chats(_bytes(rows), "MyActivity.json")
    said = [(r.question, r.answer) for r in rounds(first.turns)]
    assert said == [("Why?", "No."), ("And then?", AS_TEXT)]
    assert [(r.question, r.answer) for r in rounds(second.turns)] == [
        ("Another day?", "Yes.")
    ]
    assert [left.values for left in first.left] == [{"count": 1}]


def test_gemini_takeout_as_a_page_gives_prompts_and_answers():
    def cell(inside: str, header: str = "Gemini Apps") -> str:
        title = f'<div class="header-cell"><p>{header}<br></p></div>'
        body = f'<div class="content-cell mdl-typography--body-1">{inside}</div>'
        right = '<div class="content-cell mdl-typography--text-right"></div>'
        return f'<div class="outer-cell"><div>{title}{body}{right}</div></div>'

    when = "Mar 1, 2026, 10:00:00 AM CET"
    page = "<html><head><title>My Activity</title></head><body>"
    page += cell(f"Prompted\xa0Why?<br>{when}<br>{HTML}")
    page += cell(f"Watched\xa0a video<br>{when}<br>", "YouTube") + "</body></html>"
    assert read(page, "MyActivity.html") == ([("Why?", AS_TEXT)], [1])
    with pytest.raises(Broken, match="HTML"):
        read_chats(b"<html><body><p>User: a</p></body></html>", "a.html")


CURSOR = f"""# Advantages
_Exported on 7/8/2025 at 19:03:40 PDT from Cursor (1.2.1)_

---

**User**

Why?

---

**Cursor**

{ANSWER}
"""


@pytest.mark.parametrize(
    "text",
    [
        CURSOR,
        f"【用户】\nWhy?\n\n【助手】\n{ANSWER}\n",
        f"【用户】Why?\n【AI】{ANSWER}\n",
        f"[用户]\nWhy?\n[元宝]\n{ANSWER}\n",
        f"【问】Why?\n【答】{ANSWER}\n",
        f"[USER]\nWhy?\n\n[ASSISTANT]\n{ANSWER}\n",
    ],
)
def test_marks_in_brackets_and_those_of_cursor(text):
    ((question, answer),), left = read(text, "chat.md")
    assert (question.partition("\n")[0], answer, left) == ("Why?", ANSWER, [])


def test_a_link_is_no_mark():
    text = "User: Why?\nAssistant: See\n[user](a.md) and\n[AI](b.md)\n[user][1]\n"
    said, _ = read(text, "chat.md")
    assert len(said) == 1 and "[user](a.md)" in said[0][1]


# Code beside a chat.


def canvas(call: str, name: str = "create") -> dict[str, object]:
    return {
        "author": {"role": "assistant"},
        "recipient": f"canmore.{name}_textdoc",
        "content": {"content_type": "code", "text": call},
    }


def chatgpt(*messages: dict[str, object]) -> list[dict[str, object]]:
    asked = {"author": {"role": "user"}, "content": {"parts": ["Why?"]}}
    nodes, parent = {}, None
    for number, message in enumerate([asked, *messages]):
        nodes[str(number)] = {"parent": parent, "message": message}
        parent = str(number)
    return [{"title": "x", "current_node": parent, "mapping": nodes}]


@pytest.mark.parametrize(
    ("message", "due"),
    [
        (
            canvas(json.dumps({"name": "gae", "type": "code/python", "content": CODE})),
            f"gae\n\n```python\n{CODE}\n```",
        ),
        (
            canvas(json.dumps({"name": "n", "type": "document", "content": "```a```"})),
            "n\n\n````\n```a```\n````",
        ),
        (
            canvas(
                json.dumps({"updates": [{"pattern": ".*", "replacement": CODE}]}),
                "update",
            ),
            f"```\n{CODE}\n```",
        ),
        (
            canvas(
                json.dumps({"updates": [{"pattern": "a = 1", "replacement": "a = 2"}]}),
                "update",
            ),
            "```\na = 1\n```\n\n->\n\n```\na = 2\n```",
        ),
        (canvas('{"name": "cut off'), '```\n{"name": "cut off\n```'),
    ],
)
def test_a_canvas_of_chatgpt_is_a_block(message, due):
    assert read(chatgpt(message)) == ([("Why?", due)], [])


def test_what_a_canvas_answers_and_other_tools_are_counted():
    done = {"author": {"role": "tool"}, "content": {"parts": ["ok"]}}
    python = {**canvas("x = 1"), "recipient": "python"}
    made = canvas(json.dumps({"type": "code/python", "content": CODE}))
    said, left = read(chatgpt(made, done, python))
    assert said == [("Why?", f"```python\n{CODE}\n```")] and left == [2]


def claude(*parts: dict[str, object]) -> list[dict[str, object]]:
    asked = {
        "uuid": "1",
        "sender": "human",
        "content": [{"type": "text", "text": "Why?"}],
    }
    answered = {"uuid": "2", "sender": "assistant", "content": [*parts]}
    return [{"name": "x", "chat_messages": [asked, answered]}]


def test_an_artifact_of_claude_is_a_block_where_it_was_made():
    made = {"id": "a", "title": "GAE", "language": "python", "command": "create"}
    change = {"command": "update", "old_str": "a = 1", "new_str": "a = 2"}
    file = {"path": "/w/gae.py", "file_text": CODE}
    said, left = read(
        claude(
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Here:"},
            {
                "type": "tool_use",
                "name": "artifacts",
                "input": {**made, "content": CODE},
            },
            {"type": "tool_result", "content": "OK"},
            {"type": "tool_use", "name": "artifacts", "input": change},
            {"type": "tool_use", "name": "create_file", "input": file},
            {"type": "tool_use", "name": "web_search", "input": {"query": "gae"}},
            {"type": "text", "text": "Done."},
        )
    )
    due = [
        "Here:",
        f"GAE\n\n```python\n{CODE}\n```",
        "```\na = 1\n```\n\n->\n\n```\na = 2\n```",
        f"/w/gae.py\n\n```\n{CODE}\n```",
        "Done.",
    ]
    assert said == [("Why?", "\n\n".join(due))] and left == [3]


def test_an_artifact_between_tags_is_a_block_and_an_open_one_is_kept():
    head = '<antArtifact identifier="a" type="x" language="python" title="GAE">'
    text = f"Here: <antThinking>hm</antThinking>{head}\n{CODE}\n</antArtifact> Done."
    said, _ = read(claude({"type": "text", "text": text}))
    assert said[0][1] == f"Here: \n\nGAE\n\n```python\n{CODE}\n```\n\n Done."
    fenced = f"{head}\n```python\n{CODE}\n```\n</antArtifact>"
    assert artifacts.with_blocks(fenced).count("```") == 2
    cut = f"Here: {head}\n{CODE}"
    assert artifacts.with_blocks(cut) == cut


def test_the_command_says_what_it_did_not_take(desk):
    (desk / "a.json").write_bytes(_bytes(claude({"type": "thinking"}, {"text": "So."})))
    said = command(desk, "import", str(desk / "a.json"), "--dry-run")[1]
    assert "Not taken: 1 parts of messages (thoughts, calls of tools" in said


# Hostile files end soon, and lose no word.


def test_many_tags_that_never_close_take_no_time():
    text = "</antArtifact></antThinking>" + "<antArtifact <antThinking>" * 20_000
    start = time.monotonic()
    assert artifacts.with_blocks(text) == text
    assert time.monotonic() - start < 2


def test_tags_in_tags_by_the_thousand_keep_their_words():
    assert activity.as_text("<b>" * 3000 + "word" + "</b>" * 3000) == "word"
    assert activity.as_text("a<script>b()</script><!-- c -->d") == "ad"


@pytest.mark.parametrize("value", ["x", 1, None, [], {}, [None], [[1]], {"a": 1}])
@pytest.mark.parametrize(
    "shape",
    [
        lambda value: {"chat": value},
        lambda value: {"chat": {"history": value}},
        lambda value: {"chat": {"history": {"messages": value, "currentId": value}}},
        lambda value: {"chunkedPrompt": value},
        lambda value: {"chunkedPrompt": {"chunks": value}},
        lambda value: {"requests": value},
        lambda value: {"requests": [{"message": value, "response": value}]},
        lambda value: {"requests": [{"response": [{"kind": value, "value": value}]}]},
        lambda value: {"type": "response_item", "payload": value},
        lambda value: {"type": "response_item", "payload": {"content": value}},
        lambda value: {
            "mapping": {"1": {"parent": value, "message": {"content": "a"}}}
        },
        lambda value: {"header": "Gemini Apps", "title": value, "safeHtmlItem": value},
        lambda value: {"header": "Gemini Apps", "time": value, "title": "Prompted a"},
    ],
)
def test_an_export_of_any_shape_is_read_or_refused_in_our_words(shape, value):
    try:
        assert read_chats(_bytes([shape(value)]), "a.json")
    except Broken as broken:
        assert broken.problem.fix


# Formulas that a page gives three times to who copies them.

TEX = r"\hat{A}_t=\sum_l \delta_{t+l}"
TRIPLED = f"其中 A^t=∑lδt+l{TEX}A^t\u200b=∑l\u200bδt+l\u200b 是优势。"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (TRIPLED, 1),
        (f"{TRIPLED}\n\n{TRIPLED}\n", 2),
        (f"```\n{TRIPLED}\n```\n", 0),
        ("$\\hat{A}_t$ is A_t, and so is \\(A_t\\).", 0),
        ("A zero\u200bwidth sign alone", 0),
    ],
)
def test_a_formula_that_comes_three_times_is_counted(text, count):
    assert tripled_formulas(text) == count


def test_a_formula_that_comes_three_times_is_told(desk):
    (desk / "a.md").write_text(f"用户：为什么？\n助手：{TRIPLED}\n", "utf-8")
    said = command(desk, "import", str(desk / "a.md"), "--dry-run")[1]
    assert "three times in a row: 1; in each keep the TeX" in said
    said = command(desk, "import", str(desk / "a.md"), "--dry-run", lang="zh")[1]
    assert "这样的行有 1 行" in said
