"""What readers see of a rendered page besides code: text, formulas, pictures."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

BOUND = "\ufffc"
BLOCKS = re.compile(
    "address|article|aside|blockquote|br|dd|details|div|dl|dt|fieldset|figure|h[1-6]|hr|"
    "label|li|ol|p|section|summary|table|tbody|td|th|thead|tr|ul"
)
VOID = frozenset(["br", "hr", "img", "input"])
WORDS = ("title", "alt", "aria-label", "data-reason", "placeholder")


@dataclass
class Visible:
    """Pieces of text with whether they stand in a table, and what else is shown.

    A bound figure is ``BOUND`` in the text; code, quotations and what is made from
    checked data are left out.
    """

    texts: list[tuple[str, bool]] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)


def visible(html: str) -> Visible:
    """Read a rendered page as its readers do.

    Example:
        >>> visible("<p>0.<em>5</em> of <code>x</code></p>").texts
        [('0.5 of ', False)]
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.flush()
    return reader.seen


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = Visible()
        self._open: list[tuple[str, str]] = []
        self._text = ""

    def flush(self) -> None:
        if self._text.strip():
            in_table = any(tag in ("td", "th") for tag, _ in self._open)
            self.seen.texts.append((self._text, in_table))
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self._read_attributes(tag, values)
        if BLOCKS.fullmatch(tag):
            self.flush()
        left_out = any(role for _, role in self._open)
        if tag == "code" and "data-is" in values and not left_out:
            self._text += BOUND
        if tag not in VOID:
            self._open.append((tag, self._role(tag, values)))

    def handle_endtag(self, tag: str) -> None:
        if BLOCKS.fullmatch(tag):
            self.flush()
        while self._open and tag in [name for name, _ in self._open]:
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        roles = [role for _, role in self._open if role]
        if not roles:
            self._text += data
        elif roles == ["formula"]:
            self.seen.formulas.append(data.strip()[2:-2])

    def _role(self, tag: str, values: dict[str, str]) -> str:
        classes = values.get("class", "").split()
        if "arithmatex" in classes:
            return "formula"
        checked = {"quote", "names", "fact", "status", "derived"}
        checked |= {"output-table", "headerlink"}
        in_table = any(name in ("td", "th") for name, _ in self._open)
        plain_code = tag == "code" and ("data-is" in values or not in_table)
        return "left out" if tag == "pre" or plain_code or checked & {*classes} else ""

    def _read_attributes(self, tag: str, values: dict[str, str]) -> None:
        left_out = any(role == "left out" for _, role in self._open)
        for key, value in values.items():
            if key in WORDS and not left_out:
                self.seen.texts.append((value, False))
        if tag == "img" and not left_out:
            self.seen.pictures.append(values.get("src", ""))
