"""Data files, read strictly: scalars are text, no key twice, only known fields."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from site_tools.data.texts import figure_in
from site_tools.page.yaml_limits import limit

Form = tuple[str, str]  # a pattern, and what it means in words
PAGE = (r"[a-z_]+/[a-z][a-z0-9_]*", "a page id like gae/inputs")
ANY = (r"\S(?:.*\S)?", "text on one line")


class _Texts(yaml.BaseLoader):
    """Leaves every scalar as text, and refuses a key that stands twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [str(key.value) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                problem = f"key {key!r} twice"
                raise yaml.constructor.ConstructorError(
                    None, None, problem, node.start_mark
                )
        return super().construct_mapping(node, deep)


def load(text: str, name: str) -> Any:
    """The content of a data file.

    Raises:
        ValueError: naming the file, if it is no YAML or has a key twice.
    """
    try:
        limit(text)
        return yaml.load(text, Loader=_Texts)
    except yaml.YAMLError as error:
        raise ValueError(f'{name}: must be YAML, quote: "in marks"; {error}') from error


def check(where: str, item: object, wanted: Mapping[str, Form | None]) -> None:
    """Refuse a record whose fields are not the wanted ones, or not of their form.

    Args:
        where: File and record, for the message.
        item: The record.
        wanted: Each field with its form; None if it is no text.

    Raises:
        ValueError: naming the record and the field.

    Example:
        >>> check("a.yml, entry 1", {"id": "x"}, {"id": (r"\\d+", "a number")})
        Traceback (most recent call last):
        ValueError: a.yml, entry 1: id must be a number, got 'x'
    """
    fields = ", ".join(sorted(wanted))
    if not isinstance(item, dict):
        raise ValueError(f"{where}: must have the fields {fields}, got {item!r}")
    for field in sorted(item.keys() ^ wanted.keys()):
        state = "is missing" if field in wanted else "does not belong here"
        raise ValueError(f"{where}: {field} {state}; write {fields}")
    for field, form in wanted.items():
        value = item[field]
        if form and not (isinstance(value, str) and re.fullmatch(form[0], value)):
            raise ValueError(f"{where}: {field} must be {form[1]}, got {value!r}")


def check_words(where: str, item: Mapping[str, str], fields: tuple[str, ...]) -> None:
    """Refuse a figure in a text that readers see.

    Raises:
        ValueError: naming the record, the field and the figure.
    """
    for field in fields:
        if figure := figure_in(item[field]):
            raise ValueError(
                f"{where}: {field} must hold no figure, got {figure}; "
                "say it on a page, where it is bound"
            )
