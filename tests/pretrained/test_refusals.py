"""Folders that hold no model an actor could be made of."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from ppo_ref.pretrained import actor
from ppo_ref.pretrained.actor import pretrained_actor
from ppo_ref.pretrained.library import read
from ppo_ref.pretrained.tokenizer import pretrained_tokenizer
from tests.pretrained.folders import configuration, network, pretrained, save

BOTH = pytest.mark.parametrize("read", [pretrained_actor, pretrained_tokenizer])


def refused(path: Path, text: str, read: Any = pretrained_actor) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@BOTH
def test_what_is_no_folder(read, tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere", tmp_path / "file", "meta/llama"):
        text = f"{read.__name__}: path must be a folder, got {str(path)!r}"
        refused(path, text, read)


@BOTH
def test_transformers_is_missing(read, tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "transformers", None)
    text = "the package transformers must be installed; make tools does it"
    refused(tmp_path, f"{read.__name__}: {text}", read)


def test_the_package_is_whole_without_transformers():
    code = (
        "import sys; sys.modules['transformers'] = None\n"
        "import ppo_ref.command.train, ppo_ref.pretrained.tokenizer"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


class TestWithTransformers:
    pytestmark = pretrained

    @pytest.mark.parametrize("bars", [False, True])
    def test_what_transformers_shows_is_as_before(self, tmp_path, bars):
        from transformers.utils import logging

        save(tmp_path, "llama")
        before = logging.is_progress_bar_enabled(), logging.get_verbosity()
        switch = {
            True: logging.enable_progress_bar,
            False: logging.disable_progress_bar,
        }
        try:
            switch[bars]()
            logging.set_verbosity_info()
            pretrained_actor(tmp_path)
            assert logging.is_progress_bar_enabled() == bars
            assert logging.get_verbosity() == logging.INFO
        finally:
            switch[before[0]]()
            logging.set_verbosity(before[1])

    def test_a_folder_alone_is_read_and_an_error_told_in_a_line(
        self, tmp_path, monkeypatch
    ):
        from transformers import AutoConfig

        def from_pretrained(path: str, **given: Any) -> None:
            assert given == {"local_files_only": True, "trust_remote_code": False}
            raise ValueError("the first line\nand more\nand more")

        (tmp_path / "config.json").write_text("{}")
        monkeypatch.setattr(AutoConfig, "from_pretrained", from_pretrained)
        text = (
            f"f: path must hold a model, got '{tmp_path}': ValueError: the first line"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            read("f", tmp_path, "a model", "AutoConfig")

    def test_no_config(self, tmp_path):
        text = f"must hold config.json, got none in '{tmp_path}'"
        refused(tmp_path, f"pretrained_actor: path {text}")

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"model_type": "no-such"}'])
    def test_a_config_of_nothing(self, tmp_path, content):
        (tmp_path / "config.json").write_text(content)
        refused(
            tmp_path, "pretrained_actor: path must hold a causal language model in "
        )

    def test_no_causal_language_model(self, tmp_path):
        from transformers import AutoModelForSequenceClassification, T5Config

        T5Config().save_pretrained(tmp_path)
        refused(
            tmp_path, "pretrained_actor: path must hold a causal language model in "
        )
        scoring = configuration("llama", num_labels=1)
        AutoModelForSequenceClassification.from_config(scoring).save_pretrained(
            tmp_path
        )
        wanted = "must hold all weights of a causal language model"
        refused(tmp_path, f"pretrained_actor: path {wanted}, got no lm_head.weight in ")

    def test_one_that_looks_ahead(self, tmp_path):
        from transformers import BertConfig, BertLMHeadModel

        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
        given = BertConfig(vocab_size=40, intermediate_size=16, **sizes)
        BertLMHeadModel(given).save_pretrained(tmp_path)
        refused(tmp_path, "pretrained_actor: path must hold a model whose logits are ")

    def test_logits_that_are_not_those_of_the_head(self, tmp_path):
        from transformers import CohereConfig, CohereForCausalLM

        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
        given = CohereConfig(
            vocab_size=40, intermediate_size=16, logit_scale=2.0, **sizes
        )
        CohereForCausalLM(given).save_pretrained(tmp_path)
        refused(
            tmp_path,
            "pretrained_actor: path must hold a model whose logits are its head's, "
            "padded and cached or not, got CohereForCausalLM, which differs by 50.0%",
        )

    @pytest.mark.parametrize("lacking", ["body", "head", "length"])
    def test_what_an_actor_is_made_of(self, tmp_path, monkeypatch, lacking):
        model = network("llama")
        if lacking == "body":
            monkeypatch.setattr(type(model), "base_model", property(lambda own: own))
        elif lacking == "head":
            model.lm_head = torch.nn.Identity()
        else:
            model.config.max_position_embeddings = 0
        answer = model, {"missing_keys": set(), "unexpected_keys": set()}
        monkeypatch.setattr(actor, "read", lambda *_, **given: answer)
        refused(
            tmp_path,
            "pretrained_actor: path must hold a body, a linear head and a greatest "
            "length, got LlamaForCausalLM in ",
        )

    def test_the_first_of_the_weights_that_are_missing_is_named(
        self, tmp_path, monkeypatch
    ):
        answer = network("llama"), {"missing_keys": {"c", "a", "b"}}
        monkeypatch.setattr(actor, "read", lambda *_, **given: answer)
        refused(
            tmp_path,
            "pretrained_actor: path must hold all weights of a causal language model, "
            "got no a in ",
        )

    def test_weights_of_more_than_the_model(self, tmp_path):
        """transformers leaves them out: the config may say too few layers."""
        save(tmp_path, "llama")
        config = tmp_path / "config.json"
        told = json.loads(config.read_text())
        config.write_text(json.dumps(told | {"num_hidden_layers": 1}))
        refused(
            tmp_path,
            "pretrained_actor: path must hold only weights of its causal language "
            "model, got also model.layers.1.input_layernorm.weight in ",
        )

    @pytest.mark.parametrize("context", [4, 11])
    def test_a_context_that_is_too_short_to_be_tried(self, tmp_path, context):
        configured = configuration("gpt2", n_positions=context)
        from transformers import AutoModelForCausalLM

        AutoModelForCausalLM.from_config(configured).save_pretrained(tmp_path)
        refused(
            tmp_path,
            "pretrained_actor: path must hold a model for sequences of 12 tokens, "
            f"got one for {context} in ",
        )

    def test_a_context_that_is_just_long_enough(self, tmp_path):
        from transformers import AutoModelForCausalLM

        configured = configuration("gpt2", n_positions=12)
        AutoModelForCausalLM.from_config(configured).save_pretrained(tmp_path)
        assert pretrained_actor(tmp_path)

    def test_one_that_does_not_know_such_a_cache(self, tmp_path):
        from transformers import BartConfig, BartForCausalLM

        sizes = {"d_model": 16, "decoder_attention_heads": 2, "decoder_ffn_dim": 16}
        given = BartConfig(vocab_size=40, encoder_layers=1, decoder_layers=2, **sizes)
        BartForCausalLM(given).save_pretrained(tmp_path)
        refused(
            tmp_path,
            "pretrained_actor: path must hold a model that reads tokens alone, padding "
            "and a cache, got BartForCausalLM: IndexError: ",
        )

    def test_weights_that_are_missing_or_damaged(self, folders, tmp_path):
        save(tmp_path, "llama")
        weights = tmp_path / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-9])
        unread = "pretrained_actor: path must hold a causal language model in safe"
        refused(tmp_path, unread)
        weights.unlink()
        refused(tmp_path, unread)
        torch.save(network("llama").state_dict(), tmp_path / "pytorch_model.bin")
        refused(tmp_path, unread)

    def test_another_shape_than_the_config_says(self, tmp_path):
        save(tmp_path, "llama")
        config = tmp_path / "config.json"
        told = json.loads(config.read_text()) | {"hidden_size": 32}
        config.write_text(json.dumps(told))
        refused(
            tmp_path, "pretrained_actor: path must hold a causal language model in "
        )

    def test_an_adapter(self, tmp_path):
        save(tmp_path, "llama")
        (tmp_path / "adapter_config.json").write_text("{}")
        refused(tmp_path, "pretrained_actor: path must hold a whole model, got an ")

    @pytest.mark.parametrize("kind", ["no-such", "llama"])
    def test_code_in_the_folder_is_not_run(self, tmp_path, kind):
        save(tmp_path, "llama")
        config, mark = tmp_path / "config.json", tmp_path / "mark"
        (tmp_path / "code.py").write_text(f"open({str(mark)!r}, 'w')")
        ways = {"AutoConfig": "code.A", "AutoModelForCausalLM": "code.B"}
        told = json.loads(config.read_text())
        config.write_text(json.dumps({**told, "auto_map": ways, "model_type": kind}))
        if kind == "llama":  # which transformers knows: its own code does it
            pretrained_actor(tmp_path)
        else:
            refused(tmp_path, "pretrained_actor: path must hold a causal language mod")
        assert not mark.exists()
