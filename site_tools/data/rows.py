"""Data files read strictly, from YAML into dataclasses.

The annotation of a field says what may stand there: ``Annotated[str, Form(...)]`` a
text of that form, ``tuple[X, ...]`` a list, ``dict[str, X]`` a mapping with any keys, a
dataclass a mapping with its fields, of which a bare text is the first. Every fault is
named by file and line.
"""

import re
import typing
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, lru_cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar

import yaml

from site_tools import numbers
from site_tools.messages import Message, Refusal

DEEPEST_NESTING = 20
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
PLAIN_TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))
# What YAML says of a fault, and the message that says it to people.
REASONS = {
    "found unexpected end of stream": "yaml_marks",
    "unknown escape": "yaml_escape",
    "parsing a flow": "yaml_brackets",
    "mapping values are not allowed": "yaml_colon",
    "cannot start any token": "yaml_sign",
    "found undefined alias": "yaml_sign",
    "alphabetic or numeric character": "yaml_sign",
    "could not find expected ':'": "yaml_key",
    "did not find expected key": "yaml_rest",
}
BEGUN = ("yaml_marks", "yaml_brackets", "yaml_key")
FORMULA_IN_TEXT = re.compile(r"\$([^$]+)\$")


class Form(NamedTuple):
    """The pattern of a text, and the key of the message that says it in words."""

    pattern: str
    key: str
    figures: bool = True  # in a data file nothing binds one


OneLine = Annotated[str, Form(r"\S(?:.*\S)?", "form_text")]
Words = Annotated[str, Form(r"\S(?:.*\S)?", "form_text", figures=False)]
PAGE_ID = r"[a-z_]+/[a-z][a-z0-9_]*"
PageId = Annotated[str, Form(PAGE_ID, "form_page")]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A mapping of a data file, and the line on which it begins."""

    file: str = field(default="", compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)

    def refuse(self, key: str, **values: object) -> Refusal:
        return Refusal(key, place=f"{self.file}:{self.line}", **values)


@dataclass(frozen=True)
class Sentence(Row):
    """A text in both languages."""

    zh: Words
    en: Words


R = TypeVar("R", bound=Row)


def read_rows(root: Path, file: str, kind: type[R]) -> tuple[R, ...]:
    """The rows of a data file of the project; none where it has no such file."""
    path = root / file
    return parse_rows(path.read_text("utf-8") if path.exists() else "[]", file, kind)


@lru_cache(maxsize=8)  # every page asks for the names and the dialogues
def _parse_rows(text: str, file: str, kind: Any) -> Any:
    node = yaml_node(text, file)
    if not isinstance(node, yaml.SequenceNode):
        raise Refusal("data_list", place=f"{file}:1")
    return tuple(_mapping(item, kind, file) for item in node.value)


def parse_rows(text: str, file: str, kind: type[R]) -> tuple[R, ...]:
    hashable: Any = kind
    rows: tuple[R, ...] = _parse_rows(text, file, hashable)
    return rows


def read_row(text: str, file: str, kind: type[R]) -> R:
    row: R = _mapping(yaml_node(text, file), kind, file)
    return row


def yaml_node(text: str, file: str) -> yaml.Node | None:
    """The nodes of a file, in which nothing is said by reference."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            tagged = getattr(event, "tag", None) not in (None, "!", *PLAIN_TAGS)
            if isinstance(event, yaml.AliasEvent) or tagged or depth > DEEPEST_NESTING:
                line = event.start_mark.line + 1 if event.start_mark else 1
                place = f"{file}:{line}"
                raise Refusal("data_plain", place=place, most=DEEPEST_NESTING)
        return yaml.compose(text, Loader=LOADER)
    except yaml.YAMLError as error:
        said = str(getattr(error, "problem", None) or error)
        around = str(getattr(error, "context", None))
        key = _reason_key(said + around)
        # Of what is never closed the beginning says more than the end of the file.
        begun = getattr(error, "context_mark", None) if key in BEGUN else None
        mark = begun or getattr(error, "problem_mark", None)
        line = mark.line if mark else 0
        row = text.split("\n")[line]
        if mark and key == "yaml_colon" and ":" not in row[: mark.column]:
            # The colon of a key, which the line above has taken for more of its text.
            key, line, row = "yaml_key", line - 1, text.split("\n")[line - 1]
        if key == "yaml_sign" and "\t" in row:
            key = "yaml_tab"
        if key == "yaml_key" and "：" in row:
            key = "yaml_wide"
        values = {"text": said}
        if key in ("yaml_key", "yaml_wide"):
            values = {"text": row, "meant": row.replace("：", ": ", 1)}
        reason = Message(key or "yaml_other", values)
        place = f"{file}:{line + 1}"
        raise Refusal("data_yaml", place=place, reason=reason) from error


