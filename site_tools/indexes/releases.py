"""The data files on releases, as the lists need them."""

from pathlib import Path

from site_tools.data import code_map as code_map_file
from site_tools.data import comparison as comparison_file
from site_tools.data import timeline as timeline_file
from site_tools.data.facts import Concept
from site_tools.indexes import sources


def comparison(root: Path) -> tuple[comparison_file.Row, ...]:
    """What releases do, from ``docs/comparison.yml``."""
    text = (root / "docs" / "comparison.yml").read_text("utf-8")
    return comparison_file.parse(text, _by_name(root), sources.QUESTION_TOPICS)


def timeline(root: Path) -> tuple[timeline_file.Change, ...]:
    """What changed in verl, from ``docs/timeline.yml``."""
    text = (root / "docs" / "timeline.yml").read_text("utf-8")
    return timeline_file.parse(text, _by_name(root))


def code_map(root: Path) -> tuple[code_map_file.Row, ...]:
    """The code that the dialogues name, from ``docs/code_map.yml``."""
    return code_map_file.parse((root / "docs" / "code_map.yml").read_text("utf-8"))


def _by_name(root: Path) -> dict[str, Concept]:
    return {concept.id: concept for concept in sources.concepts(root)}
