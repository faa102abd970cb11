"""KaTeX, run once for all formulas that no earlier build has typeset."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from site_tools.ledger import store
from site_tools.site.formulas import Formula, find

SCRIPT = Path(__file__).with_name("katex.mjs")
PACKAGE = Path(sys.prefix) / "node_modules" / "katex"


def typeset(
    contents: Mapping[str, str], cache: Path, package: Path = PACKAGE
) -> dict[Formula, str]:
    """The HTML of every formula, from the cache where it is there.

    Args:
        contents: The rendered pages, by path.
        cache: A folder that keeps results between builds.
        package: The installed KaTeX.

    Raises:
        FileNotFoundError: if KaTeX is not installed.
        ValueError: naming page and formula, if KaTeX cannot read it.
    """
    pages = {path: _find(html, path) for path, html in contents.items()}
    found = {formula for formulas in pages.values() for formula in formulas}
    if not found:
        return {}
    if not package.exists():
        raise FileNotFoundError(
            f"formulas: KaTeX must be installed in {package}; make test does it"
        )
    version = json.loads((package / "package.json").read_text("utf-8"))["version"]
    maker = version + SCRIPT.read_text("utf-8")
    slots = {formula: cache / _key(formula, maker) for formula in found}
    missing = [formula for formula, slot in slots.items() if not slot.exists()]
    if missing:
        for formula, html in _run(missing, pages, package).items():
            store(slots[formula], html.encode())
    return {formula: slot.read_text("utf-8") for formula, slot in slots.items()}


def _find(html: str, path: str) -> list[Formula]:
    try:
        return find(html)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _key(formula: Formula, maker: str) -> str:
    parts = (maker, str(formula.display), formula.tex)
    return sha256("\0".join(parts).encode()).hexdigest()[:32] + ".html"


def _run(
    formulas: Sequence[Formula], pages: Mapping[str, Sequence[Formula]], package: Path
) -> dict[Formula, str]:
    node = Path(sys.executable).with_name("node")
    job = [{"tex": formula.tex, "display": formula.display} for formula in formulas]
    answer = subprocess.run(
        [node, SCRIPT, (package / "dist" / "katex.mjs").as_uri()],
        input=json.dumps(job),
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
    )
    results = dict(zip(formulas, json.loads(answer.stdout), strict=True))
    for path, inside in pages.items():
        for formula in inside:
            if message := results.get(formula, {}).get("error"):
                raise ValueError(
                    f"{path}: KaTeX must be able to read every formula, "
                    f"got ${formula.tex}$: {message}"
                )
    return {formula: result["html"] for formula, result in results.items()}
