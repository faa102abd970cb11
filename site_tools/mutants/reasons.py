"""Why a mutant that nobody noticed may live: said by a person, in a data file."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from site_tools.data.records import ANY, Form, check, load

FORMS: dict[str, Form | None] = {"kind": ANY, "reason": ANY, "of": None}
ANYTHING = "*"


class Reasons(NamedTuple):
    """The reasons of a file, by kind and by what is changed; ``*`` is anything."""

    by_change: dict[tuple[str, str], str]

    def of(self, kind: str, changed: str) -> str | None:
        """Why a mutant may live, or None if nobody said so."""
        squeezed = "".join(changed.split())
        anything = self.by_change.get((kind, ANYTHING))
        return self.by_change.get((kind, squeezed), anything)

    def stale(self, changed: Iterable[tuple[str, str]]) -> Iterator[str]:
        """The reasons that none of these mutants needs."""
        needed = {(kind, "".join(text.split())) for kind, text in changed}
        kinds = {kind for kind, _ in needed}
        for kind, text in self.by_change:
            if (kind, text) not in needed and not (text == ANYTHING and kind in kinds):
                yield f"{kind}: {text}"


def parse(text: str, file: str) -> Reasons:
    """The reasons of a data file.

    Raises:
        ValueError: naming the record that is none, or that says again what is said.

    Example:
        >>> parse("[{kind: links, reason: no network, of: [a.md]}]", "x").of(
        ...     "links", "a.md")
        'no network'
    """
    found: dict[tuple[str, str], str] = {}
    records: list[Any] = load(text, file)
    for number, record in enumerate(records, 1):
        where = f"{file}, record {number}"
        check(where, record, FORMS)
        for changed in record["of"]:
            key = record["kind"], "".join(changed.split())
            if key in found:
                raise ValueError(f"{where}: a second reason for {changed!r}")
            found[key] = record["reason"]
    return Reasons(found)
