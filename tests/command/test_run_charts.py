"""The picture of a run is a file of its own, and shows what was measured."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from ppo_ref.chart import draw

SVG = "{http://www.w3.org/2000/svg}"


def test_each_statistic_has_its_line():
    columns = {"kl": {1: 0.5, 2: 0.25, 3: 0.0}, "held_out": {0: 0.4, 2: 0.9}}
    svg = draw("a < b", columns | {"measured_once": {1: 0.5}, "never": {}})
    assert re.findall(r'vector-effect="non-scaling-stroke" d="(.*?)"', svg) == [
        "M1 0l1 300 1 300",  # from the upper edge, in tenths of a pixel, from 0
        "M0 600l2-600",
    ]
    assert "a &lt; b" in svg
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts[1:4] == ["kl", "0.500", "0"]


def test_it_needs_nothing_from_elsewhere_and_has_a_dark_side(whole: Path):
    text = (whole / "charts.svg").read_text("utf-8")
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "href" not in text and "<script" not in text
    assert "@media (prefers-color-scheme: dark)" in text


def test_all_that_was_measured_twice_is_drawn(whole: Path):
    lines = (whole / "statistics.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    names = {name for line in found for name in line} - {"iteration"}
    twice = {name for name in names if sum(name in line for line in found) > 1}
    root = ElementTree.parse(whole / "charts.svg").getroot()
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert twice <= texts and "score" in twice
