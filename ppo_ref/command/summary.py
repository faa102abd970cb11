"""What remains to be read of a run: a summary and its charts."""

import hashlib
import json
from typing import Any

import torch
from torch import nn

from ppo_ref.chart import draw
from ppo_ref.command.run_folder import CHARTS, STATISTICS, SUMMARY
from ppo_ref.command.session import Session
from ppo_ref.command.storing import store
from ppo_ref.processes.sharding import gathered

FIRST = "score", "solved", "held_out", "kl", "entropy"  # of the panels


def write_summary(session: Session) -> dict[str, Any]:
    """Write what came out of a run, however far it is.

    Args:
        session: Of the run.

    Returns:
        What was written.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from ppo_ref.command.opening import created
        >>> from ppo_ref.command.settings import given
        >>> with TemporaryDirectory() as path:
        ...     with created(Path(path), given({"width": 4})) as folder:
        ...         write_summary(Session(folder))["finished"]
        False
    """
    trainer, options = session.trainer, session.options
    begun = trainer.iteration > 0
    told = {
        "finished": session.finished,
        "iterations": trainer.iteration,
        "held_out_before": session.held_out_before,
        "held_out_after": trainer.held_out() if begun else None,
        "seconds": round(session.seconds, 1),
        "seed": trainer.config.seed,
        "estimate": options.estimate,
        "device": options.device,
        "threads": options.threads,
        "torch": torch.__version__,
        "actor_sha256": weights_hash(trainer.models.actor),
    }
    session.folder.store_json(SUMMARY, told)
    return told


def draw_charts(session: Session) -> None:
    """Draw every statistic of a run; the first process does.

    Args:
        session: Of the run.

    Raises:
        OSError: if the file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from ppo_ref.command.opening import created
        >>> from ppo_ref.command.settings import given
        >>> with TemporaryDirectory() as path:
        ...     with created(Path(path), given({"width": 4})) as folder:
        ...         draw_charts(Session(folder))
        ...         (folder.path / CHARTS).exists()
        True
    """
    if not session.folder.writes:
        return
    path = session.folder.path
    columns: dict[str, dict[int, float]] = {name: {} for name in FIRST}
    if session.held_out_before is not None:
        columns["held_out"][0] = session.held_out_before
    log = path / STATISTICS
    for line in log.read_text("utf-8").splitlines() if log.exists() else []:
        found = json.loads(line)
        number = found.pop("iteration")
        for name, value in found.items():
            if value is not None:
                columns.setdefault(name, {})[number] = value
    trainer, estimate = session.trainer, session.options.estimate
    title = f"{path.name}: seed {trainer.config.seed}, {estimate}"
    store(path / CHARTS, draw(title, columns).encode())


def weights_hash(network: nn.Module) -> str:
    """A hash of every weight, which is the same only if they all are, bit for bit.

    Args:
        network: Any.

    Returns:
        SHA-256, in hexadecimal digits.

    Example:
        >>> from ppo_ref.training.networks import initialised
        >>> layers = [
        ...     initialised(nn.Linear(2, 2), torch.Generator().manual_seed(seed))
        ...     for seed in (0, 0, 1)
        ... ]
        >>> first, again, other = map(weights_hash, layers)
        >>> first == again, first == other
        (True, False)
    """
    digest = hashlib.sha256()
    for name, weight in network.state_dict().items():
        digest.update(name.encode() + gathered(weight).cpu().numpy().tobytes())
    return digest.hexdigest()
