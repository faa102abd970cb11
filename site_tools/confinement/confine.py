"""All that keeps a block apart, put on in the order in which it can be."""

from site_tools.confinement import folders, guard, limits, system_calls
from site_tools.confinement.reach import OWN, reach


class Confinement:
    """What confines the processes of a page; made once, in the one that forks them.

    Args:
        folder: The one place where they write.
        cuda: Whether they may use a GPU.

    Raises:
        OSError: if the kernel knows a means and does not take it.
    """

    def __init__(self, folder: str, cuda: bool = False) -> None:
        within = reach(folder, cuda)
        self._cuda = cuda
        self._rules = folders.prepare(within)
        self._guard = guard.Guard(within)

    def enter(self) -> None:
        """Confine this process, and all it starts, for good.

        Raises:
            OSError: as above; nothing may run then.
        """
        limits.apply(self._cuda)
        limits.drop_rights()
        if self._rules is not None:
            folders.allow(self._rules, OWN)
            folders.restrict(self._rules)
        if system_calls.available():
            system_calls.restrict(self._cuda)
        self._guard.install()


def means() -> tuple[str, ...]:
    """What of this machine's kernel cuts a block off, besides Python's own guard."""
    files = ("files",) if folders.version() else ()
    return (*files, "calls") if system_calls.available() else files
