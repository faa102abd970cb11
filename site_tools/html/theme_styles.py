"""The theme's styles, cut to what the pages of a site and its scripts name.

A rule stays if one of its selectors could apply: each class that it needs stands in a
page or is a word of a script, which may set it.
"""

import re
from collections.abc import Iterable, Iterator, Set
from itertools import pairwise
from typing import Any

import tinycss2

CLASSES = re.compile(r'\bclass="([^"]*)"')
WORD = re.compile(r"[A-Za-z_][\w-]*")
NESTED = ("media", "supports")


def words(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Every class of the pages, and every word of the scripts.

    Example:
        >>> sorted(words(['<p class="a b-c">x</p>'], ['y.add("d")']))
        ['a', 'add', 'b-c', 'd', 'y']
    """
    found = {word for script in scripts for word in WORD.findall(script)}
    for page in pages:
        for names in set(CLASSES.findall(page)):
            found.update(names.split())
    return found


def cut(css: str, used: Set[str]) -> str:
    """Leave the rules that can apply where only these classes are used.

    Args:
        css: A style sheet.
        used: The classes; what a selector says in brackets or parentheses, as in
            ``:not(.a)``, does not count.

    Example:
        >>> cut(".a{top:0}.b,.a>p{top:1px}@media print{.b{top:0}}", {"a"})
        '.a{top:0}.a>p{top:1px}'
    """
    return "".join(_kept(tinycss2.parse_stylesheet(css), used))


def _kept(rules: Iterable[Any], used: Set[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            some = [s for s in _selectors(rule.prelude) if _classes(s) <= used]
            if some:
                selectors = ",".join(map(tinycss2.serialize, some))
                yield f"{selectors}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in NESTED:
            inner = "".join(_kept(tinycss2.parse_rule_list(rule.content), used))
            if inner:
                head = tinycss2.serialize(rule.prelude)
                yield f"@{rule.at_keyword}{head}{{{inner}}}"
        elif rule.type not in ("comment", "whitespace"):
            yield rule.serialize()


def _selectors(prelude: Iterable[Any]) -> list[list[Any]]:
    selectors: list[list[Any]] = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def _classes(selector: Iterable[Any]) -> set[str]:
    return {
        name.value
        for dot, name in pairwise(selector)
        if dot == "." and name.type == "ident"
    }
