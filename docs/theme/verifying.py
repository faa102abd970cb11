"""The verification behind the live server, in a process of its own."""

import os
import subprocess
import sys
import threading

from docs.theme.building import CODE, state

COMMAND = [sys.executable, "-m", "site_tools.running.background"]
SOURCES = ("docs/zh", "docs/en", "snippets", *CODE)


class Verifying(threading.Thread):
    """Verifies what is stale whenever a source has changed, one process at a time.

    The process ends when its standard input does, so that it cannot outlive this one.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen = state()
        self.news = threading.Event()
        self.process: subprocess.Popen[bytes] | None = None
        self.ending = False

    def look(self) -> None:
        """Have it verify again if a source has changed since the last look."""
        sources = state(*SOURCES)
        if sources != self.seen:
            self.seen = sources
            self.news.set()

    def run(self) -> None:
        how = ["again"]  # what failed in an earlier session, once
        while self.news.wait() and not self.ending:
            self.news.clear()
            self.process = subprocess.Popen(
                [*COMMAND, *how],
                stdin=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for this process, which ends it
                env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            )
            how = []
            self.process.wait()

    def end(self) -> None:
        self.ending = True
        self.news.set()
        if self.process and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()
