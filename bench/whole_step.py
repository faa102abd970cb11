"""From hidden states to both losses and all gradients: time, and memory at its peak.

The policy loss with a bonus for entropy, and the loss of a value head; the gradients
of the hidden states and of both heads. Memory leaves out the gradients of the heads,
which everybody needs.
"""

import shutil
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from bench.measuring import Comparison, Contender
from bench.memory import peak_bytes
from bench.steps import ours, ours_by_loss, verl
from ppo_ref.chunked import (
    CHUNK_TOKENS,
    log_probs_and_entropy_from_hidden,
    log_probs_and_entropy_from_hidden_kernel,
)
from tests.differential import peers, wheels

SUBJECT = "whole step"
BATCH, TIME, VOCAB = 8, 128, 32000
WIDTHS = (256, 512, 1024, 2048)
PEERS = {"verl": "0.9.1"}
BY_LOSS, IN_CHUNKS, KEPT = "loss in chunks", "in chunks", "logits kept"


def comparisons(quick: bool, device: str) -> Iterator[Comparison]:
    """Each width, by the clock and by memory."""
    time, vocab = (8, 1000) if quick else (TIME, VOCAB)
    for width in (16,) if quick else WIDTHS:
        sizes = {"tokens": BATCH * time, "vocab": vocab, "width": width}
        prepare = partial(contenders, time, vocab, width, device)
        yield Comparison(
            SUBJECT,
            f"width {width}",
            prepare,
            sizes=sizes,
            seconds=0.01 if quick else 4,
            rounds=3 if quick else 7,
        )
        yield Comparison(
            SUBJECT,
            f"width {width}, memory",
            prepare,
            sizes=sizes,
            unit="bytes",
            measure=partial(memory, 4 * (vocab + 1) * (width + 1), device),
            seconds=0,
            rounds=1,
        )


def memory(parameters: int, device: str, call: Contender) -> float:
    """At the peak, less that of the gradients of the heads."""
    return float(peak_bytes(call, device) - parameters)


def contenders(time: int, vocab: int, width: int, device: str) -> dict[str, Contender]:
    """Whoever can run it here; to compile, torch needs a C++ compiler."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int, scale: float = 1.0) -> Tensor:
        return (torch.randn(shape, generator=generator) * scale).to(device)

    network = [
        normal(BATCH, time, width),
        *(normal(vocab, width, scale=width**-0.5), normal(vocab, scale=0.01)),
        *(normal(1, width, scale=width**-0.5), normal(1)),
    ]
    ids = torch.randint(vocab, (BATCH, time), generator=generator).to(device)
    batch = [normal(BATCH, time) for _ in range(3)]
    mask = (torch.arange(time) < torch.linspace(time / 4, time, BATCH)[:, None]).to(
        device
    )
    with torch.no_grad():
        first = log_probs_and_entropy_from_hidden(*network[:3], ids).log_probs
    given = ([x.requires_grad_() for x in network], ids, first, *batch, mask)
    return {name: partial(f, *given) for name, f in steps(BATCH * time).items()}


def steps(tokens: int) -> dict[str, Contender]:
    """In chunks, in two ways, with one tensor of logits, verl's in two ways.

    --quick compiles nothing.
    """
    checked = log_probs_and_entropy_from_hidden
    found: dict[str, Contender] = {
        BY_LOSS: ours_by_loss,
        IN_CHUNKS: partial(ours, partial(checked, chunk_tokens=CHUNK_TOKENS)),
        KEPT: partial(ours, partial(checked, chunk_tokens=tokens)),
    }
    if tokens == BATCH * TIME and shutil.which("c++"):
        kernel = torch.compile(log_probs_and_entropy_from_hidden_kernel, fullgraph=True)
        compiled = partial(kernel, temperature=1.0, chunk_tokens=tokens)
        found[f"{KEPT}, compiled"] = partial(ours, compiled)
    if wheels.find(peers.NOW):
        found[peers.NOW] = verl
        found[f"{peers.NOW} without padding"] = partial(verl, padding=False)
    return found
