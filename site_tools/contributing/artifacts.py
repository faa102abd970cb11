"""Code that a chat shows beside itself: canvases and artifacts, as blocks of its text.

ChatGPT writes a canvas by a call of ``canmore``, Claude an artifact by a call of a tool
or between tags; what they hold is often the code that the chat is about.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

CANVAS = "canmore."
TAGGED = re.compile(
    r"<antArtifact\b(?P<head>[^>]*)>\n?(?P<code>.*?)\n?</antArtifact>", re.DOTALL
)
SAID_OF_ARTIFACT = re.compile(r'(\w+)="([^"]*)"')
# Claude's thoughts about an artifact, which its page never shows.
UNSHOWN = re.compile(r"<antThinking>.*?</antThinking>\n?", re.DOTALL)
WHOLLY_FENCED = re.compile(
    r"\s*(?P<mark>`{3,})[^\n]*\n(?P<code>.*)\n(?P=mark)\s*", re.DOTALL
)
SHUT, THOUGHT = "</antArtifact>", "</antThinking>"
LANGUAGE = re.compile(r"[\w+#.-]{1,20}")


def block(code: str, language: str = "", title: str = "") -> str:
    """Code in a fence that it does not end, with its title above."""
    fenced = WHOLLY_FENCED.fullmatch(code)
    if fenced and fenced["mark"] not in fenced["code"]:
        code = fenced["code"]
    longest = max(map(len, re.findall("`+", code)), default=0)
    mark = "`" * max(3, longest + 1)
    named = language if LANGUAGE.fullmatch(language) else ""
    above = f"{' '.join(title.split())}\n\n" if title.strip() else ""
    return f"{above}{mark}{named}\n{code.rstrip(chr(10))}\n{mark}"


def with_blocks(text: str) -> str:
    """A text in which artifacts between tags are blocks.

    One that is never closed stays as it stands: nothing of it is lost.
    """
    for pattern, end, put in ((UNSHOWN, THOUGHT, ""), (TAGGED, SHUT, _of_tags)):
        # Behind the last closing tag nothing is looked for, or each opening one would
        # read the whole chat.
        at = text.rfind(end) + len(end) if end in text else 0
        text = pattern.sub(put, text[:at]) + text[at:]
    return text


def _of_tags(match: re.Match[str]) -> str:
    said = dict(SAID_OF_ARTIFACT.findall(match["head"]))
    language = said.get("language", "")
    made = block(match["code"], language, said.get("title", ""))
    return f"\n\n{made}\n\n"


def canvas_block(message: Any) -> str:
    """The block of a call that writes a canvas; nothing for any other message."""
    recipient = message.get("recipient") if isinstance(message, dict) else None
    if not str(recipient or "").startswith(CANVAS):
        return ""
    text = _call_text(message.get("content"))
    try:
        call = json.loads(text)
    except ValueError:
        call = None
    if not isinstance(call, dict):
        return block(text) if text.strip() else ""
    if isinstance(call.get("content"), str):
        kind = str(call.get("type") or "").rpartition("/")[2]
        language = "" if kind == "document" else kind
        return block(call["content"], language, str(call.get("name") or ""))
    written = []
    for update in _dicts(call.get("updates")):
        if isinstance(update.get("replacement"), str):
            written.append(_changed(update, "pattern", "replacement"))
    return "\n\n".join(written)


def _call_text(content: Any) -> str:
    """The text of a call, as ChatGPT exports it, whole or in parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, dict):
        return ""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "".join(part for part in parts if isinstance(part, str))
    return str(content.get("text") or "")


def artifact_block(part: Any) -> str:
    """The block of a part of a message that writes an artifact or a file."""
    call = part.get("input") if isinstance(part, dict) else None
    if not isinstance(call, dict) or part.get("type") != "tool_use":
        return ""
    title = str(call.get("title") or call.get("path") or "")
    for key in ("content", "file_text"):
        if isinstance(call.get(key), str):
            return block(call[key], str(call.get("language") or ""), title)
    if isinstance(call.get("new_str"), str):
        return _changed(call, "old_str", "new_str")
    return ""


def _changed(call: dict[str, Any], old: str, new: str) -> str:
    """A change of code: what went, where the call says it, and what came."""
    before, after = str(call.get(old) or ""), block(str(call[new]))
    if not before or before in (".*", "(?s).*"):
        return after
    return f"{block(before)}\n\n->\n\n{after}"


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item
