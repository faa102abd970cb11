"""The theme's styles, cut to what the pages of a site and its scripts name.

A rule stays if one of its selectors could apply: each class that it needs stands in a
page or is a word of a script, which may set it, and the pages are written in its
direction. A custom property stays if something reads it.
"""

import re
from collections.abc import Iterable, Iterator, Set
from itertools import pairwise
from typing import Any

import tinycss2

CLASSES = re.compile(r'\bclass="([^"]*)"')
DIRECTION = re.compile(r'\bdir="?(ltr|rtl|auto)\b')
WORD = re.compile(r"[A-Za-z_][\w-]*")
READ = re.compile(r"\bvar\(\s*(--[\w-]+)")
NESTED = ("media", "supports")


def words(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Every class and direction of the pages, and every word of the scripts.

    Example:
        >>> sorted(words(['<p class="a b-c" dir="ltr">x</p>'], ['y.add("d")']))
        ['a', 'add', 'b-c', 'd', 'dir=ltr', 'y']
    """
    found = {word for script in scripts for word in WORD.findall(script)}
    for page in pages:
        found.update(f"dir={direction}" for direction in DIRECTION.findall(page))
        for names in set(CLASSES.findall(page)):
            found.update(names.split())
    return found


def cut(css: str, used: Set[str]) -> str:
    """Leave the rules that can apply where only these classes are used.

    Args:
        css: A style sheet.
        used: What :func:`words` found. What a selector says in parentheses, as in
            ``:not(.a)``, does not count, nor what is in brackets but for ``dir``.

    Example:
        >>> cut(".a{top:0}.b,.a>p{top:1px}@media print{.b{top:0}}", {"a"})
        '.a{top:0}.a>p{top:1px}'
    """
    return "".join(_kept(tinycss2.parse_stylesheet(css), used))


def properties(texts: Iterable[str]) -> set[str]:
    """Every custom property that something reads.

    Args:
        texts: Sheets, pages and scripts.

    Example:
        >>> sorted(properties(["a{--b:var(--c)}", '<p style="top:var( --d, 0)">']))
        ['--c', '--d']
    """
    return {name for text in texts for name in READ.findall(text)}


def without_unread(css: str, elsewhere: Set[str]) -> str:
    """Leave out the custom properties that neither the sheet nor anything else reads.

    Args:
        css: A style sheet.
        elsewhere: What :func:`properties` found in all else.

    Example:
        >>> without_unread("a{--b:0;--c:1px;--d:var(--c);top:var(--b)}", set())
        'a{--b:0;top:var(--b)}'
    """
    read = properties([css]) | elsewhere
    left = "".join(_read(tinycss2.parse_stylesheet(css), read))
    # What only a property that is gone read can go too.
    return left if left == css else without_unread(left, elsewhere)


def _read(rules: Iterable[Any], names: Set[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in NESTED:
            head, inner = tinycss2.serialize(rule.prelude), rule.content
            inside = "".join(_read(tinycss2.parse_rule_list(inner), names))
            yield f"@{rule.at_keyword}{head}{{{inside}}}"
        elif rule.type == "qualified-rule" and "--" in tinycss2.serialize(rule.content):
            declarations = tinycss2.parse_blocks_contents(rule.content)
            some = (d.serialize() for d in declarations if _is_read(d, names))
            yield f"{tinycss2.serialize(rule.prelude)}{{{';'.join(some)}}}"
        else:
            yield rule.serialize()


def _is_read(declaration: Any, names: Set[str]) -> bool:
    if declaration.type != "declaration":
        return declaration.type not in ("comment", "whitespace")
    return not declaration.name.startswith("--") or declaration.name in names


def _kept(rules: Iterable[Any], used: Set[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            some = [s for s in _selectors(rule.prelude) if _needs(s) <= used]
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


def _needs(selector: list[Any]) -> set[str]:
    classes = {
        name.value
        for dot, name in pairwise(selector)
        if dot == "." and name.type == "ident"
    }
    brackets = "".join(t.serialize() for t in selector if t.type == "[] block")
    return classes | {f"dir={direction}" for direction in DIRECTION.findall(brackets)}
