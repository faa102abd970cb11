"""The parts of a page that are landmarks have names of their own."""

import re

# The theme names a group of pages by the label that opens it. Where the group has a
# page of its own that label is an arrow without a word; the title inside has one.
_GROUP = re.compile(
    r'aria-labelledby="(\w+)_label"([^>]*>\s*<label class="md-nav__title") for='
)


def named(html: str) -> str:
    """A page whose groups in the navigation are named by their titles.

    Example:
        >>> print(named('''<nav class="md-nav" aria-labelledby="__nav_2_label">
        ...   <label class="md-nav__title" for="__nav_2">Lab</label>'''))
        <nav class="md-nav" aria-labelledby="__nav_2_title">
          <label class="md-nav__title" id="__nav_2_title" for="__nav_2">Lab</label>
    """
    return _GROUP.sub(r'aria-labelledby="\1_title"\2 id="\1_title" for=', html)
