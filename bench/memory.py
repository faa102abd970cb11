"""The memory a call takes at its worst moment: counted, so the same in every run.

On a CPU torch's profiler tells of every allocation, those inside an operation too;
what a library for products takes for itself is not seen.
"""

import os
from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile


def peak_bytes(call: Callable[[], object], device: str = "cpu") -> int:
    """How much more is allocated at the worst moment of a call than before it.

    Args:
        call: What it returns is dropped; run it once before, if it keeps anything.
        device: Whose memory: cpu or cuda.
    """
    return _on_cuda(call) if device == "cuda" else _on_cpu(call)


def _on_cpu(call: Callable[[], object]) -> int:
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it would tell when it starts
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        call()
    events = profiled.profiler.kineto_results.events()
    changes = [
        (event.start_ns(), event.nbytes())
        for event in events
        if event.name() == "[memory]"
    ]
    now = peak = 0
    for _, change in sorted(changes, key=lambda change: change[0]):
        now += change
        peak = max(peak, now)
    return peak


def _on_cuda(call: Callable[[], object]) -> int:
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before
