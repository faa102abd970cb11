"""What each process of a group does: ``torchrun -m tests.processes.worker FOLDER``."""

import sys
from pathlib import Path
from typing import Any

import torch

from ppo_ref.command.processes import join
from ppo_ref.processes.group import PARALLEL, OthersEnded, Processes
from tests.processes.cases import (
    CASES,
    UPDATES,
    Apart,
    experience,
    trainer,
    updated,
    vector,
)


def updates(rank: int, size: int) -> dict[Any, Any]:
    found = {}
    for parallel in PARALLEL:
        processes = Processes(rank, size, parallel)
        for name, case in CASES.items():
            for which in UPDATES:
                done = updated(which, case, experience(case), processes)
                found[parallel, name, which] = tuple(done)
    return found


def mistaken(rank: int, size: int) -> dict[str, Any]:
    case = CASES["halves"]
    rows = Processes(rank, size).rows(len(case.lengths))
    half = case._replace(options={"mini_batch_size": len(rows)})
    apart = Apart(rank, size)
    own = experience(case).rows(rows)
    return {which: updated(which, half, own, apart).weights for which in UPDATES}


def run(processes: Processes) -> dict[str, Any]:
    made = trainer(processes)
    iterations = [
        (x.experience.rollout, x.experience[1:], x.statistics) for x in made.train()
    ]
    state = made.state_dict()
    network = {name: vector(getattr(made.models, name)) for name in ("actor", "critic")}
    return {"iterations": iterations, "state": state, **network}


def exchanges(processes: Processes) -> dict[str, Any]:
    rank = processes.rank

    def failing() -> None:
        raise ValueError("of the first")

    try:
        processes.first(failing)
        failed = ""
    except (ValueError, OthersEnded) as error:
        failed = type(error).__name__
    return {
        "gathered": processes.gather(torch.tensor([[rank, 7]])),
        "flags": processes.gather(torch.tensor([rank == 0])),
        "any": [processes.any(rank == 1), processes.any(False), processes.any(True)],
        "first": processes.first(lambda: ("made by", rank)),
        "failed": failed,
    }


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    with join(None) as processes:
        rank, size = processes.rank, processes.size
        found = {
            "exchanges": exchanges(processes),
            "updates": updates(rank, size),
            "mistaken": mistaken(rank, size),
        }
        torch.set_default_dtype(torch.float64)
        for parallel in PARALLEL:
            found[parallel] = run(Processes(rank, size, parallel))
        torch.save(found, folder / f"{rank}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
