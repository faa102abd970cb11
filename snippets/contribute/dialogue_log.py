"""Read a chat log, refuse one that breaks the format, write the same bytes again."""

# --8<-- [start:log]
log = """# Chat Dialogue Log

## 对话时间
2026-03-01 20:15:00

---

## 对话内容

### 问题 1
用户：```
A = [0.7, 0.6, 0.4]
```
Where do these come from?\x20\x20
助手：## From `R - V`

---
The rule above is part of the answer.

---

### 问题 2
用户：Save this chat in this form:
```
### 问题 1
用户：<question>
助手：<answer>
```
助手：Saved to `log_20260301_201500.md`.
"""
# --8<-- [end:log]

# --8<-- [start:read]
import re
from itertools import count

ticks, waves = "`{3,}(?!.*`)", "~{3,}"
FENCE = re.compile(f" {{0,3}}({ticks}|{waves})(.*)")

def fence(line, fenced):
    """The fence still open after this line."""
    if not (found := FENCE.match(line)):
        return fenced
    mark, info = found.groups()
    if not fenced:
        return mark
    if mark.startswith(fenced) and not info.strip():
        return ""
    return fenced

def marks():
    yield "# Chat Dialogue Log\n"
    yield from ("## 对话时间\n", "## 对话内容\n")
    for n in count(1):
        yield f"### 问题 {n}\n"
        yield from ("用户：", "助手：")

def read(log):
    if log.startswith("\ufeff"):
        raise ValueError("line 1: a BOM before #")
    if "\r\n" in log:
        raise ValueError("line ends: CRLF, not LF")
    parts, fenced, later = [], "", marks()
    due = next(later)
    lines = log.splitlines(True) or [""]
    for at, line in enumerate(lines, 1):
        lost = f"line {at}: no {due.strip()}"
        head = line.startswith("### 问题 ")
        now = not parts or due == "用户："
        if not fenced and line.startswith(due):
            line = line.removeprefix(due)
            parts.append("")
            due = next(later)
        elif now or (head and not fenced):
            raise ValueError(lost)
        fenced = fence(line, fenced)
        parts[-1] += line
    lost = f"after line {at}: no {due.strip()}"
    if fenced:
        lost = f"after line {at}: code left open"
    if fenced or len(parts) % 3 or len(parts) < 6:
        raise ValueError(lost)
    return parts
# --8<-- [end:read]

# --8<-- [start:write]
def write(parts):
    pairs = map("".join, zip(marks(), parts))
    return "".join(pairs)

parts = read(log)
again = write(parts).encode()
assert again == log.encode(), "not the same bytes"
questions, answers = parts[4::3], parts[5::3]
assert len(questions) == len(answers) == 2
print(len(questions), "questions")
for text in questions + answers:
    print(repr(text[:24]))
# --8<-- [end:write]

# --8<-- [start:refused]
spoilt = {
    "number skipped": ("问题 2", "问题 3"),
    "no speaker": ("用户：Save", "Save"),
    "open fence": ("```\n助手：S", "助手：S"),
    "cut off": ("助手：Saved", "Saved"),
    "another file": ("# Chat Dialogue", "# My"),
    "Windows": ("\n", "\r\n"),
}
for what, change in spoilt.items():
    try:
        read(log.replace(*change))
    except ValueError as error:
        print(f"{what}: {error}")
    else:
        raise AssertionError(f"{what} was accepted")
# --8<-- [end:refused]

# --8<-- [start:readers]
import re

every = re.findall(r"(?m)^### 问题 (\d+)", log)
outside, fenced = [], False
for line in log.splitlines():
    fenced ^= line.startswith("```")
    if not fenced:
        outside += re.findall("^### 问题 (.)", line)
ours = range(1, 1 + len(questions))
print("every heading  ", *every)
print("fences by line ", *outside)
print("the reader here", *ours)
assert len(every) > len(outside) == len(ours)
# --8<-- [end:readers]

# --8<-- [start:math]
import re

line = r"\(V_t\) is a forecast."
escape = r"\\([!-/:-@\[-`{-~])"  # CommonMark's rule
print(re.sub(escape, r"\1", line))
dollars = re.sub(r"\\\((.+?)\\\)", r"$\1$", line)
print(dollars)
assert re.sub(escape, r"\1", dollars) == dollars
# --8<-- [end:math]

# --8<-- [start:placeholder]
end = "Saved to `log_20260301_201500.md`."
copied = log.replace(end, "<当前回答内容>")
last = read(copied)[-1].strip()
blank = re.fullmatch("<[^<>]*>", last)
assert not blank, f"{last} was never filled in"
# --8<-- [end:placeholder]

# --8<-- [start:time]
from datetime import datetime

header = datetime(2025, 1, 9, 9, 50, 23)
example = datetime(2025, 10, 16, 18, 40, 38)
early = (example - header).days
what = f"{early} days before the example"
assert early <= 0, what
# --8<-- [end:time]
