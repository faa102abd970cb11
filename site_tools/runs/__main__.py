"""make runs: produce what is stale, draw what changed."""

import sys
from pathlib import Path

from site_tools.runs.closure import closure_hash
from site_tools.runs.making import make, redraw
from site_tools.runs.producing import produce
from site_tools.runs.table import CHARTS, RUNS

PRODUCING = Path("site_tools/runs/producing.py")


def main(root: Path) -> None:
    failed = make(root, RUNS, produce, closure_hash(root, root / PRODUCING))
    if failed:
        sys.exit("\n".join(["These runs failed, and nothing replaced them:", *failed]))
    redraw(root, CHARTS)


if __name__ == "__main__":
    try:
        main(Path.cwd())
    except KeyboardInterrupt:
        sys.exit("\nStopped; what is stored stays. make runs goes on from there.")
