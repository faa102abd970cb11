"""The words of the status page, in both languages."""

from site_tools.checks.accord import State

AGREE = {
    "zh": "再运行 <code>make agree PAGE={page}</code>。",
    "en": "then <code>make agree PAGE={page}</code>.",
}
COMPARE = {
    "zh": f"对照两种语言，改好后{AGREE['zh']}",
    "en": f"Compare the languages, mend what differs, {AGREE['en']}",
}
STATES = {
    State.ACCORD: {"zh": "中英一致", "en": "both languages agree"},
    State.MISSING_ZH: {"zh": "还没有中文", "en": "no Chinese yet"},
    State.MISSING_EN: {"zh": "还没有英文", "en": "no English yet"},
    State.ZH_AHEAD: {"zh": "中文较新", "en": "Chinese is newer"},
    State.EN_AHEAD: {"zh": "英文较新", "en": "English is newer"},
    State.BOTH_CHANGED: {
        "zh": "两边都改过，没有核对",
        "en": "changed in both, not compared",
    },
    State.UNRECORDED: {"zh": "没有核对过", "en": "never compared"},
}


def _write(lang: str) -> dict[str, str]:
    file = f"<code>docs/{lang}/{{page}}.md</code>"
    return {"zh": f"写 {file}，{AGREE['zh']}", "en": f"Write {file}, {AGREE['en']}"}


def _follow(lang: str) -> dict[str, str]:
    file = f"<code>docs/{lang}/{{page}}.md</code>"
    return {
        "zh": f"让 {file} 跟上，{AGREE['zh']}",
        "en": f"Bring {file} up to it, {AGREE['en']}",
    }


REMEDIES = {
    State.MISSING_ZH: _write("zh"),
    State.MISSING_EN: _write("en"),
    State.ZH_AHEAD: _follow("en"),
    State.EN_AHEAD: _follow("zh"),
    State.BOTH_CHANGED: COMPARE,
    State.UNRECORDED: COMPARE,
}
NOTHING = {
    "zh": "现在没有：每一页都有两种语言，而且核对过。",
    "en": "Nothing now: every page is there in both languages, and they agree.",
}
ROWS = {
    "zh": {
        "pages": "页面",
        "blocks": "会运行的代码块",
        "figures": "正文里绑定的数字",
        "formulas": "单独成行的公式",
    },
    "en": {
        "pages": "pages",
        "blocks": "code blocks that run",
        "figures": "bound figures in the text",
        "formulas": "displayed formulas",
    },
}
ALL_FACTS = {
    "zh": "引用框架源码的地方：{all} 处，测试全都从发行包里重读。",
    "en": "Places cited in the source of frameworks: {all}. The tests read all of them "
    "again, in the releases.",
}
FACTS = {
    "zh": "引用框架源码的地方：{all} 处。不在发行包里、测试不重读的：{open} 处。",
    "en": "Places cited in the source of frameworks: {all}. In no release, so that no "
    "test reads them again: {open}.",
}
