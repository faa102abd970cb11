"""What the benchmarks are called on the page, in both languages."""

import re
from html import escape

NOT_MEASURED = ("这里还没有测过。", "Not measured here.")
CONTENDERS = {
    "gae": ("<code>gae</code>", "<code>gae</code>"),
    "kernel": ("不检查参数的内核", "its kernel, unchecked"),
    "copy": ("复制同样多的字节", "copy of the same bytes"),
    "together": ("合在一起算", "together"),
    "together, compiled": ("合在一起算，编译", "together, compiled"),
    "apart": ("分开算", "apart"),
    "loss in chunks": ("loss 也分块", "loss in chunks"),
    "in chunks": ("分块", "in chunks"),
    "logits kept": ("留着 logits", "logits kept"),
    "logits kept, compiled": ("留着 logits，编译", "logits kept, compiled"),
    "1 thread": ("1 个线程", "1 thread"),
}
# Pieces of a setting, the longer before those that they hold.
SETTINGS = (
    (r"\bforward and backward\b", "前向加反向", "forward and backward"),
    (r"\bforward$", "只有前向", "forward only"),
    (r"\bmasked\b", "有 mask，", "with a mask,"),
    (r"\bdense\b", "没有 mask，", "without a mask,"),
    (r"\bwidth (\d+)", r"宽度 \1", r"width \1"),
    (r", memory\b", "", ""),
    (r"\bwhole run\b", "整次训练", "whole run"),
    (r"\bimitation\b", "模仿", "imitation"),
)
# Pieces of a contender's name that has no row above.
PIECES = (
    (re.compile(r"(\d+) threads"), r"\1 个线程"),
    (re.compile(r" without padding$"), "，不算填充"),
)
SIZES = re.compile(r"(\d+)x(\d+)")
PLAIN = re.compile(r"<[^>]*>")
HEADS = {
    "contender": ("", ""),
    "median": ("中位数（四分位）", "median (quartiles)"),
    "copy": ("÷ 复制", "÷ copy"),
    "peer": ("{peer} ÷ 它", "{peer} ÷ it"),
    "best peer": ("最快的同类 ÷ 它", "best peer ÷ it"),
}
LEADING = {
    "seconds": (
        "{peer} 的用时是{name}的 {low}",
        "{peer} takes {low} as long as {name}",
    ),
    "bytes": (
        "{peer} 的内存是{name}的 {low}",
        "{peer} takes {low} the memory of {name}",
    ),
}
RANGE = ("{low} 到 {high} 倍", "{low} to {high} times")
ONE = ("{low} 倍", "{low} times")


def word(pair: tuple[str, str], lang: str) -> str:
    """One of two, Chinese first."""
    return pair[0] if lang == "zh" else pair[1]


def contender(name: str, lang: str) -> str:
    """As HTML; a name that has no words stays as it is.

    Example:
        >>> contender("2 threads", "zh"), contender("verl 0.9.1", "zh")
        ('2 个线程', 'verl 0.9.1')
    """
    if name in CONTENDERS:
        return word(CONTENDERS[name], lang)
    for pattern, chinese in PIECES if lang == "zh" else ():
        name = pattern.sub(chinese, name)
    return escape(name)


def plain(name: str, lang: str) -> str:
    """The same without markup, for a picture."""
    return PLAIN.sub("", contender(name, lang))


def setting(text: str, lang: str) -> str:
    """What was measured, with thousands apart.

    Example:
        >>> setting("masked 4x32768", "en"), setting("masked 4x32768", "zh")
        ('with a mask, 4 × 32,768', '有 mask，4 × 32,768')
    """
    for pattern, *pair in SETTINGS:
        text = re.sub(pattern, word((pair[0], pair[1]), lang), text)
    shown = SIZES.sub(lambda m: f"{int(m[1]):,} × {int(m[2]):,}", text)
    return escape(shown.replace("， ", "，"))
