"""The order in which the pages of a folder are read."""

from collections.abc import Collection, Mapping

# Pages that stand before the others of their folder.
FIRST = ("index", "ten_asserts", "wrong_answers")


def in_order(pages: Collection[str], needs: Mapping[str, set[str]]) -> list[str]:
    """Needed pages first, ties by id; before everything an index, and ``FIRST``.

    Example:
        >>> in_order(["gae/a", "gae/b"], {"gae/a": {"gae/b"}, "gae/b": set()})
        ['gae/b', 'gae/a']
    """
    waiting = sorted(pages, key=lambda page: (_rank(page), page))
    done: list[str] = []
    while waiting:
        free = (page for page in waiting if needs[page].isdisjoint(waiting))
        page = next(free, waiting[0])  # a cycle is refused where the site is built
        waiting.remove(page)
        done.append(page)
    return done


def _rank(page: str) -> int:
    name = page.rpartition("/")[2]
    return FIRST.index(name) if name in FIRST else len(FIRST)
