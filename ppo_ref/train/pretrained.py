"""A causal language model of Hugging Face, from a folder, as actor and reference.

transformers, which may be missing, reads the folder and nothing but the folder: no
network, no code of strangers.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, NoReturn, Self

import torch
from torch import Tensor, nn

from ppo_ref.train.networks import Actor, Body, Cache
from ppo_ref.train.tokenizer import Tokenizer

TOKENS = 4  # read three times: as padding, then twice as a sequence
LEAST_CONTEXT = 3 * TOKENS
TOLERANCE = 1e-4  # of the largest logit
ONLY_THIS_FOLDER = {"local_files_only": True, "trust_remote_code": False}


def pretrained_actor(path: str | Path, precision: torch.dtype = torch.float32) -> Actor:
    """The causal language model in a folder; ``models_from`` makes the other three.

    Its weights become float32 whatever the files hold: in bfloat16 the small steps of
    an optimizer would be lost; ``precision`` is that of the products. Nothing is
    fetched, no code from the folder is run, and only safetensors are read, as
    ``save_pretrained`` writes them. The model must say the same behind padding as
    without, and with a cache as without, and its logits must be what its head makes of
    its hidden states; this is tried on one sequence. Any other folder is a ValueError.
    """
    model, report = _read(
        "pretrained_actor",
        path,
        "a causal language model in safetensors",
        "AutoModelForCausalLM",
        use_safetensors=True,
        dtype=torch.float32,
        output_loading_info=True,
    )
    if missing := sorted(report["missing_keys"]):
        _refuse("all weights of a causal language model", path, f"no {missing[0]}")
    if others := sorted(report["unexpected_keys"]):
        _refuse("only weights of its causal language model", path, f"also {others[0]}")
    body, head = model.base_model, model.get_output_embeddings()
    context = getattr(model.config, "max_position_embeddings", None)
    if body is model or not isinstance(head, nn.Linear) or not context:
        kind = type(model).__name__
        _refuse("a body, a linear head and a greatest length", path, kind)
    if context < LEAST_CONTEXT:
        content = f"a model for sequences of {LEAST_CONTEXT} tokens"
        _refuse(content, path, f"one for {context}")
    actor = Actor(
        PretrainedBody(body, head.in_features, context), head.out_features, head
    )
    _require_same_logits(actor, model, path)
    actor.transformer.precision = precision
    return actor


class PretrainedBody(Body):
    """A network of transformers without its head, behind the interface of ``Body``.

    It never drops out: the ratio of an actor to itself must be 1.
    """

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
        with one ``DynamicCache``, which the next call reads.
        """
        places = self.places(attention_mask, token_ids.shape[1])
        past: Any = None
        if cache is not None:
            if not cache:
                config = self.network.config
                cache.append(_library("PretrainedBody").DynamicCache(config=config))
            (past,) = cache
        hidden: Tensor = self.network(
            input_ids=token_ids,
            attention_mask=attention_mask.long(),
            position_ids=places,
            past_key_values=past,
            use_cache=past is not None,
        ).last_hidden_state
        return hidden[:, -last:]


@torch.no_grad()
def _require_same_logits(actor: Actor, model: Any, path: str | Path) -> None:
    ids = torch.arange(TOKENS)[None] % actor.head.out_features
    padding, tokens = torch.zeros_like(ids), torch.ones_like(ids)
    masks = accumulate((padding, tokens, tokens), lambda *two: torch.cat(two, 1))
    cache: list[Any] = []
    try:
        expected: Tensor = model.eval()(input_ids=torch.cat([ids, ids], 1)).logits
        _, *logits = (actor(ids, mask.bool(), cache) for mask in masks)
    except Exception as error:  # what a model cannot do, it says in many ways
        reason = f"{type(model).__name__}: {type(error).__name__}: {error}"
        _refuse("a model that reads tokens alone, padding and a cache", path, reason)
    difference = (torch.cat(logits, 1) - expected).abs().max() / expected.abs().max()
    if not difference <= TOLERANCE:
        _refuse(
            "a model whose logits are its head's, padded and cached or not",
            path,
            f"{type(model).__name__}, which differs by {difference:.1%}",
        )


def _refuse(
    expected: str,
    path: str | Path,
    got: str,
    remedy: str = "",
    function: str = "pretrained_actor",
) -> NoReturn:
    text = f"{function}: path must hold {expected}, got {got} in {str(path)!r}"
    raise ValueError(text + remedy)


