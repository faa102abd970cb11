"""Folders that hold no model an actor could be made of."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppo_ref.train.pretrained import pretrained_actor, pretrained_tokenizer
from tests.pretrained.folders import configuration, network, pretrained, save

pytestmark = pretrained
BOTH = pytest.mark.parametrize("read", [pretrained_actor, pretrained_tokenizer])
UNREAD = "a causal language model in safetensors, got"
TINY = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
TINY |= {"vocab_size": 40, "intermediate_size": 16}


def refused(path: Path, text: str, read: Any = pretrained_actor) -> None:
    text = f"{read.__name__}: {text}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@BOTH
def test_what_is_no_folder_has_no_config_or_cannot_be_read(read, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere", tmp_path / "file"):
        refused(path, f"path must be a folder, got {str(path)!r}", read)
    refused(tmp_path, f"path must hold config.json, got none in '{tmp_path}'", read)
    (tmp_path / "config.json").write_text("{}")
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

    CohereForCausalLM(CohereConfig(logit_scale=2.0, **TINY)).save_pretrained(folder)


def with_another_cache(folder: Path) -> None:
    from transformers import BartConfig, BartForCausalLM

    sizes = {"d_model": 16, "decoder_attention_heads": 2, "decoder_ffn_dim": 16}
    config = BartConfig(vocab_size=40, encoder_layers=1, decoder_layers=2, **sizes)
    BartForCausalLM(config).save_pretrained(folder)


def short(folder: Path) -> None:
    network("gpt2", n_positions=11).save_pretrained(folder)


def with_a_layer_too_many(folder: Path) -> None:
    """transformers leaves it out: the config may say too few layers."""
    save(folder, "llama")
    change_config(folder, num_hidden_layers=1)


def cut_off(folder: Path) -> None:
    weights = save(folder, "llama") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])


def with_an_adapter(folder: Path) -> None:
    (save(folder, "llama") / "adapter_config.json").write_text("{}")


REFUSED: dict[Callable[[Path], None], str] = {
    scoring: "all weights of a causal language model, got no lm_head.weight in ",
    scaling_its_logits: "a model whose logits are its head's, padded and cached or "
    "not, got CohereForCausalLM, which differs by 50.0%",
    with_another_cache: "a model that reads tokens alone, padding and a cache, got "
    "BartForCausalLM: IndexError: ",
    short: "a model for sequences of 12 tokens, got one for 11 in ",
    with_a_layer_too_many: "only weights of its causal language model, got also "
    "model.layers.1.input_layernorm.weight in ",
    cut_off: UNREAD,
    with_an_adapter: "a whole model, got an adapter in ",
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_model_that_is_refused(tmp_path, make):
    make(tmp_path)
    refused(tmp_path, f"path must hold {REFUSED[make]}")


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
        refused(tmp_path, f"path must hold {UNREAD}")
    assert not mark.exists()
