"""A chat as people have it, read: each format is a function, and they are a table.

Whatever the format, a chat becomes turns, and nothing behind them knows where they
came from. No picture and no link is fetched: they keep their names.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from textwrap import dedent
from typing import Any, NamedTuple

from site_tools.contributing import activity
from site_tools.contributing.artifacts import (
    artifact_block,
    canvas_block,
    with_blocks,
)
from site_tools.contributing.exports import unwrapped
from site_tools.contributing.log import (
    Broken,
    Turn,
    fence_after,
    is_log,
    lines_of,
    read_log,
    shortened,
)
from site_tools.messages import Message


class Chat(NamedTuple):
    """A conversation: its title, its turns, its format, and what was not taken."""

    title: str
    turns: list[Turn]
    format: Message
    left: tuple[Message, ...] = ()

    @property
    def has_question(self) -> bool:
        return any(turn.asks for turn in self.turns)


def read_chats(content: bytes, path: str) -> list[Chat]:
    """The conversations of a file that have a question, in its order."""
    text = _text_of_bytes(content, path)
    for of_format in FORMATS:
        chats = of_format(text, path)
        if not chats:
            continue
        asked = [chat for chat in chats if chat.has_question]
        if not asked:
            raise Broken(path, 1, "chat_no_question", format=chats[0].format)
        return asked
    line = next(filter(str.strip, lines_of(text)))
    raise Broken(path, 1, "chat_unknown", found=shortened(line.strip()))


# From bytes to text.

NO_TEXT = {
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"\xd0\xcf\x11\xe0": "Word",
    b"{\\rtf": "RTF",
    b"<!doctype": "HTML",
    b"<html": "HTML",
}
MARKS_16 = (b"\xff\xfe", b"\xfe\xff")


def _text_of_bytes(content: bytes, path: str) -> str:
    opening = content[:64].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for start, kind in NO_TEXT.items():
        if opening.startswith(start.lower()) and not _is_takeout(content, kind):
            raise Broken(path, 1, "chat_no_text", kind=kind)
    if opening.startswith(b"pk\x03\x04"):
        raise Broken(path, 1, "chat_zip")
    marked = content.startswith(MARKS_16)
    if not marked and b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise Broken(path, line, "chat_zeros")
    encoding = "utf-16" if marked else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, "replace")
        raise _no_utf_8(content, path, 1 + before.count("\n"), error) from None
    if not text.strip():
        raise Broken(path, 1, "chat_empty")
    return re.sub("\r\n?", "\n", text)


def _is_takeout(content: bytes, kind: str) -> bool:
    """True for the one page of HTML that is read: the activities of Gemini."""
    return kind == "HTML" and activity.is_activity_page(
        content.decode(errors="replace")
    )


def _no_utf_8(content: bytes, path: str, line: int, why: UnicodeDecodeError) -> Broken:
    if "unexpected end" in why.reason or "truncated" in why.reason:
        return Broken(path, line, "chat_cut")
    try:
        text = content.decode("gb18030")
    except UnicodeDecodeError:
        return Broken(path, line, "chat_encoding", byte=f"{content[why.start]:02x}")
    return Broken(path, line, "chat_gbk", text=shortened(text.split("\n")[line - 1]))


# Our own.


def _own(text: str, path: str) -> list[Chat]:
    if not is_log(text):
        return []
    return [Chat("", read_log(text, path), Message("format_log"))]


# JSON: what ChatGPT, DeepSeek and Claude export, and lists of messages.

PAGE_OF_HTML = re.compile(r"\s*<(?:!doctype|html)\b", re.IGNORECASE)
JSON = re.compile(r'\s*(?:\{\s*"|\[\s*[\[{\]])')
# What holds the messages: its name, the key of the last one, the key of the one before.
SHAPES = {
    "mapping": ("tree", "current_node", "parent"),
    "history": ("webui", "currentId", "parentId"),
    "chat_messages": ("claude", "current_leaf_message_uuid", "parent_message_uuid"),
    "messages": ("messages", "", ""),
    "conversations": ("messages", "", ""),
}
FILES = ("attachments", "files")
ASKS = {"user": True, "human": True, "request": True}
ASKS |= dict.fromkeys(("assistant", "gpt", "model", "ai", "response"), False)


def _json(text: str, path: str) -> list[Chat]:
    if not JSON.match(text):
        return []
    read = _rows(text, path)
    activities = activity.of_json(read)
    if activities:
        return _of_activities(activities)
    rows = unwrapped(read)
    whole = any(_holds_messages(row) for row in rows)
    if not whole and any(_role(row) for row in rows):
        rows = [{"messages": rows}]  # a message in each
    chats = list[Chat]()
    for row in rows:
        chat = _chat(row)
        if chat:
            chats.append(chat)
    if not chats:
        keys = "[]"
        if rows and isinstance(rows[0], dict):
            keys = ", ".join(list(rows[0])[:6])
        raise Broken(path, 1, "chat_json_other", keys=keys)
    return chats


def _activity_page(text: str, path: str) -> list[Chat]:
    if not PAGE_OF_HTML.match(text):
        return []
    return _of_activities(activity.of_html(text))


def _of_activities(found: activity.Activities) -> list[Chat]:
    """The conversations of a Takeout; what was no prompt is told with each of them."""
    left = _left(found.left, 0)
    form = Message("format_activity")
    return [Chat("", turns, form, left) for turns in found.talks]


def _holds_messages(row: Any) -> bool:
    return any(_at(row, key) for key in SHAPES)


def _rows(text: str, path: str) -> list[Any]:
    """The values of a list, or of a file that has one in each line."""
    rows = list[Any]()
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except json.JSONDecodeError as error:
        whole = error
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            at, why = number, error
            if not rows:
                at, why = whole.lineno, whole
            cut = len(why.doc.rstrip()) - why.pos < 6 or "Unterminated" in why.msg
            reason = f"{why.msg}, column {why.colno}"
            key = "chat_json_cut" if cut else "chat_json"
            raise Broken(path, at, key, reason=reason) from None
    return rows


def _chat(row: Any) -> Chat | None:
    for key, (name, last, up) in SHAPES.items():
        nodes = _at(row, key)
        if isinstance(nodes, list):
            nodes = _by_id(nodes)
        if not isinstance(nodes, dict):
            continue
        turns = list[Turn]()
        for node in _branch(nodes, _at(row, last), up):
            turn = _turn(node)
            if turn:
                turns.append(turn)
        spoken = [node for node in nodes.values() if _role(node)]
        title = str(_at(row, "title") or _at(row, "name") or "")
        left = _left(len(spoken) - len(turns), sum(map(_parts_left, spoken)))
        return Chat(title, turns, Message(f"format_{name}"), left)
    return None


def _left(messages: int, parts: int) -> tuple[Message, ...]:
    """The remarks on how much was not taken: whole messages, and parts of others."""
    left = list[Message]()
    if messages:
        left.append(Message("left_messages", {"count": messages}))
    if parts:
        left.append(Message("left_parts", {"count": parts}))
    return tuple(left)


def _parts_left(node: Any) -> int:
    """How many parts of a message that is taken give no text, picture or block."""
    message = _message_of(node)
    if _turn(node) is None:
        return 0
    count = 0
    for part in [*_list(message, "content"), *_list(message, "fragments")]:
        holds = _message_text(part) or any(_list(part, key) for key in FILES)
        count += not holds
    return count


def _by_id(nodes: list[Any]) -> dict[str, Any]:
    """The messages of a list by their ids; by their places where they have none."""
    named = {}
    for number, node in enumerate(nodes):
        named[str(_at(node, "uuid") or number)] = node
    return named


def _branch(nodes: dict[str, Any], last: object, up: str) -> list[Any]:
    """The nodes to the last one; a question that was edited begins another branch."""
    if not any(_at(node, up) for node in nodes.values()):
        return [*nodes.values()]
    left = dict(nodes)
    path = list[Any]()
    leaf = str(last)
    if leaf not in nodes:
        leaf = next(reversed(nodes))
    while node := left.pop(leaf, None):
        path.append(node)
        leaf = str(_at(node, up))
    path.reverse()
    return path


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _list(value: Any, key: str) -> list[Any]:
    found = _at(value, key)
    return found if isinstance(found, list) else []


def _role(node: Any) -> str:
    """Who speaks, in the words of the format; nothing where nobody does."""
    message = _message_of(node)
    roles = [_at(message, key) for key in ("role", "sender", "from")]
    roles.append(_at(message, "author", "role"))
    # DeepSeek's; others are of type THINK, SEARCH and FILE.
    for part in _list(message, "fragments"):
        kind = str(_at(part, "type"))
        if kind.lower() in ASKS:
            roles.append(kind)
    for role in roles:
        if role:
            return str(role).lower()
    return ""


def _message_of(node: Any) -> Any:
    """The message in a node, or the node where it is one itself."""
    message = _at(node, "message")
    return node if message is None else message


def _turn(node: Any) -> Turn | None:
    """The turn of a message between a person and a model; None for all else."""
    message = _message_of(node)
    asks = ASKS.get(_role(node))
    canvas = "" if asks else canvas_block(message)
    if canvas:
        return Turn(False, canvas)
    unseen = _at(message, "metadata", "is_visually_hidden_from_conversation")
    if asks is None or unseen or _at(message, "recipient") not in (None, "all"):
        return None
    said = [_main_text(message)]
    for key in FILES:
        for part in (message, *_list(message, "fragments")):
            for file in _list(part, key):
                said.append(_picture(_at(file, "file_name")))
                said.append(_message_text(_at(file, "extracted_content")))
    text = with_blocks("\n\n".join(filter(None, said)))
    return Turn(asks, text) if text.strip() else None


def _main_text(message: Any) -> str:
    """The text of a message under the first of the keys that has any."""
    for key in ("content", "fragments", "text", "value"):
        text = _message_text(_at(message, key))
        if text:
            return text
    return ""


def _message_text(value: Any) -> str:
    """The text of a message, in whatever parts it comes; a picture is its name."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(_message_text, value)))
    artifact = artifact_block(value)
    if artifact:
        return artifact
    kind = str(_at(value, "type") or _at(value, "content_type") or "text").lower()
    if "image" in kind:
        url = _at(value, "image_url", "url") or _at(value, "image_url")
        return _picture(_at(value, "asset_pointer") or url or _at(value, "file_name"))
    if "text" not in kind and kind not in ASKS and kind != "audio_transcription":
        return ""  # thoughts, calls of tools and what these gave back
    texts = (_at(value, key) for key in ("parts", "text", "content"))
    return next((_message_text(text) for text in texts if text), "")


