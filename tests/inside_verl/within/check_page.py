"""What the page says of verl beyond its lines, and its block that needs verl."""

import pickle
import re
from pathlib import Path

import pytest
import torch
from verl.workers.config import HFModelConfig

from tests.inside_verl.within.data import batch
from tests.inside_verl.within.verls import GAE, originals

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


def test_external_lib_is_not_imported_where_the_configuration_arrives():
    with pytest.raises(ModuleNotFoundError, match="not_there"):
        HFModelConfig(path="anywhere", external_lib="not_there")
    made = HFModelConfig.__new__(HFModelConfig)
    made.__dict__["external_lib"] = "not_there"
    assert pickle.loads(pickle.dumps(made)).external_lib == "not_there"


def test_what_verl_leaves_where_no_token_counts():
    mask = torch.tensor([[1, 1, 0, 1, 0]])
    values = torch.arange(5.0)[None]
    advantages, returns = GAE(values.sin(), values, mask, 1.0, 0.5)
    assert advantages[0, 2] == advantages[0, 3] and returns[0, 2] != 0
    half, _ = GAE(values.sin().bfloat16(), values.bfloat16(), mask, 1.0, 0.5)
    assert half.dtype == torch.bfloat16
