"""The live site's only hook: each page that the generator has built is finished."""

import logging
from pathlib import Path
from typing import Any

from site_tools.build.live import live


def on_pre_build(config: Any) -> None:
    """Called before each build: warnings are told, what is done is not."""
    logging.getLogger("mkdocs").setLevel(logging.WARNING)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Called by the generator for each page that it has built."""
    here = live(config.theme["language"])
    return here.finish(page.file.dest_uri, output, Path(config.site_dir))


def on_post_build(config: Any) -> None:
    """Called when all of them have been."""
    here = live(config.theme["language"])
    here.complete(Path(config.site_dir), config.site_name)
    here.say("built")