def _picture(name: object) -> str:
    known = isinstance(name, str) and not name.startswith("data:")
    return f"![{name if known else 'picture'}](not-fetched)" if name else ""


# Text in which a mark says who speaks.

PEOPLE = "you|user|human|me|prompt|question|q|我|你|您|问|提问|问题|用户"
MODELS = (
    "assistant|ai|bot|chatgpt|gpt|claude|deepseek|gemini|kimi|qwen|grok|copilot|model"
    "|response|answer|a|cursor|codex|yuanbao|答|回答|回复|ai助手|助手|通义千问|豆包|文心一言|元宝"
)
MARK = re.compile(
    rf"""[ ]{{0,3}}(?:\d+[.)]\s+)?(?P<level>\#{{1,6}}(?=\s))?\s*(?:\d+[.)]\s+)?
    (?:[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]+\s*)?(?P<bold>\*\*|__|)
    (?P<open>[【\[]?)
    (?:(?P<person>{PEOPLE})|(?P<model>{MODELS}))(?:[ -]?\w*\d[\w.]*)?
    (?P<shut>[】\]]?)
    (?P<said>\s?said|\s?says|\s?说)?\s*(?P<colon>[:：])?(?P=bold)\s?(?P<late>[:：])?
    (?P<rest>.*)""",
    re.VERBOSE | re.IGNORECASE,
)


