"""Exports of further tools, brought into the shapes that ``formats`` reads.

Each function takes a file as JSON has it, and gives its conversations as lists of
messages with a role, or nothing where the file is none of its kind. Messages that no
person and no model wrote get the role of a tool: they are counted, not taken.
"""

from collections.abc import Callable, Iterator
from typing import Any

from site_tools.contributing.artifacts import block

Rows = list[Any]
# What Codex puts before a question of its own accord.
CODEX_CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md")


def unwrapped(rows: Rows) -> Rows:
    """The conversations of a file, of whatever tool it is."""
    for of_tool in TOOLS:
        found = of_tool(rows)
        if found:
            return found
    return rows


def inner(value: Any, *keys: str) -> Any:
    """The value at the end of some keys, one in the other; None where one lacks."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _open_webui(rows: Rows) -> Rows:
    """Open WebUI: ``chat.history`` has the messages by id, and which was last."""
    chats = list[Any]()
    for row in rows:
        chat = row.get("chat", row) if isinstance(row, dict) else None
        history = inner(chat, "history")
        nodes = inner(history, "messages")
        if isinstance(nodes, dict):
            last = inner(history, "currentId") or inner(history, "current_id")
            title = inner(row, "title") or inner(chat, "title")
            chats.append({"title": title, "history": nodes, "currentId": last})
    return chats


def _ai_studio(rows: Rows) -> Rows:
    """Google AI Studio: ``chunkedPrompt.chunks``; thoughts are chunks of their own."""
    chats = list[Any]()
    for row in rows:
        chunks = inner(row, "chunkedPrompt", "chunks")
        if not isinstance(chunks, list):
            continue
        messages = list[Any]()
        for chunk in chunks:
            if inner(chunk, "isThought") or not inner(chunk, "text"):
                messages.append({"role": "tool"})
            else:
                messages.append(
                    {"role": inner(chunk, "role"), "content": chunk["text"]}
                )
        title = inner(row, "title") or inner(row, "name")
        chats.append({"title": title, "messages": messages})
    return chats


def _copilot(rows: Rows) -> Rows:
    """Copilot Chat of VS Code: ``requests``, each with a message and its response."""
    chats = list[Any]()
    for row in rows:
        requests = inner(row, "requests")
        if not isinstance(requests, list):
            continue
        messages = list[Any]()
        for request in requests:
            asked = inner(request, "message", "text") or inner(request, "message")
            messages.append({"role": "user", "content": asked})
            texts = list[str]()
            response = inner(request, "response")
            for part in response if isinstance(response, list) else [response]:
                text = _copilot_text(part)
                if text:
                    texts.append(text)
                elif part:
                    messages.append({"role": "tool"})
            messages.append({"role": "assistant", "content": "".join(texts)})
        chats.append({"title": inner(row, "customTitle"), "messages": messages})
    return chats


def _copilot_text(part: Any) -> str:
    """The text of a part of a response; an edit of a file is a block."""
    if isinstance(part, str):
        return part
    kind = inner(part, "kind")
    if kind == "textEditGroup":
        edits = inner(part, "edits")
        texts = [str(inner(edit, "text") or "") for edit in _leaves(edits)]
        path = str(inner(part, "uri", "path") or "")
        code = "\n".join(filter(None, texts))
        return f"\n\n{block(code, '', path)}\n\n" if code else ""
    if kind == "inlineReference":
        name = inner(part, "name") or inner(part, "inlineReference", "path")
        return f"`{name}`" if name else ""
    value = inner(part, "value")
    if kind in (None, "markdownContent"):
        value = inner(part, "content", "value") or value
        return value if isinstance(value, str) else ""
    return ""


def _leaves(value: Any) -> Iterator[Any]:
    """The items of lists in lists."""
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _codex(rows: Rows) -> Rows:
    """Codex: a line each, of which ``response_item`` holds what was said."""
    items = list[Any]()
    for row in rows:
        if inner(row, "type") == "response_item":
            items.append(inner(row, "payload"))
    messages = list[Any]()
    for item in items:
        texts = [
            str(inner(part, "text") or "") for part in _leaves(inner(item, "content"))
        ]
        own = any(text.lstrip().startswith(CODEX_CONTEXT) for text in texts)
        said = inner(item, "type") == "message" and not own
        messages.append(item if said else {"role": "tool"})
    return [{"messages": messages}] if messages else []


def _old_deepseek(rows: Rows) -> Rows:
    """DeepSeek before there were fragments: nodes say nothing of who speaks.

    A question and its answer take turns from the root on.
    """
    chats = list[Any]()
    for row in rows:
        nodes = inner(row, "mapping")
        if not isinstance(nodes, dict) or not any(map(_is_bare, nodes.values())):
            continue
        spoken = dict[str, Any]()
        for name, node in nodes.items():
            asks = _depth(nodes, name) % 2 == 1
            message = inner(node, "message")
            if _is_bare(node):
                message = {**message, "role": "user" if asks else "assistant"}
            spoken[name] = {**node, "message": message} if message else node
        chats.append({**row, "mapping": spoken})
    return chats


def _is_bare(node: Any) -> bool:
    """True where a message has a text, and neither a role nor fragments."""
    message = inner(node, "message")
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        return False
    return not {"role", "author", "sender", "fragments"} & message.keys()


def _depth(nodes: dict[str, Any], name: str) -> int:
    """How many messages lead to one, itself among them."""
    depth = 0
    left = set(nodes)
    while name in left:
        left.remove(name)
        depth += 1 if inner(nodes[name], "message") else 0
        name = str(inner(nodes[name], "parent"))
    return depth


TOOLS: tuple[Callable[[Rows], Rows], ...] = (
    _open_webui,
    _ai_studio,
    _copilot,
    _codex,
    _old_deepseek,
)
