"""Data files read strictly, from YAML into dataclasses.

The annotation of a field says what may stand there: ``Annotated[str, Form(...)]``
is a text of that form, ``tuple[X, ...]`` is a list, a dataclass is a mapping, ``A | B``
is whichever fits the keys better. A scalar where a mapping is expected is its first
field. Every fault is named by file and line.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from itertools import chain
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from site_tools import numbers
from site_tools.say import Message, Refusal

LARGEST = 1_000_000  # characters; the largest file has a tenth of it
DEEPEST = 20
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))
FORMULA = re.compile(r"\$([^$]+)\$")


@dataclass(frozen=True)
class Form:
    """What a text must look like.

    Args:
        pattern: The whole text matches it.
        key: Entry of the catalogue that says it in words.
        figures: Whether it may hold a figure; in a data file nothing binds one.
    """

    pattern: str
    key: str
    figures: bool = True


@dataclass(frozen=True)
class Preset:
    """A field that a mapping leaves to the place where it stands, and its value."""

    field: str
    value: str


Text = Annotated[str, Form(r"\S(?:.*\S)?", "form_text")]
Words = Annotated[str, Form(r"\S(?:.*\S)?", "form_text", figures=False)]
PAGE_ID = r"[a-z_]+/[a-z][a-z0-9_]*"
PageId = Annotated[str, Form(PAGE_ID, "form_page")]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A mapping of a data file, and the line on which it begins."""

    file: str = field(default="", compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)

    def refuse(self, key: str, **values: object) -> Refusal:
        """An error of the row, by the key of its message."""
        return Refusal(key, place=f"{self.file}:{self.line}", **values)


R = TypeVar("R", bound=Row)


def read_rows(text: str, file: str, kind: type[R]) -> tuple[R, ...]:
    r"""The rows of a file that is a list of mappings.

    Args:
        text: The file.
        file: Its name, for the messages.
        kind: A dataclass of rows.

    Raises:
        Refusal: naming file and line, what must stand there and what does.

    Example:
        >>> @dataclass(frozen=True)
        ... class Topic(Row):
        ...     id: Text
        >>> read_rows("- id: gae\n- id: critic\n", "topics.yml", Topic)[1].id
        'critic'
        >>> read_rows("- id: gae\n  ib: x\n", "topics.yml", Topic)
        Traceback (most recent call last):
        site_tools.say.Refusal: topics.yml:2: ib does not belong here; the fields are id
    """
    node = load(text, file)
    if not isinstance(node, yaml.SequenceNode):
        raise Refusal("data_list", place=f"{file}:1", field=next(iter(_hints(kind))))
    return tuple(_mapping(item, kind, file, {}) for item in node.value)


def read_row(text: str, file: str, kind: type[R]) -> R:
    """The one row of a file that is a mapping; of the same errors."""
    row: R = _mapping(load(text, file), kind, file, {})
    return row


