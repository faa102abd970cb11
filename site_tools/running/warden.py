"""Runs the blocks of one page in processes of their own, and ends these in time.

It runs no block itself, so that what a block does to its process is not done to what
watches it.
"""

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Generator
from contextlib import closing, suppress

from site_tools.confinement.confine import Confinement
from site_tools.running import blocks_run, plots, results
from site_tools.running.model import NOT_RUN, PageToRun
from site_tools.running.results import Done
from site_tools.running.watched import ENDED, Abandoned, Stopped, Watched


def serve(page: PageToRun, answers: int) -> None:
    """Run a page, and write what each block did.

    Args:
        page: The page; each block runs alone first, then all of them in order.
        answers: Where that goes; once its other end is closed, all of it ends.
    """
    folder = tempfile.mkdtemp(prefix="page-")
    try:
        os.chdir(folder)
        os.environ.update(HOME=folder, TMPDIR=folder)
        tempfile.tempdir = None
        warnings.simplefilter("error")
        if page.once:
            plots.prepare()
        with closing(outcomes(page, folder, answers)) as done:
            for each in done:
                results.write(answers, each)
    except (Abandoned, BrokenPipeError):
        pass
    finally:
        with suppress(ChildProcessError):
            while os.wait():
                pass
        with suppress(RecursionError):  # folders in folders, without end
            shutil.rmtree(folder, ignore_errors=True)
        if os.path.exists(folder):
            subprocess.run(["rm", "-rf", "--", folder], check=False)


def outcomes(
    page: PageToRun, folder: str, listener: int
) -> Generator[Done, None, None]:
    """What each block did; after one that was stopped the later ones are not run.

    Args:
        page: The page.
        folder: An empty working folder.
        listener: Is ready to be read once nobody waits any more.

    Raises:
        Abandoned: when nobody does.
    """
    confinement = Confinement(folder, page.cuda)
    if page.once:
        yield from [None] * len(page.sources)
    stopped = False
    for run, count in blocks_run.stages(page):
        if stopped:
            yield from [NOT_RUN] * count
            continue
        child = Watched(page, folder, listener)
        child.start(run, confinement)
        try:
            for given in range(count):
                try:
                    yield child.next()
                except Stopped as stop:
                    stopped = stop.failure != ENDED
                    yield stop.failure
                    yield from [NOT_RUN] * (count - given - 1)
                    break
        finally:
            child.end()
