"""The whole site in site/: both languages at the same time, or nothing new at all.

Run it from the root of the repository: ``python -m docs.theme.publish``. A block that
is not verified as it stands fails the build; with ``--draft`` it is only marked so.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from docs.theme import downloads
from docs.theme.building import CONFIGS

SITE = Path("site")
ASIDE = Path(".cache", "publish")
# Material's notice of MkDocs 2, which each language would print.
QUIET = {"NO_MKDOCS_2_WARNING": "1"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the site in both languages.")
    parser.add_argument("--draft", action="store_true")
    strict = [] if parser.parse_args().draft else ["--strict"]
    shutil.rmtree(ASIDE, ignore_errors=True)
    builds = {lang: start(lang, *strict) for lang in CONFIGS}
    failed = [lang for lang, build in builds.items() if build.wait() != 0]
    if failed:
        kept = f"; {SITE}/ is as it was" if SITE.exists() else ""
        sys.exit(f"not built: {', '.join(failed)}, see above{kept}")
    (ASIDE / "en").rename(ASIDE / "zh" / "en")
    try:
        downloads.add(ASIDE / "zh")
    except ValueError as error:
        sys.exit(f"not built: {error}")
    shutil.rmtree(SITE, ignore_errors=True)
    (ASIDE / "zh").rename(SITE)


def start(lang: str, *options: str) -> subprocess.Popen[bytes]:
    """Build one language aside."""
    mkdocs = [sys.executable, "-m", "mkdocs", "build", *options]
    return subprocess.Popen(
        [*mkdocs, "-f", CONFIGS[lang], "-d", str(ASIDE.absolute() / lang)],
        env=os.environ | QUIET,
    )


if __name__ == "__main__":
    main()