def load(text: str, file: str) -> yaml.Node | None:
    """The nodes of a file; no key twice, no alias, no tag, nothing without end.

    Raises:
        Refusal: naming file and line.
    """
    if len(text) > LARGEST:
        raise Refusal("data_size", place=f"{file}:1", most=f"{LARGEST:,}")
    depth = 0
    try:
        for event in yaml.parse(text, Loader=LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            line = event.start_mark.line if event.start_mark else 0
            place = f"{file}:{line + 1}"
            if isinstance(event, yaml.AliasEvent):
                raise Refusal("data_alias", place=place, name=event.anchor)
            tag = getattr(event, "tag", None)
            if tag not in (None, "!", *TAGS):
                raise Refusal("data_tag", place=place, tag=tag)
            if depth > DEEPEST:
                raise Refusal("data_depth", place=place, most=DEEPEST)
        return yaml.compose(text, Loader=LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1 if mark else 1}"
        reason = getattr(error, "problem", None) or error
        raise Refusal("data_yaml", place=place, reason=reason) from error


def pairs(node: yaml.Node, file: str) -> dict[str, yaml.Node]:
    """The keys and values of a mapping.

    Raises:
        Refusal: naming a key that stands twice, or that is not a word.
    """
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        place = f"{file}:{key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise Refusal("data_key_form", place=place)
        if key.value in found:
            raise Refusal("data_key_twice", place=place, field=key.value)
        found[key.value] = value
    return found


def unique(rows: Iterable[R], name: str) -> None:
    """Refuse a row whose field says what that of an earlier row does."""
    taken: dict[str, int] = {}
    for row in rows:
        value = getattr(row, name)
        if value in taken:
            raise row.refuse("data_twice", field=name, value=value, first=taken[value])
        taken[value] = row.line


def figure_in(text: str) -> str | None:
    """The first figure of a text, also in its formulas; worked sums that hold are fine.

    Example:
        >>> figure_in("about $0.5$"), figure_in("step 1 of 1+1=2")
        ('0.5', None)
    """
    for number in numbers.find(FORMULA.sub(" ", text)):
        worked = number.form == "worked arithmetic"
        if not (worked and numbers.holds(number.text)):
            return number.text
    spelled = (n.text for n in numbers.find(text.replace("$", "")) if "." in n.text)
    inside = (
        figure for tex in FORMULA.findall(text) for figure in numbers.in_formula(tex)
    )
    return next(chain(inside, spelled if "$" in text else ()), None)


def _own_hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    own = (f.name for f in fields(kind) if f.name not in Row.__annotations__)
    return {name: hints[name] for name in own}


_hints: Callable[[Any], dict[str, Any]] = cache(_own_hints)


def _required(kind: Any) -> list[str]:
    absent = {f.name for f in fields(kind) if f.default is MISSING}
    return [name for name in _hints(kind) if name in absent]


def _mapping(
    node: yaml.Node | None, kind: Any, file: str, preset: Mapping[str, str]
) -> Any:
    names = [name for name in _hints(kind) if name not in preset]
    line = node.start_mark.line + 1 if node else 1
    where = {"place": f"{file}:{line}", "fields": ", ".join(names)}
    if isinstance(node, yaml.ScalarNode) and node.value:
        written: dict[str, yaml.Node] = {names[0]: node}
    elif isinstance(node, yaml.MappingNode):
        written = pairs(node, file)
    else:
        raise Refusal("data_mapping", **where)
    for name, value in written.items():
        if name not in names:
            where["place"] = f"{file}:{value.start_mark.line + 1}"
            raise Refusal("data_unknown", **where, field=name)
    for name in _required(kind):
        if name not in written and name not in preset:
            raise Refusal("data_missing", **where, field=name)
    values = {
        name: _value(written[name], _hints(kind)[name], name, file) for name in written
    }
    return kind(**preset, **values, file=file, line=line)


def _value(node: yaml.Node, hint: Any, name: str, file: str) -> Any:
    place = f"{file}:{node.start_mark.line + 1}"
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    hint = min(options, key=lambda option: _misfit(node, option))
    preset: Mapping[str, str] = {}
    form = Form(r"(?s).*", "form_text")
    if get_origin(hint) is Annotated:
        hint, extra = get_args(hint)
        if isinstance(extra, Preset):
            preset = {extra.field: extra.value}
        else:
            form = extra
    if is_dataclass(hint):
        return _mapping(node, hint, file, preset)
    if get_origin(hint) is tuple:
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            raise Refusal("data_field_list", place=place, field=name)
        return tuple(_value(item, get_args(hint)[0], name, file) for item in node.value)
    if get_origin(hint) is dict:
        if not isinstance(node, yaml.MappingNode):
            raise Refusal("data_field_mapping", place=place, field=name)
        inside = pairs(node, file)
        return {
            key: _value(inside[key], get_args(hint)[1], key, file) for key in inside
        }
    if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(
        form.pattern, node.value
    ):
        value = node.value if isinstance(node, yaml.ScalarNode) else "[...]"
        raise Refusal(
            "data_form", place=place, field=name, form=Message(form.key), value=value
        )
    if not form.figures and (figure := figure_in(node.value)):
        raise Refusal("data_figure", place=place, field=name, figure=figure)
    return node.value


def _misfit(node: yaml.Node, option: Any) -> int:
    """How many keys of a mapping an alternative does not know, or lacks."""
    kind = get_args(option)[0] if get_origin(option) is Annotated else option
    if not isinstance(node, yaml.MappingNode):
        return 0
    if not is_dataclass(kind):
        return len(node.value) + 1
    keys = {key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)}
    return len(keys - {*_hints(kind)}) + len({*_required(kind)} - keys)
