"""make runs: produce what is stale, draw what changed."""

import sys
from pathlib import Path

from site_tools.runs.make import make, redraw
from site_tools.runs.producing import produce
from site_tools.runs.table import CHARTS, RUNS

if __name__ == "__main__":
    try:
        failed = make(Path.cwd(), RUNS, produce)
    except KeyboardInterrupt:
        sys.exit("\nStopped; what is stored stays. make runs goes on from there.")
    if failed:
        sys.exit("\n".join(["These runs failed, and nothing replaced them:", *failed]))
    redraw(Path.cwd(), CHARTS)
