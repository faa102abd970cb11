"""From hidden states to both losses and all gradients: time, and memory at its peak.

The policy loss with a bonus for entropy, and the loss of a value head; the gradients
of the hidden states and of both heads. Memory leaves out the gradients of the heads,
which everybody needs.
"""

import shutil
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from bench.measuring import Comparison, Contender
from bench.memory import peak_bytes
from bench.steps import (
    LIGER,
    Batch,
    Statistics,
    liger,
    ours,
    ours_by_loss,
    products,
    verl,
    verl_by_logits,
    verl_fused,
)
from ppo_ref.chunked import (
    CHUNK_TOKENS,
    log_probs_and_entropy_from_hidden,
)
from tests.differential import peers, wheels

SUBJECT = "whole step"
PEERS = dict(release.split() for release in (peers.NOW, LIGER))
BY_LOSS, IN_CHUNKS, KEPT = "loss in chunks", "in chunks", "logits kept"
PRODUCTS = "products alone"
UNPADDED, FUSED = f"{peers.NOW} without padding", f"{peers.NOW} fused"


class Setting(NamedTuple):
    """Sizes; ``chunk_rows`` are those of the loss in chunks."""

    width: int
    vocab: int = 32000
    batch: int = 8
    time: int = 64
    chunk_rows: int = 4
    padding: bool = True
    dtype: torch.dtype = torch.float32

    @property
    def name(self) -> str:
        """The table, then the column: ``width 1024: 32k, no padding``."""
        column = f"{self.vocab // 1000}k" + ", no padding" * (not self.padding)
        column += ", bfloat16" * (self.dtype == torch.bfloat16)
        return f"width {self.width}: {column}"


SMALL = Setting(256, time=128, chunk_rows=2)  # with all the ways to do it
# Liger's makes a gradient of the head for every response, and would take minutes.
HUGE = Setting(4096, 128000, batch=4)
LARGE = (
    Setting(1024),
    Setting(1024, padding=False),
    # Few tokens: a processor without bfloat16 takes a hundred times as long for each.
    Setting(1024, batch=2, time=8, chunk_rows=2, dtype=torch.bfloat16),
    Setting(1024, 128000),
    Setting(2048),
    Setting(4096),
    HUGE,
)
QUICK = Setting(16, 1000, time=8, chunk_rows=2)


def comparisons(quick: bool, device: str) -> Iterator[Comparison]:
    """Each setting, by the clock and by memory."""
    for setting in (QUICK,) if quick else (SMALL, *LARGE):
        sizes = {"tokens": setting.batch * setting.time, "vocab": setting.vocab}
        sizes["width"] = setting.width
        prepare = partial(contenders, setting, device)
        rounds, warm_up = (3, 0) if quick or setting in LARGE else (7, 1)
        yield Comparison(
            SUBJECT,
            setting.name,
            prepare,
            sizes=sizes,
            seconds=0.01 if quick else 4,
            rounds=rounds,
            warm_up=warm_up,
        )
        yield Comparison(
            SUBJECT,
            f"{setting.name}, memory",
            partial(prepare, timed=False),
            sizes=sizes,
            unit="bytes",
            measure=partial(memory, setting, device),
            seconds=0,
            rounds=1,
            warm_up=warm_up,
        )


def memory(setting: Setting, device: str, call: Contender) -> float:
    """At the peak, less that of the gradients of the heads."""
    parameters = (setting.vocab + 1) * setting.width + 1
    return float(peak_bytes(call, device) - parameters * setting.dtype.itemsize)


def contenders(
    setting: Setting, device: str, timed: bool = True
) -> dict[str, Contender]:
    """Whoever can run it here; by the clock the products alone too."""
    width, vocab, rows, time, _, padding, dtype = setting
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int, scale: float = 1.0) -> Tensor:
        return torch.randn(shape, generator=generator).mul_(scale).to(device)

    network = [
        normal(rows, time, width),
        normal(vocab, width, scale=width**-0.5),
        *(normal(1, width, scale=width**-0.5), normal(1)),
    ]
    network = [x.to(dtype) for x in network]
    ids = torch.randint(vocab, (rows, time), generator=generator).to(device)
    ends = torch.linspace(time / 4 if padding else time, time, rows)[:, None]
    noise = [normal(rows, time) for _ in range(3)]
    with torch.no_grad():
        first = log_probs_and_entropy_from_hidden(*network[:2], None, ids).log_probs
    mask = (torch.arange(time) < ends).to(device)
    batch = Batch(ids, first, *noise, mask)
    for x in network:
        x.requires_grad_()
    found = steps(setting) | ({PRODUCTS: products} if timed else {})
    return {name: partial(step, network, batch) for name, step in found.items()}


def steps(setting: Setting) -> dict[str, Contender]:
    """Ours, verl's and Liger's; all of ours where it is small."""
    found: dict[str, Contender] = {BY_LOSS: partial(ours_by_loss, setting.chunk_rows)}
    if setting not in LARGE:
        found |= {name: partial(ours, said) for name, said in otherwise(setting)}
    if wheels.find(peers.NOW):
        if setting not in LARGE:
            found[peers.NOW] = partial(verl, verl_by_logits, padding=True)
        found[UNPADDED] = partial(verl, verl_by_logits)
        found[FUSED] = partial(verl, verl_fused())
    if wheels.find(LIGER) and setting != HUGE:
        found[LIGER] = liger
    return found


def otherwise(setting: Setting) -> Iterator[tuple[str, Statistics]]:
    """Statistics in chunks or with one tensor of logits; --quick compiles nothing."""
    function, tokens = log_probs_and_entropy_from_hidden, setting.batch * setting.time
    yield IN_CHUNKS, partial(function, chunk_tokens=CHUNK_TOKENS)
    yield KEPT, partial(function, chunk_tokens=tokens)
    if setting == SMALL and shutil.which("c++"):
        compiled = torch.compile(function, fullgraph=True)
        yield f"{KEPT}, compiled", partial(compiled, chunk_tokens=tokens)
