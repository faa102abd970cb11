"""The lock of a page after a mechanical change: what agreed before agrees still."""

from collections.abc import Mapping

from site_tools.data.locks import Lock, lock_of

Words = Mapping[str, str]
Pair = tuple[Words, Words]


def relocked(lock: Lock, before: Pair, after: Pair) -> Lock:
    """The lock with those sections recorded anew that were recorded as they stood.

    A section that somebody has changed since, in either language, stays as it was
    recorded: nobody has said that both languages agree there.

    Args:
        lock: What was recorded.
        before: The words of the page in Chinese and English, before the change.
        after: The same after it.

    Example:
        >>> lock = lock_of({"why": "是,"}, {"why": "So,"})
        >>> new = relocked(lock, ({"why": "是,"}, {}), ({"why": "是，"}, {}))
        >>> new == lock
        True
    """
    old, new = lock_of(*before), lock_of(*after)
    if old == lock:
        return new
    agreed = {section for section in old if lock.get(section) == old[section]}
    return {
        section: new[section] if section in agreed and section in new else recorded
        for section, recorded in lock.items()
    }
