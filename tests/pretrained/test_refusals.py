"""Folders that hold no model an actor could be made of."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from ppo_ref.train.pretrained import pretrained_actor, pretrained_tokenizer
from tests.pretrained.folders import configuration, network, pretrained, save

pytestmark = pretrained
BOTH = pytest.mark.parametrize("read", [pretrained_actor, pretrained_tokenizer])
WEIGHTS = "the weights of a causal language model, all and no others, got "


def refused(path: Path, text: str, read: Any = pretrained_actor) -> None:
    with pytest.raises(ValueError, match=f"^pretrained: {re.escape(text)}") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@BOTH
def test_what_is_no_folder_or_cannot_be_read(read, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere", tmp_path / "file"):
        refused(path, f"path must be a folder, got {str(path)!r}", read)
    refused(tmp_path, f"{tmp_path} must hold what Auto", read)
    monkeypatch.setitem(sys.modules, "transformers", None)
    text = "the package transformers must be installed; make tools does it"
    refused(tmp_path, text, read)


def change_config(folder: Path, **values: Any) -> None:
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), **values}))


def scoring(folder: Path) -> None:
    from transformers import AutoModelForSequenceClassification

    config = configuration("llama", num_labels=1)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)


def scaling_its_logits(folder: Path) -> None:
    from transformers import CohereConfig, CohereForCausalLM

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CohereConfig(logit_scale=2.0, vocab_size=40, intermediate_size=16, **sizes)
    CohereForCausalLM(config).save_pretrained(folder)


def with_a_layer_too_many(folder: Path) -> None:
    """transformers leaves it out: the config may say too few layers."""
    save(folder, "llama")
    change_config(folder, num_hidden_layers=1)


def cut_off(folder: Path) -> None:
    weights = save(folder, "llama") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])


def pickled(folder: Path) -> None:
    """To read these weights would be to run whatever code they hold."""
    save(folder, "llama")
    (folder / "model.safetensors").unlink()
    torch.save(network("llama").state_dict(), folder / "pytorch_model.bin")


REFUSED: dict[Callable[[Path], None], str] = {
    scoring: f"{WEIGHTS}missing keys such as lm_head.weight",
    with_a_layer_too_many: f"{WEIGHTS}unexpected keys such as model.layers.1.",
    scaling_its_logits: "a model whose logits are its head's, got CohereForCausalLM, "
    "which differs by 50.0%",
    cut_off: "what AutoModelForCausalLM reads, got ",
    pickled: "what AutoModelForCausalLM reads, got OSError: ",
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_model_that_is_refused(tmp_path, make):
    make(tmp_path)
    refused(tmp_path, f"{tmp_path} must hold {REFUSED[make]}")


@pytest.mark.parametrize("kind", ["no-such", "llama"])
def test_code_in_the_folder_is_not_run(tmp_path, kind):
    save(tmp_path, "llama")
    mark = tmp_path / "mark"
    (tmp_path / "code.py").write_text(f"open({str(mark)!r}, 'w')")
    ways = {"AutoConfig": "code.A", "AutoModelForCausalLM": "code.B"}
    change_config(tmp_path, auto_map=ways, model_type=kind)
    if kind == "llama":  # which transformers knows: its own code does it
        pretrained_actor(tmp_path)
    else:
        refused(tmp_path, f"{tmp_path} must hold what AutoModelForCausalLM reads, got ")
    assert not mark.exists()
