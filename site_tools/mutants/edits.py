"""Mutants of code: one exact edit of one file each, and the pages that should notice.

They are data, a record each: what is broken, where, and which pages explain it.
"""

from dataclasses import dataclass

from site_tools.data.records import ANY, Form, check, load

FORMS: dict[str, Form | None] = {
    "name": ANY,
    "file": (r"(?:ppo_ref|snippets)/[a-z0-9_/]+\.py", "a module or a snippet"),
    "old": (r"(?s).*\S.*", "a piece of the file"),
    "new": (r"(?s).*", "what stands there instead"),
    "pages": (r"[a-z0-9_/]+(?: [a-z0-9_/]+)*", "page ids with blanks between"),
}


@dataclass(frozen=True)
class Edit:
    """A mutant of code.

    Args:
        name: What it breaks.
        file: Relative to the project.
        old: A piece of the file that stands in it once.
        new: What the mutant has in its place.
        pages: Those that explain what it breaks, and so should notice.
    """

    name: str
    file: str
    old: str
    new: str
    pages: tuple[str, ...]

    @property
    def module(self) -> str:
        """The name under which Python imports the file."""
        return self.file.removesuffix(".py").replace("/", ".")


def parse(text: str, file: str) -> list[Edit]:
    """The mutants of a data file.

    Args:
        text: The content of the file.
        file: Its name, for the messages.

    Raises:
        ValueError: naming the record, if it is none or its name is taken.
    """
    edits: dict[str, Edit] = {}
    for number, record in enumerate(load(text, file), 1):
        check(f"{file}, record {number}", record, FORMS)
        edit = Edit(**{**record, "pages": tuple(record["pages"].split())})
        if edit.name in edits:
            raise ValueError(f"{file}, record {number}: a second {edit.name!r}")
        edits[edit.name] = edit
    return [*edits.values()]


def apply(edit: Edit, text: str) -> str:
    """The text of the file with the mutant in it.

    Raises:
        ValueError: if the piece does not stand in it exactly once, or does not change.

    Example:
        >>> apply(Edit("flip a sign", "ppo_ref/kl.py", "a - b", "b - a", ()), "a - b")
        'b - a'
    """
    found = text.count(edit.old)
    if found != 1 or edit.old == edit.new:
        wanted = "a piece of it once" if found != 1 else "a change"
        raise ValueError(
            f"{edit.name}: must change {wanted} in {edit.file}, "
            f"got {edit.old!r}, {found} times"
        )
    return text.replace(edit.old, edit.new)