def _reason_key(said: str) -> str:
    """The key of the message for what YAML says of a fault, or nothing."""
    for words, key in REASONS.items():
        if words in said:
            return key
    return ""


def plain_yaml(text: str, file: str) -> Any:
    """The content of a file as texts, lists and mappings; None is nothing."""
    return _plain_value(yaml_node(text, file), file)


def _plain_value(node: yaml.Node | None, file: str) -> Any:
    if isinstance(node, yaml.MappingNode):
        values = mapping_pairs(node, file)
        return {key: _plain_value(value, file) for key, value in values.items()}
    if isinstance(node, yaml.SequenceNode):
        return [_plain_value(item, file) for item in node.value]
    given = isinstance(node, yaml.ScalarNode) and (node.value or node.style)
    return node.value if node and given else None


def mapping_pairs(node: yaml.Node, file: str) -> dict[str, yaml.Node]:
    values: dict[str, yaml.Node] = {}
    for key, value in node.value:
        place = f"{file}:{key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise Refusal("data_key_form", place=place)
        if key.value in values:
            raise Refusal("data_key_twice", place=place, field=key.value)
        values[key.value] = value
    return values


def unique(rows: Iterable[R], name: str) -> None:
    """Refuse a row whose field says what that of an earlier row does."""
    lines: dict[str, int] = {}
    for row in rows:
        value = getattr(row, name)
        for each in value if isinstance(value, tuple) else [value]:
            if each in lines:
                first = lines[each]
                raise row.refuse("data_twice", field=name, value=each, first=first)
            lines[each] = row.line


def figure_in(text: str) -> str | None:
    """The first figure of a text or of its formulas; worked sums that hold are fine."""
    for number in numbers.find_numbers(FORMULA_IN_TEXT.sub(" ", text)):
        worked = number.form == "worked arithmetic"
        if not (worked and numbers.holds(number.text)):
            return number.text
    for tex in FORMULA_IN_TEXT.findall(text):
        for figure in numbers.figures_in_latex(tex):
            return str(figure)
    if "$" in text:
        for number in numbers.find_numbers(text.replace("$", "")):
            if "." in number.text:
                return number.text
    return None


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in hints if name not in Row.__annotations__}


def _mapping(node: yaml.Node | None, kind: Any, file: str) -> Any:
    hints, line = _hints(kind), node.start_mark.line + 1 if node else 1
    where = {"place": f"{file}:{line}", "fields": ", ".join(hints)}
    if isinstance(node, yaml.ScalarNode) and node.value:
        nodes: dict[str, yaml.Node] = {next(iter(hints)): node}
    elif isinstance(node, yaml.MappingNode):
        nodes = mapping_pairs(node, file)
    else:
        raise Refusal("data_mapping", **where)
    for name, value in nodes.items():
        if name not in hints:
            where["place"] = f"{file}:{value.start_mark.line + 1}"
            raise Refusal("data_unknown", **where, field=name)
    for each in fields(kind):
        if each.default is MISSING and each.name not in nodes:
            raise Refusal("data_missing", **where, field=each.name)
    values = {}
    for name, value in nodes.items():
        values[name] = _field_value(value, hints[name], name, file)
    return kind(**values, file=file, line=line)


def _field_value(node: yaml.Node, hint: Any, name: str, file: str) -> Any:
    at = {"place": f"{file}:{node.start_mark.line + 1}", "field": name}
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _scalar_text(node, inside[1], at)
    if origin is tuple:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            raise Refusal("data_field_list", **at)
        return tuple(_field_value(item, inside[0], name, file) for item in node.value)
    if origin is dict:
        if not isinstance(node, yaml.MappingNode):
            raise Refusal("data_field_mapping", **at)
        values = {}
        for key, value in mapping_pairs(node, file).items():
            values[key] = _field_value(value, inside[1], key, file)
        return values
    if origin is UnionType:  # something, or nothing where the field is left out
        hint = inside[0]
    return _mapping(node, hint, file)


def _scalar_text(node: yaml.Node, form: Form, at: dict[str, str]) -> str:
    text = node.value if isinstance(node, yaml.ScalarNode) else "[...]"
    if text is not node.value or not re.fullmatch(form.pattern, text):
        raise Refusal("data_form", **at, form=Message(form.key), value=text)
    if not form.figures and (figure := figure_in(text)):
        raise Refusal("data_figure", **at, figure=figure)
    return str(text)
