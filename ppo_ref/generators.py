"""Random generators by what they are for, so that no draw depends on another."""

from hashlib import sha256

import torch


def named_generator(
    seed: int, purpose: str, number: int = 0, device: torch.device | str = "cpu"
) -> torch.Generator:
    """A generator that depends on nothing but its name.

    With one generator for a whole run, every draw would depend on all before it: a run
    that was stopped could not go on without its state, and one more look at held-out
    questions would change all that follows.

    Args:
        seed: Of the run.
        purpose: What is drawn, as in ``"sampling"``.
        number: Of the iteration, or whatever tells draws of one purpose apart.
        device: Where it draws; the numbers of a GPU are others than those of the CPU.

    Returns:
        The generator, before its first draw.

    Example:
        >>> twice = [named_generator(0, "weights") for _ in "ab"]
        >>> [torch.rand(1, generator=generator).item() for generator in twice]
        [0.28295254707336426, 0.28295254707336426]
    """
    name = f"{seed} {purpose} {number}"
    # 63 of the bits: manual_seed takes a signed number.
    hashed = int.from_bytes(sha256(name.encode()).digest()[:8], "big") >> 1
    return torch.Generator(device).manual_seed(hashed)