SHOWN_KINDS = 5


class Mark(NamedTuple):
    """A line that says who speaks: its number, its form, and what it says behind it."""

    line: int
    asks: bool
    form: str
    rest: str


def _of_marked_text(text: str, path: str) -> list[Chat]:
    lines = lines_of(text)
    marks = [*_marks(lines, path)]
    people = [*dict.fromkeys(mark.form for mark in marks if mark.asks)]
    models = [*dict.fromkeys(mark.form for mark in marks if not mark.asks)]
    if len(marks) > 1 and not (people and models):
        values = {"form": marks[0].form, "count": len(marks)}
        key = "chat_no_questions" if models else "chat_no_answers"
        raise Broken(path, marks[0].line, key, **values)
    if not models:
        return []
    pairs = product(people or [""], models)
    pair = max(pairs, key=lambda pair: _pair_fits(pair, marks))
    chosen = [mark for mark in marks if mark.form in pair]
    if not chosen[0].asks:  # what stands before the first answer was asked
        chosen.insert(0, Mark(0, True, "", ""))
    turns = []
    for mark, after in pairwise([*chosen, Mark(len(lines) + 1, True, "", "")]):
        said = dedent(mark.rest + "".join(lines[mark.line : after.line - 1]))
        if said.strip():
            turns.append(Turn(mark.asks, said))
    values = {"person": pair[0] or "-", "model": pair[1]}
    others = [f"{mark.form} ({mark.line})" for mark in marks if mark.form not in pair]
    left = Message("left_marks", {**values, "marks": ", ".join(others[:SHOWN_KINDS])})
    form = Message("format_marked", values)
    return [Chat("", turns, form, (left,) if others else ())]


