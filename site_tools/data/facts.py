"""Framework facts: the line of a release that says it, held by a hash of that line.

A file of docs/facts is one concept: its title in both languages, and a list of entries,
each one place in one release; a config default has ``key`` and ``default`` instead of
``quote``.

    zh: 哪一格输出成为 `values[:, t]`
    en: Which output becomes `values[:, t]`
    entries:
    - release: verl 0.9.1                     # or owner/name@sha, in no wheel
      path: verl/workers/utils/padding.py
      lines: 138                              # or 136-138
      hash: 9cf6e368c090                      # places.line_hash of those lines
      quote: "values[seq_offset - resp_len - 1 : seq_offset - 1]"
"""

from html import escape
from typing import Any, NamedTuple

from site_tools.data import records

FORMS = {
    "release": (r"\S+ \d\S*|\S+/\S+@[0-9a-f]{7,}", "name version or owner/name@sha"),
    "path": (r"[^/\s]\S*", "a path inside the release, without leading /"),
    "lines": (r"[1-9]\d*(-[1-9]\d*)?", "a line number, or first-last like 93-95"),
    "hash": (r"[0-9a-f]{12}", "12 hex digits"),
    "quote": (r".{1,120}", "a piece of one line, at most 120 characters"),
    "key": (r"[\w.]+", "a dotted config key"),
    "default": (r".+", "the value the config file gives"),
}

HEAD = {"zh": records.ANY, "en": records.ANY, "entries": None}


class Entry(NamedTuple):
    """One place in one release; ``default`` is the YAML text of the value."""

    release: str
    path: str
    lines: str
    hash: str
    quote: str = ""
    key: str = ""
    default: str = ""

    @property
    def place(self) -> str:
        """Release, path and lines, as readers see them."""
        return f"{self.release} · {self.path}:{self.lines}"

    @property
    def checked(self) -> bool:
        """Whether a wheel has it, so that a test reads it again."""
        return "@" not in self.release

    @property
    def code(self) -> str:
        """What stands there: a piece of code, or a key and its default."""
        return f"{self.key}: {self.default}" if self.key else self.quote

    @property
    def kind(self) -> str:
        """The classes that tell readers whether a test reads the place again."""
        return "fact" if self.checked else "fact unchecked"


class Concept(NamedTuple):
    """All entries of one facts file, in its order, under a title per language."""

    name: str
    entries: tuple[Entry, ...]
    zh: str = ""
    en: str = ""

    @property
    def id(self) -> str:
        """The file's name without its ending, as pages and lists name it."""
        return self.name.removesuffix(".yml")

    @property
    def releases(self) -> list[str]:
        """The releases that the file has entries of, in its order."""
        return list(dict.fromkeys(entry.release for entry in self.entries))


def parse(text: str, name: str) -> Concept:
    """Read a facts file.

    Raises:
        ValueError: naming the file, the entry and the field that is wrong.
    """
    items = records.load(text, name)
    if isinstance(items, list) or items is None:
        raise ValueError(
            f"{name}: must be a mapping; write three lines above the entries: "
            "zh: <title>, en: <title>, entries:"
        )
    records.check(name, items, HEAD)
    records.check_words(name, items, ("zh", "en"))
    if not isinstance(items["entries"], list) or not items["entries"]:
        raise ValueError(f"{name}: entries must be a list of '- release: ...'")
    rows = enumerate(items["entries"], 1)
    entries = [_entry(f"{name}, entry {n}", item) for n, item in rows]
    return Concept(name, tuple(entries), items["zh"], items["en"])


def render(concept: Concept, release: str) -> str:
    """A ``<p class="fact">`` per entry; ``fact unchecked`` if it is in no wheel.

    Raises:
        ValueError: if the concept has no entry of that release.
    """
    entries = [entry for entry in concept.entries if entry.release == release]
    if not entries:
        known = ", ".join(concept.releases)
        raise ValueError(f"{concept.name}: release must be in {known}, got {release}")
    return "\n".join(map(_paragraph, entries))


def _entry(where: str, item: Any) -> Entry:
    fields = item if isinstance(item, dict) else {}
    kind = ("key", "default") if "key" in fields else ("quote",)
    wanted = ("release", "path", "lines", "hash", *kind)
    where = f"{where} ({fields.get('release', 'no release')})"
    records.check(where, item, {field: FORMS[field] for field in wanted})
    return Entry(**fields)


def _paragraph(entry: Entry) -> str:
    place, code = escape(entry.place), escape(entry.code)
    return f'<p class="{entry.kind}">{place} <code>{code}</code></p>'
