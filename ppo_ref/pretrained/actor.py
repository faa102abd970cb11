"""An actor whose weights are those of a model in a folder."""

from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn, Self

import torch
from torch import Tensor, nn

from ppo_ref.pretrained.library import library, read
from ppo_ref.training.networks import Actor, Body, Cache

TOKENS = 4  # read three times: as padding, then twice as a sequence
LEAST_CONTEXT = 3 * TOKENS
TOLERANCE = 1e-4  # of the largest logit


def pretrained_actor(path: str | Path, precision: torch.dtype = torch.float32) -> Actor:
    """The causal language model in a folder; ``models_from`` makes the other three.

    Its weights become float32 whatever the files hold: in bfloat16 the small steps of
    an optimizer would be lost; ``precision`` is that of the products. Nothing is
    fetched, no code from the folder is run, and only safetensors are read, as
    ``save_pretrained`` writes them. The model must say the same behind padding as
    without, and with a cache as without, and its logits must be what its head makes of
    its hidden states; this is tried on one sequence. Any other folder is a ValueError.

    Example:
        >>> pretrained_actor("gpt2")
        Traceback (most recent call last):
        ValueError: pretrained_actor: path must be a folder, got 'gpt2'; download the \
model first, since nothing is fetched here
    """
    model, report = read(
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
                cache.append(library("PretrainedBody").DynamicCache(config=config))
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


def _refuse(expected: str, path: str | Path, found: str) -> NoReturn:
    raise ValueError(
        f"pretrained_actor: path must hold {expected}, got {found} in {str(path)!r}"
    )
