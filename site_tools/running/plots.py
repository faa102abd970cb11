"""The backend of matplotlib for the blocks of a notebook: plots become SVG.

matplotlib is imported for a notebook alone, since no other page needs it.
"""

import importlib
import io
import logging
import os
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "matplotlib"
# Text stays text, in whatever font the reader has; equal runs give equal files.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "ppo"}
NOTHING = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def prepare() -> None:
    """Have matplotlib draw for us, and say nothing while it looks for fonts."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["MPLCONFIGDIR"] = str(FOLDER)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib

    matplotlib.use("svg")
    # Here, since its list of fonts is out of reach of the blocks.
    importlib.import_module("matplotlib.pyplot")
    # A reader's browser has a font for what this machine may lack.
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    warnings.filterwarnings("ignore", message=".* is non-interactive")


def take() -> tuple[tuple[str, str], ...]:
    """The name and the SVG of each open figure, which are closed."""
    import matplotlib
    from matplotlib import pyplot

    try:
        with matplotlib.rc_context(SETTINGS):
            open_figures = [pyplot.figure(n) for n in pyplot.get_fignums()]
            return tuple((str(f.get_label()), _svg(f)) for f in open_figures)
    finally:
        pyplot.close("all")


def _svg(figure: Any) -> str:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", transparent=True, metadata=NOTHING)
    return drawn.getvalue()