def pretrained_tokenizer(path: str | Path) -> "PretrainedTokenizer":
    """The tokenizer in the folder of a model; nothing is fetched.

    It must have an end, and no more tokens than the model; else it is a ValueError.
    """
    name = "pretrained_tokenizer"
    vocab = _read(name, path, "a model", "AutoConfig").get_text_config().vocab_size
    tokenizer = _read(name, path, "a tokenizer", "AutoTokenizer")
    if tokenizer.eos_token_id is None:
        _refuse("a tokenizer with an eos_token", path, "none", function=name)
    if (most := max(tokenizer.get_vocab().values())) >= vocab:
        expected = f"a tokenizer of the model's {vocab} tokens"
        _refuse(expected, path, f"token {most}", function=name)
    return PretrainedTokenizer(tokenizer)


class PretrainedTokenizer(Tokenizer):
    """A tokenizer of transformers; where it has no padding token, its end fills slots.

    That changes nothing: what stands behind the first end is never read, and prompts
    say by their mask where they begin.
    """

    def __init__(self, tokenizer: Any) -> None:
        eos, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
        super().__init__(eos, eos if pad is None else pad)
        self.tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The ids of a response's text, with no special token added."""
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        return self._require_known(text, ids)

    def encode_prompt(self, text: str) -> list[int]:
        """The ids of a question up to where the answer begins.

        They follow the chat template if there is one; if not, the text stands behind
        the tokens that the tokenizer puts first, such as a beginning of the text.
        """
        if self.tokenizer.chat_template:
            chat = [{"role": "user", "content": text}]
            return self.encode(
                self.tokenizer.apply_chat_template(
                    chat, tokenize=False, add_generation_prompt=True
                )
            )
        ids = self._require_known(text, self.tokenizer.encode(text))
        # Some tokenizers end every text; an answer could not follow.
        return ids[:-1] if ids[-1:] == [self.eos_token_id] else ids

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text up to the first end; ids that only the head knows say nothing."""
        ids = list(takewhile(lambda token: token != self.eos_token_id, token_ids))
        return self._text(ids)

    def shown(self, token_id: int) -> str:
        """A single token, special ones by name, part of a character as U+FFFD."""
        return self._text([token_id])

    def _text(self, token_ids: list[int]) -> str:
        return str(self.tokenizer.decode(token_ids, clean_up_tokenization_spaces=False))

    def _require_known(self, text: str, token_ids: list[int]) -> list[int]:
        unknown = self.tokenizer.unk_token_id
        # GPT-2 calls its end unknown, too, but knows every byte.
        if unknown != self.eos_token_id and unknown in token_ids:
            raise ValueError(
                "encode: text must be made of what the tokenizer knows, got an unknown "
                f"token at {token_ids.index(unknown)} in {text!r}"
            )
        return token_ids


def _read(
    function: str, path: str | Path, content: str, reader: str, **options: Any
) -> Any:
    """Let a class of transformers read a folder, without network and foreign code.

    ``function`` and ``content``, what the folder is to hold, are words of a refusal;
    ``reader`` is the name of the class.
    """
    folder, shown = Path(path), repr(str(path))
    if not folder.is_dir():
        raise ValueError(
            f"{function}: path must be a folder, got {shown}; download the model "
            "first, since nothing is fetched here"
        )
    if (folder / "adapter_config.json").exists():
        remedy = "; merge it into its model first"
        _refuse("a whole model", path, "an adapter", remedy, function)
    if not (folder / "config.json").exists():
        _refuse("config.json", path, "none", function=function)
    with _quiet(_library(function)) as transformers:
        kind = getattr(transformers, reader)
        try:
            return kind.from_pretrained(str(folder), **ONLY_THIS_FOLDER, **options)
        except Exception as error:  # its names for what it does not read are many
            line = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
            text = f"{function}: path must hold {content}, got {shown}: {line}"
            raise ValueError(text) from error


def _library(function: str) -> Any:
    """The package transformers; a ValueError of this function if it is missing."""
    try:
        return import_module("transformers")
    except ImportError as error:
        raise ValueError(
            f"{function}: the package transformers must be installed; make "
            "tools does it here, pip install transformers elsewhere"
        ) from error


@contextmanager
def _quiet(transformers: Any) -> Iterator[Any]:
    """A fault is raised, so warnings and bars would only be in the way."""
    logging = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield transformers
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
