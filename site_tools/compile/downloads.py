"""Downloads for readers: what is made of the whole site, and ppo_ref as a wheel."""

import json
import os
import posixpath
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from site_tools.ledger import digest
from site_tools.messages import Refusal

ZIP, LLMS, FULL = "offline.zip", "llms.txt", "llms-full.txt"
BOOK_EPUB, BOOK_PDF = "ppo-verified.epub", "ppo-verified.pdf"  # of each language
SKILL = "skills/verify-ppo/SKILL.md"  # for coding agents; as it lies in the project
PAGE = "page.md"  # beside each page: the same as an agent reads it
OFFLINE = "about/offline/"  # the page that offers them

PACKAGE = "ppo_ref"
# Code, its data, and what an index shows of it.
KINDS = (".py", ".typed", ".json", ".jsonl", ".html", ".css", ".js", ".md")
BESIDE = ("pyproject.toml", "LICENSE")
VERSION_LINE = re.compile(r'(?m)^version = "([^"]+)"$')
BUILD = "from setuptools.build_meta import build_wheel; build_wheel('out')"
EPOCH = "315532800"  # the first date that a zip file knows


def wheel(root: Path, cache: Path, addresses: Mapping[str, str] | None = None) -> Path:
    """The wheel of the package, from the cache if its sources have not changed.

    Its version carries a hash of them, since pip leaves an equal version in place: a
    second installation from the same address brings what is there now. No file of the
    project names an address; whoever builds does, and the wheel says them.
    """
    try:
        package = [p for p in sorted((root / PACKAGE).rglob("*")) if p.is_file()]
        code = [path for path in package if path.suffix in KINDS]
        files = [*code, *(root / name for name in BESIDE)]
        sources = {p.relative_to(root).as_posix(): p.read_bytes() for p in files}
        sources["pyproject.toml"] += urls_table(addresses or {}).encode()
        made_from = digest(repr(sources), 8)
        folder = cache / made_from
        if not any(folder.glob("*.whl")):
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as aside:
                _build(Path(aside), sources, made_from)
                with suppress(OSError):  # the other language may have been faster
                    Path(aside, "out").rename(folder)
        return next(folder.glob("*.whl"))
    except OSError as error:
        raise Refusal("wheel_failed", reason=error) from None


def urls_table(addresses: Mapping[str, str]) -> str:
    """The table of links of a project, as pyproject.toml has it; of none, nothing."""
    lines = []
    for name, address in addresses.items():
        if address:
            lines.append(f"{name} = {json.dumps(address)}\n")
    return "\n[project.urls]\n" + "".join(lines) if lines else ""


def _build(folder: Path, sources: dict[str, bytes], made_from: str) -> None:
    for name, content in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)  # the wheel keeps it, and the umask
    project = (folder / "pyproject.toml").read_text("utf-8")
    # A local version of digits alone would lose its zeros.
    project, count = VERSION_LINE.subn(rf'version = "\1+src{made_from}"', project)
    if count != 1:
        raise Refusal("wheel_version")
    (folder / "pyproject.toml").write_text(project, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=folder,
        env=os.environ | {"SOURCE_DATE_EPOCH": EPOCH, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        errors="replace",
        umask=0o022,
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise Refusal("wheel_failed", reason=last)


def package_address(folder: Path, url: str, address: str) -> str:
    """The address of the wheel in a built site, from a page of it, if it has one."""
    name = next((quote(file.name) for file in folder.glob("*.whl")), "")
    if not name or address:
        return address + name if name else ""
    return posixpath.relpath(f"/{name}", f"/{url}")
