"""What the page says of verl beyond its lines, and its block that needs verl."""

import re
from pathlib import Path

import torch

from tests.inside_verl.within.data import batch
from tests.inside_verl.within.verls import originals

SNIPPET = Path(__file__).parents[3] / "snippets/reference/inside_verl.py"
SECTION = re.compile(r"# --8<-- \[start:compare\]\n(.*?)# --8<-- \[end", re.DOTALL)


def test_both_on_a_dumped_batch(tmp_path, monkeypatch, capsys):
    (code,) = SECTION.findall(SNIPPET.read_text("utf-8"))
    monkeypatch.chdir(tmp_path)
    torch.save(dict(batch(0).batch.items()), "dump.pt")
    with originals():
        exec(code, {})
    theirs, ours = capsys.readouterr().out.split("tensor")[1:]
    assert theirs.strip() == ours.strip()
