"""What YAML of a contributor may not hold: names for pieces, depth, a page of it."""

import yaml

LARGEST = 1_000_000  # characters; the largest file here has a tenth of it
DEEPEST = 20

# The one in C, where PyYAML has it, reads ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Mark(yaml.error.MarkedYAMLError):
    """A text that YAML would read and that is refused all the same."""


def limit(text: str) -> None:
    """Refuse what a few lines could make endless.

    Args:
        text: YAML.

    Raises:
        yaml.YAMLError: with the place of an alias, or of brackets in brackets.

    Example:
        >>> limit("a: &x [1]\\nb: *x")
        Traceback (most recent call last):
        site_tools.page.yaml_limits.Mark: the alias *x; write the text out
          in "<unicode string>", line 2, column 4
    """
    if len(text) > LARGEST:
        raise Mark(problem=f"over {LARGEST:,} characters of YAML; split the file")
    if not any(sign in text for sign in ("*", "[", "{", "\n" + "  " * DEEPEST)):
        return
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            told = f"the alias *{event.anchor}; write the text out"
            raise Mark(None, None, told, event.start_mark)  # type: ignore[arg-type]
        if depth > DEEPEST:
            told = f"lists and mappings over {DEEPEST} deep"
            raise Mark(None, None, told, event.start_mark)  # type: ignore[arg-type]