def _marks(lines: Sequence[str], path: str) -> Iterator[Mark]:
    fence, opened = "", 0
    for number, line in enumerate(lines, 1):
        match = None if fence else MARK.fullmatch(line.rstrip("\n"))
        rest = line
        if match and (form := _named_format(match)):
            rest = match["rest"].lstrip() + "\n" * line.endswith("\n")
            yield Mark(number, bool(match["person"]), form, rest)
        before, fence = fence, fence_after(rest, fence)
        opened = opened if before else number
    if fence:
        raise Broken(path, opened, "log_fence", fence=fence)


def _named_format(match: re.Match[str]) -> str:
    """How a mark is written, or nothing where the line is a sentence.

    A mark ends in a colon, is in brackets, or stands alone in its line.
    """
    colon = match["colon"] or match["late"]
    word = match["person"] or match["model"]
    brackets = match["open"] + match["shut"]
    if brackets not in ("", "【】", "[]"):
        return ""
    link = brackets == "[]" and match["rest"].startswith(("(", "["))
    if link or (brackets == "[]" and len(word) < 2):
        return ""
    alone = not match["rest"].strip() and len(match["person"] or "xx") > 1
    if not (colon or brackets or alone):
        return ""
    word = match["open"] + word + match["shut"] + (match["said"] or "")
    bold, level = match["bold"], f"{match['level']} " if match["level"] else ""
    return f"{level}{bold}{word}{bold}{':' if colon else ''}"


def _pair_fits(pair: tuple[str, str], marks: Sequence[Mark]) -> tuple[int, bool]:
    """How often the one is answered by the other, and whether both look alike."""
    forms = [mark.form for mark in marks if mark.form in pair]
    answered = sum(two == pair for two in pairwise(forms))
    person, model = (re.sub(r"\w|\s", "", form) for form in pair)
    return answered, person == model


FORMATS: tuple[Callable[[str, str], list[Chat]], ...] = (
    _own,
    _json,
    _activity_page,
    _of_marked_text,
)
