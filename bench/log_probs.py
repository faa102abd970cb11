"""Log-probs and entropy of given logits: together, apart, and by verl's functions."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from bench.measuring import Comparison, Contender
from ppo_ref.log_probs import (
    log_probs_and_entropy,
    token_entropy,
    token_log_probs,
)
from tests.differential import peers, wheels

SUBJECT = "log-probs and entropy"
BATCH, TIME, VOCAB = 8, 128, 32000
PEERS = {"verl": "0.9.1"}
Statistics = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def comparisons(quick: bool, device: str) -> Iterator[Comparison]:
    """The forward pass alone, as for old log-probs, and with the backward pass."""
    time, vocab = (8, 1000) if quick else (TIME, VOCAB)
    for passes in ("forward", "forward and backward"):
        yield Comparison(
            SUBJECT,
            f"{BATCH * time}x{vocab} {passes}",
            partial(contenders, passes, time, vocab, device),
            sizes={"tokens": BATCH * time, "vocab": vocab},
            seconds=0.01 if quick else 5,
            rounds=3 if quick else 7,
        )


def contenders(passes: str, time: int, vocab: int, device: str) -> dict[str, Contender]:
    """Whoever can run it here; to compile, torch needs a C++ compiler."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(BATCH, time, vocab, generator=generator).to(device)
    ids = torch.randint(vocab, (BATCH, time), generator=generator).to(device)
    run = forward if passes == "forward" else backward
    logits.requires_grad_(passes != "forward")
    return {name: partial(run, f, logits, ids) for name, f in functions(vocab).items()}


def functions(vocab: int) -> dict[str, Statistics]:
    """From logits and token ids to both statistics; --quick compiles nothing."""
    found: dict[str, Statistics] = {
        "together": log_probs_and_entropy,
        "apart": lambda logits, ids: (
            token_log_probs(logits, ids),
            token_entropy(logits),
        ),
    }
    if vocab == VOCAB and shutil.which("c++"):
        compiled = torch.compile(log_probs_and_entropy, fullgraph=True)
        found["together, compiled"] = compiled
    if wheels.find(peers.NOW):
        found[peers.NOW] = verl
    return found


def verl(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """As its actor does without flash attention: two functions, one after the other."""
    functions = peers.tensors(peers.NOW)
    log_probs = functions.logprobs_from_logits_v2(logits, ids)
    return log_probs, functions.entropy_from_logits(logits)


def forward(function: Statistics, logits: Tensor, ids: Tensor) -> None:
    function(logits, ids)


def backward(function: Statistics, logits: Tensor, ids: Tensor) -> None:
    log_probs, entropy = function(logits, ids)
    torch.autograd.grad(log_probs.sum() - 0.01 * entropy.sum(), logits)
