"""A module of ppo_ref with a mutant in it, for whoever imports it from now on."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import socket
import sys
from collections.abc import Callable

from site_tools.mutants.edits import Edit, apply
from site_tools.running import fork_server


class Loader(importlib.machinery.SourceFileLoader):
    """Reads the file, and changes what it read; no byte code is kept."""

    def __init__(self, module: str, path: str, change: Callable[[str], str]) -> None:
        super().__init__(module, path)
        self.change = change

    def get_code(self, name):
        text = self.change(self.get_source(name))
        return compile(text, self.path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Finds one module, with its mutant."""

    def __init__(self, module: str, change: Callable[[str], str]) -> None:
        self.module, self.change = module, change

    def find_spec(self, name, path, target=None):
        if name != self.module:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)
        loader = Loader(name, found.origin, self.change)
        return importlib.util.spec_from_loader(name, loader, origin=found.origin)


def install(edit: Edit) -> None:
    """Let this process import the mutant; it must not have imported the package."""
    assert "ppo_ref" not in sys.modules
    plant(edit.module, lambda text: apply(edit, text))


def plant(module: str, change: Callable[[str], str]) -> None:
    """Let this process import a changed module, which nobody may have imported yet."""
    assert module not in sys.modules
    sys.meta_path.insert(0, Finder(module, change))


def fork_here() -> None:
    """Import all of the package, and let pages start as forks of this process."""
    fork_server._preload()
    fork_server.ask = _ask


def _ask() -> socket.socket:
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        fork_server._run(theirs.fileno())
    theirs.close()
    return ours
