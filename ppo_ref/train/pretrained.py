"""A causal language model of Hugging Face, from a folder, as actor and reference.

transformers, which may be missing, reads the folder and nothing but the folder: no
network, no code of strangers, no pickled weights.
"""

from collections.abc import Iterable
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn, Self

import torch
from torch import Tensor, nn

from ppo_ref.train.networks import Actor, Body, Cache
from ppo_ref.train.tokenizer import Tokenizer

PROMPT = "{prompt}"
TOKENS = 4  # of the sequence that is tried
TOLERANCE = 1e-4  # of the largest logit


def pretrained_actor(path: str | Path, precision: torch.dtype = torch.float32) -> Actor:
    """The causal language model in a folder; ``models_from`` makes the other three.

    Its weights become float32 whatever the files hold: in bfloat16 the small steps of
    an optimizer would be lost; ``precision`` is that of the products. Nothing is
    fetched, no code from the folder is run, and only safetensors are read, as
    ``save_pretrained`` writes them. A folder that transformers does not read whole is a
    ValueError, and so is a model whose logits are not a linear head's.
    """
    model, report = _read(
        "AutoModelForCausalLM",
        path,
        use_safetensors=True,
        dtype=torch.float32,
        output_loading_info=True,
    )
    for kind in ("missing_keys", "unexpected_keys"):
        if names := sorted(report[kind]):
            _refuse(
                path,
                "the weights of a causal language model, all and no others",
                f"{kind.replace('_', ' ')} such as {names[0]}",
            )
    body, head = model.base_model, model.get_output_embeddings()
    context = _context_of(model.config)
    if body is model or not isinstance(head, nn.Linear) or not context:
        expected = "a model with a body, a linear head and a greatest length"
        _refuse(path, expected, type(model).__name__)
    transformer = PretrainedBody(body, head.in_features, context)
    actor = Actor(transformer, head.out_features, head)
    _require_same_logits(actor, model, path)
    transformer.precision = precision
    return actor


def pretrained_context(path: str | Path) -> int | None:
    """The greatest length that the model in a folder states, None if it states none.

    Its weights are not read.
    """
    return _context_of(_read("AutoConfig", path))


def _context_of(config: Any) -> int | None:
    return getattr(config, "max_position_embeddings", None)


