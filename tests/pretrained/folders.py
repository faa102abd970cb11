"""Folders with a tiny model of transformers and a tokenizer of characters."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from ppo_ref.train.sums import CHARACTERS

NEEDED = ("transformers", "tokenizers", "safetensors")
# To import transformers alone takes seconds.
pretrained = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(find_spec, NEEDED)),
        reason="no transformers; `make tools` installs it",
    ),
]
PAD, EOS, UNKNOWN = "<pad>", "<eos>", "<unk>"
IDS = {PAD: 5, EOS: 7, UNKNOWN: 0}  # not those of CharacterTokenizer
CONTEXT = 64
SIZES = {
    "gpt2": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": CONTEXT},
    "llama": {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
    },
}


def vocabulary() -> dict[str, int]:
    ids = dict(IDS)
    free = (i for i in range(999) if i not in IDS.values())
    return ids | dict(zip(sorted(set(CHARACTERS)), free, strict=False))


VOCAB = len(vocabulary())


def tokenizer(**special: str):
    """Every character is a token; which of them are special may be told."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel(vocabulary(), unk_token=UNKNOWN))
    words.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    words.decoder = decoders.Fuse()
    special = special or {"pad_token": PAD, "eos_token": EOS}
    return PreTrainedTokenizerFast(tokenizer_object=words, unk_token=UNKNOWN, **special)


def configuration(kind: str, **options: Any):
    from transformers import AutoConfig

    special = {"bos_token_id": None, "eos_token_id": IDS[EOS]}
    given = {"vocab_size": VOCAB, "pad_token_id": IDS[PAD], **special, **SIZES[kind]}
    return AutoConfig.for_model(kind, **(given | options))


def network(kind: str, seed: int = 0, **options: Any):
    """Weights large enough that logits differ."""
    from transformers import AutoModelForCausalLM

    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(configuration(kind, **options))
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape) * 0.2)
    return model.eval()


def save(
    folder: Path, kind: str, dtype: torch.dtype = torch.float32, **options: Any
) -> Path:
    """Model and tokenizer, as ``save_pretrained`` writes them."""
    network(kind, **options).to(dtype).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
