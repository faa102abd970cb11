"""Defaults said beside a setting in prose, compared with those of the release.

A sentence speaks of the releases that it names, or else of the newest of each project
that the page refers to.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from site_tools.data.facts import pinned
from site_tools.data.wheel_names import WheelNames, names_of
from site_tools.messages import Problem, Problems
from site_tools.page.page import Page
from site_tools.page.tree import Flow, Piece

SETTING = r"`(?:\+|--)?(?P<key>[A-Za-z_]\w*(?:\.\w+)*)(?:=(?P<set>[^`\s]+))?`"
PLAIN_SETTING = r"`(?:--)?(?P<key>[A-Za-z_]\w*(?:\.\w+)*)`"
COUNTS = "zero|one|two|three|four|five|six|seven|eight|nine|ten"
SAID_VALUE = (
    r"(?:`(?P<code>[^`\s]+)`|(?P<value>-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w%×])"
    rf"|(?:on|off|true|false|null|none|{COUNTS})\b(?! of\b)"
    r"|关着|不开|关闭|开着|打开|[零一二两三四五六七八九十](?=[轮次个步，。；、）\s]|$)))"
)
DEFAULT = "(?:默认|缺省)"
UNSET = (
    r"(?:unless(?: you| it is)? set(?: it)?"
    r"|(?:if|when|while)(?: it is)? (?:not |un)set)\b"
)
UNSET_ZH = "(?:不|没|没有|未)(?:设|设置|填|给)(?:它)?(?:时|的话|的时候)"
# Forms of words in both languages, each with a setting and what is said of it.
DEFAULT_FORMS = (
    rf"{SETTING},? ?[（(](?:the )?default(?: is|:)? {SAID_VALUE}",
    rf"{SETTING}[^`，。；（(]{{0,2}}[（(]?{DEFAULT}值?(?:就?是|为)?[：:]? ?"
    rf"{SAID_VALUE}",
    rf"{SETTING} ?[（(](?:the )?default(?:s|值)?[)）]",
    rf"{SETTING}[（(]默认值?[)）]",
    rf"{SETTING} (?:is the default\b|是默认值)",
    rf"{PLAIN_SETTING} [（(]{SAID_VALUE} by default[)）]",
    rf"{PLAIN_SETTING}(?:,| is| =)? {SAID_VALUE} by default",
    rf"{PLAIN_SETTING} is by default {SAID_VALUE}",
    rf"[Bb]y default,? {PLAIN_SETTING} (?:is|=) {SAID_VALUE}",
    rf"{PLAIN_SETTING},?(?: which)? defaults? to {SAID_VALUE}",
    rf"[Dd]efault (?:value )?(?:of|for) {PLAIN_SETTING}(?: is|,) {SAID_VALUE}",
    rf"{PLAIN_SETTING},? default {SAID_VALUE}",
    rf"{PLAIN_SETTING}的{DEFAULT}值?(?:是|为) ?{SAID_VALUE}",
    rf"{DEFAULT} ?{PLAIN_SETTING} ?(?:是|为|=) ?{SAID_VALUE}",
    rf"(?i:{UNSET}),? {PLAIN_SETTING} (?:is|=) {SAID_VALUE}",
    rf"{PLAIN_SETTING} (?:is|=) {SAID_VALUE},? {UNSET}",
    rf"{UNSET_ZH}，? ?{PLAIN_SETTING} ?就?(?:是|为|=) ?{SAID_VALUE}",
    rf"{PLAIN_SETTING} ?{UNSET_ZH}，?就?(?:是|为|=) ?{SAID_VALUE}",
    r"(?:default (?:is )?|默认(?:是|用|的)? ?)"
    r"`(?P<key>[A-Za-z_]\w*(?:\.\w+)*)=(?P<set>[^`\s]+)`",
)
SAID_DEFAULT = [re.compile(form) for form in DEFAULT_FORMS]
OFF = ("off", "关着", "不开", "关闭")
ON = ("on", "开着", "打开")
NUMERALS = dict(zip(COUNTS.split("|"), range(11), strict=True))
NUMERALS |= dict(zip("零一二三四五六七八九十两", [*range(11), 2], strict=True))


class SaidDefault(NamedTuple):
    """A setting, the value that a sentence says is its default, and where it begins."""

    key: str
    value: str
    start: int


def check_said_defaults(page: Page) -> Problems:
    """Defaults in sentences that no release which they speak of has."""
    for flow in page.flows:
        if flow.quoted:
            continue
        text = _text_of(flow)
        for said in said_defaults(text):
            if "." not in said.key and "ppo_ref" in text:
                continue  # its own arguments have names that settings have too
            releases = _spoken_of(page, text, said.key)
            values = []
            for names in releases:
                values += names.defaults(said.key)
            if values and not any(_same(said.value, each) for each in values):
                yield _wrong(page, flow, said, releases[0], values)


def _wrong(
    page: Page, flow: Flow, said: SaidDefault, names: WheelNames, values: list[Any]
) -> Problem:
    """The problem of a default that is another, with those that there are."""
    piece = _piece_of(flow, said.key)
    return page.problem(
        page.line_near(said.key, piece.line),
        "upstream_default",
        key=said.key,
        value=said.value,
        there=" / ".join(dict.fromkeys(map(_shown, values))),
        release=names.release,
        place=names.setting_place(said.key),
    )


def _text_of(flow: Flow) -> str:
    """The words of a paragraph, with code between ticks and figures as they stand."""
    words = []
    for piece in flow.pieces:
        if piece.kind in ("code", "bound"):
            words.append(f"`{piece.node.get_text().strip()}`")
        elif piece.kind == "text":
            words.append(piece.text)
        else:
            words.append(" ")
    return "".join(words)


def _piece_of(flow: Flow, key: str) -> Piece:
    for piece in flow.pieces:
        if piece.kind == "code" and key in piece.text:
            return piece
    return flow.pieces[0]


def said_defaults(text: str) -> Iterator[SaidDefault]:
    """Each setting of a text whose default is said beside it."""
    found = set[tuple[str, int]]()
    for form in SAID_DEFAULT:
        for match in form.finditer(text):
            said = match.groupdict()
            value = said.get("code") or said.get("value") or said.get("set")
            if value and (said["key"], match.start("key")) not in found:
                found.add((said["key"], match.start("key")))
                yield SaidDefault(said["key"], value, match.start("key"))


def _spoken_of(page: Page, text: str, key: str) -> list[WheelNames]:
    """The releases that a text speaks of, of those that are here and have a setting."""
    known = pinned(page.root)
    own = [release for release in known if release in page.refs] or known[:1]
    newest = dict[str, str]()
    for release in own:  # the newest of a project stands first
        newest.setdefault(release.partition(" ")[0], release)
    named = [each for each in own if re.search(rf"{re.escape(each)}(?![.\w])", text)]
    projects = [newest[each] for each in newest if re.search(rf"\b{each}\b", text)]
    for releases in (named, projects, newest.values()):
        found = []
        for release in releases:
            names = names_of(release, page.root)
            if names and names.defaults(key):
                found.append(names)
        if found:
            return found
    return []


def _same(told: str, there: Any) -> bool:
    """True if a value as it is said is this default."""
    told = str(NUMERALS.get(told, told))
    if told in OFF:
        return not there
    if told in ON:
        return bool(there)
    if not isinstance(there, bool):
        try:  # YAML reads 1e-6 as a text
            return float(told) == float(there)
        except (ValueError, TypeError):
            pass
    value = None if told in ("none", "None") else yaml.safe_load(told)
    return bool(value == there) or told.strip("\"'") == there


def _shown(value: Any) -> str:
    return "null" if value is None else str(value)
