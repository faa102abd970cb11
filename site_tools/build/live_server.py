"""The generator's own live server of one language, on the folder it is compiled into.

``serve`` starts ``python -m site_tools.build.live_server zh 127.0.0.1:8001``, and
writes a line with the changed files, between tabs, for each change. A page is compiled
again, and the generator sees that its Markdown has changed.
"""

import os
import sys
import threading

from mkdocs.__main__ import cli

from site_tools.build.live import live


def listen(lang: str) -> None:
    """Compile what the server says has changed, until it ends."""
    for line in sys.stdin:
        live(lang).recompile(line.rstrip("\n").split("\t"))
    os._exit(0)


def main() -> None:
    lang, address = sys.argv[1:]
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    here = live(lang)
    here.say("building ...")
    here.compile()
    threading.Thread(target=listen, args=[lang], daemon=True).start()
    cli.main(["serve", "--dirty", "--quiet", "-f", str(here.settings), "-a", address])


if __name__ == "__main__":
    main()
