"""The words under which a page is found: a question and an alias belong to one page."""

import unicodedata
from functools import cache
from typing import NamedTuple

from site_tools.messages import Problems
from site_tools.page.page import Page
from site_tools.source.files import paths, read_front_matter, split_aliases, text_of


class Claim(NamedTuple):
    """Words that a page is found by, as written, and the key that they stand under."""

    words: str
    key: str
    of_section: bool  # one of a symptom may be the question of the page it leads to

    @property
    def heard(self) -> tuple[str, bool]:
        """The words without capitals, blanks and punctuation."""
        words = unicodedata.normalize("NFKC", self.words).casefold()
        letters = "".join(sign for sign in words if sign.isalnum())
        return letters, self.of_section


def check_claims(page: Page) -> Problems:
    """The question or title and the aliases that a page of the language has already."""
    own = claims(page.text)
    first = dict[tuple[str, bool], Claim]()
    for claim in own:
        before = first.setdefault(claim.heard, claim)
        if before is not claim and claim.heard[0]:
            line = page.line_with("aliases:") or 1
            values = {"words": claim.words, "key": before.key, "other": before.words}
            yield page.problem(line, "claim_again", **values)
    docs = page.root / "docs" / page.language
    for path in paths(docs):
        if path == f"{page.id}.md":
            continue
        others = {claim.heard: claim for claim in claims(text_of(docs / path))}
        for claim in own:
            other = others.get(claim.heard)
            if other and claim.heard[0]:
                line = page.line_with(claim.words) or 1
                values = {"words": claim.words, "key": claim.key, "other": other.words}
                file = f"docs/{page.language}/{path}"
                yield page.problem(line, "claim_twice", file=file, **values)


@cache  # keyed by the text: a changed page is read again
def claims(text: str) -> tuple[Claim, ...]:
    """The words that a page is found by, if its front matter can be read."""
    front, _ = read_front_matter(text, "")
    found = []
    for key in ("question", "title"):
        if isinstance(front.get(key), str):
            found.append(Claim(front[key], key, False))
    for section, aliases in split_aliases(front.get("aliases")).items():
        for alias in aliases:
            found.append(Claim(alias, "aliases", section != ""))
    return tuple(found)