class PretrainedBody(Body):
    """A network of transformers without its head, behind the interface of ``Body``.

    It never drops out: the ratio of an actor to itself must be 1.
    """

    # A head over tens of thousands of tokens costs as much as several layers.
    skips_unread = True

    def __init__(
        self,
        network: nn.Module,
        width: int,
        context: int,
        precision: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(width, context, precision)
        self.network = network
        self.train()

    def train(self, mode: bool = True) -> Self:
        """Stay in evaluation mode, whatever the network around it is set to."""
        return super().train(False)

    def forward(
        self,
        token_ids: Tensor,
        attention_mask: Tensor,
        cache: Cache | None = None,
        last: int = 0,
    ) -> Tensor:
        """Hidden states of the new positions or of the ``last``, [batch, new, width].

        The mask is that of all positions, past ones included; an empty cache is filled
        with one ``DynamicCache``, which the next call reads. What all rows begin with,
        as an example before each question, is read once for all of them.
        """
        if cache:
            return self._read(token_ids, attention_mask, cache[0])[:, -last:]
        same = 0
        if last:
            same = _same_beginning(token_ids, attention_mask, token_ids.shape[1] - last)
        past: Any = None
        if same or cache is not None:
            past = _library().DynamicCache(config=self.network.config)
        if same:
            self._read(token_ids[:1, :same], attention_mask[:1, :same], past)
            past.batch_repeat_interleave(len(token_ids))
        if cache is not None:
            cache.append(past)
        return self._read(token_ids[:, same:], attention_mask, past)[:, -last:]

    def _read(self, token_ids: Tensor, attention_mask: Tensor, past: Any) -> Tensor:
        """Hidden states of the new positions, behind those that were read before."""
        hidden: Tensor = self.network(
            input_ids=token_ids,
            attention_mask=attention_mask.long(),
            position_ids=self.places(attention_mask, token_ids.shape[1]),
            past_key_values=past,
            use_cache=past is not None,
        ).last_hidden_state
        return hidden


def _same_beginning(token_ids: Tensor, attention_mask: Tensor, most: int) -> int:
    """How many tokens all rows begin with, and no more than ``most``; no padding."""
    same = (token_ids == token_ids[:1]).all(0) & attention_mask.all(0)
    return min(int(same.long().cumprod(0).sum()), most) if len(token_ids) > 1 else 0


def pretrained_tokenizer(
    path: str | Path, template: str = PROMPT, chat: bool = True, stop: str = ""
) -> "PretrainedTokenizer":
    """The tokenizer in the folder of a model; nothing is fetched.

    It must have an end, and no more tokens than the model; else it is a ValueError.

    Args:
        path: Of the folder.
        template: What surrounds a question, which stands at its ``{prompt}``.
        chat: Whether the chat template is followed, if there is one.
        stop: A text of one token that ends a response instead of the tokenizer's end.
    """
    if PROMPT not in template:
        raise ValueError(
            f"pretrained: prompt_template must hold {PROMPT}, got {template!r}"
        )
    vocab = _read("AutoConfig", path).get_text_config().vocab_size
    tokenizer = _read("AutoTokenizer", path)
    if tokenizer.eos_token_id is None:
        _refuse(path, "a tokenizer with an eos_token", "none")
    most = max(tokenizer.get_vocab().values())
    if most >= vocab:
        _refuse(path, f"a tokenizer of the model's {vocab} tokens", f"token {most}")
    return PretrainedTokenizer(tokenizer, template, chat, stop)


class PretrainedTokenizer(Tokenizer):
    """A tokenizer of transformers; where it has no padding token, its end fills slots.

    That changes nothing: what stands behind the first end is never read, and prompts
    say by their mask where they begin.
    """

    def __init__(
        self, tokenizer: Any, template: str = PROMPT, chat: bool = True, stop: str = ""
    ) -> None:
        eos, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        super().__init__(eos, eos if pad is None else pad)
        self.tokenizer = tokenizer
        self.template = template
        self.chat = chat and bool(tokenizer.chat_template)
        if stop:
            self.eos_token_id = self._only_token(stop)

    def encode(self, text: str) -> list[int]:
        """The ids of a response's text, with no special token added."""
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        return self._require_known(text, ids)

    def encode_prompt(self, text: str) -> list[int]:
        """The ids of a question up to where the answer begins.

        They follow the chat template if there is one; if not, the text stands behind
        the tokens that the tokenizer puts first, such as a beginning of the text.
        """
        text = self.template.replace(PROMPT, text)
        if self.chat:
            chat = self.tokenizer.apply_chat_template(
                [{"role": "user", "content": text}],
                tokenize=False,
                add_generation_prompt=True,
            )
            return self.encode(chat)
        ids = self._require_known(text, self.tokenizer.encode(text))
        # Some tokenizers end every text; an answer could not follow.
        return ids[:-1] if ids[-1:] == [self.tokenizer.eos_token_id] else ids

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text up to the first end; ids that only the head knows say nothing."""
        return self._text(
            takewhile(lambda token: token != self.eos_token_id, token_ids)
        )

    def shown(self, token_id: int) -> str:
        """A single token, special ones by name, part of a character as U+FFFD."""
        return self._text([token_id])

    def _only_token(self, text: str) -> int:
        ids = self.encode(text)
        if len(ids) != 1:
            raise ValueError(
                f"pretrained: stop must be a text of one token, got {len(ids)} for "
                f"{text!r}"
            )
        return ids[0]

    def _text(self, token_ids: Iterable[int]) -> str:
        ids = list(token_ids)
        return str(self.tokenizer.decode(ids, clean_up_tokenization_spaces=False))

    def _require_known(self, text: str, token_ids: list[int]) -> list[int]:
        unknown = self.tokenizer.unk_token_id
        # GPT-2 calls its end unknown, too, but knows every byte.
        if unknown != self.tokenizer.eos_token_id and unknown in token_ids:
            raise ValueError(
                "encode: text must be made of what the tokenizer knows, got an unknown "
                f"token at {token_ids.index(unknown)} in {text!r}"
            )
        return token_ids


@torch.no_grad()
def _require_same_logits(actor: Actor, model: Any, path: str | Path) -> None:
    """Some models do more than their head: scale logits, or bound them."""
    ids = torch.arange(TOKENS)[None] % actor.head.out_features
    expected = model.eval()(input_ids=ids).logits
    found = actor(ids, torch.ones_like(ids).bool())
    difference = (found - expected).abs().max() / expected.abs().max()
    if not difference <= TOLERANCE:
        got = f"{type(model).__name__}, which differs by {difference:.1%}"
        _refuse(path, "a model whose logits are its head's", got)


def _read(reader: str, path: str | Path, **options: Any) -> Any:
    """Let a class of transformers read a folder, without network and foreign code."""
    kind = getattr(_library(), reader)
    if not Path(path).is_dir():  # a name would be looked for among downloaded models
        raise ValueError(
            f"pretrained: path must be a folder, got {str(path)!r}; download the model "
            "first, since nothing is fetched here"
        )
    try:
        return kind.from_pretrained(
            str(path), local_files_only=True, trust_remote_code=False, **options
        )
    except Exception as error:  # its names for what it does not read are many
        reason = str(error).strip().partition("\n")[0]
        _refuse(path, f"what {reader} reads", f"{type(error).__name__}: {reason}")


def _refuse(path: str | Path, expected: str, got: str) -> NoReturn:
    raise ValueError(f"pretrained: {path} must hold {expected}, got {got}")


def _library() -> Any:
    try:
        return import_module("transformers")
    except ImportError as error:
        raise ValueError(
            "pretrained: the package transformers must be installed; make tools does "
            "it here, pip install transformers elsewhere"
        ) from error
