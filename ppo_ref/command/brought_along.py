"""The model that is brought along to a run, in place of a small new one."""

from typing import Any

import torch

from ppo_ref.command.settings import Options
from ppo_ref.pretrained.actor import pretrained_actor
from ppo_ref.pretrained.tokenizer import pretrained_tokenizer


def brought_along(options: Options, precision: str) -> dict[str, Any]:
    """The model that a run is to train, if it is to train one that exists.

    Args:
        options: Of the command.
        precision: In which matrices are multiplied.

    Returns:
        Actor and tokenizer by these names; nothing without ``options.model``.

    Raises:
        ValueError: if the folder does not hold both.

    Example:
        >>> brought_along(Options(), "float32")
        {}
    """
    if not options.model:
        return {}
    tokenizer = pretrained_tokenizer(options.model)
    actor = pretrained_actor(options.model, getattr(torch, precision))
    return {"actor": actor, "tokenizer": tokenizer}
