"""What two processes tell each other, and what one alone refuses and says."""

import multiprocessing
import os
import re
import signal
import threading
from datetime import timedelta

import pytest
import torch

from ppo_ref.command import processes as joining
from ppo_ref.processes import ALONE, OthersEnded, Processes
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.trainer import Trainer
from tests.command.runs import assert_equal, train

CPU = torch.device("cpu")
TORCHRUN = {
    "RANK": "0",
    "WORLD_SIZE": "2",
    "LOCAL_RANK": "0",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "localhost",
    "MASTER_PORT": "1",
}


@pytest.fixture
def told(monkeypatch):
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_every_row_is_of_one_process():
    rows = [Processes(rank, 3).rows(6).tolist() for rank in range(3)]
    assert rows == [[0, 1], [2, 3], [4, 5]]


def test_two_jobs_are_done_side_by_side_where_a_core_would_be_idle():
    both_begun = threading.Barrier(2, timeout=60)
    assert sorted(ALONE.at_once([both_begun.wait] * 2, CPU)) == [0, 1]


@pytest.mark.parametrize(
    ("processes", "device", "threads"),
    [(Processes(0, 2), CPU, 1), (ALONE, torch.device("cuda"), 1), (ALONE, CPU, 2)],
    ids=["one of several", "a GPU", "operations share the cores"],
)
def test_else_one_job_follows_the_other(processes, device, threads):
    torch.set_num_threads(threads)
    try:
        done = processes.at_once([threading.get_ident] * 2, device)
    finally:
        torch.set_num_threads(1)
    assert done == [threading.get_ident()] * 2


SIZES = {"batch_size": 8, "mini_batch_size": 4, "micro_batch_size": 4}
REFUSED = {
    "Processes: rank must be from 0 to below size 2, got 2": lambda: Processes(2, 2),
    "Processes: parallel must be one of ddp, fsdp2, got 'fsdp'": lambda: Processes(
        0, 2, "fsdp"
    ),
    "Processes: rows must be a multiple of the 2 processes, got 3": lambda: Processes(
        0, 2
    ).rows(3),
    "Trainer: mini_batch_size must be a multiple of the 3 processes, got 4": (
        lambda: Trainer(PPOConfig(**SIZES), processes=Processes(0, 3))
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_processes_that_cannot_be(text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        REFUSED[text]()


def test_parallel_is_of_several_processes(capsys, tmp_path):
    assert train("--parallel", "ddp", "--out", tmp_path / "run") == 2
    said = capsys.readouterr().err
    assert "--parallel is of more than one process; begin the run by: torchrun" in said
    assert said.count("\n") == 1 and not list(tmp_path.iterdir())


def test_what_the_environment_must_say(told):
    told.delenv("MASTER_PORT")
    text = "^WORLD_SIZE says that there are 2 processes, but MASTER_PORT is missing; "
    with pytest.raises(ValueError, match=text), joining.join(None):
        pass
    told.setenv("MASTER_PORT", "1")
    told.setenv("WORLD_SIZE", "two")
    text = r"^RANK and WORLD_SIZE must be numbers, got '0' and 'two'$"
    with pytest.raises(ValueError, match=text), joining.join(None):
        pass


@pytest.mark.parametrize("ordered", [True, False])
def test_an_error_waits_for_an_order_to_end(told, capfd, ordered):
    """Torch fails here because another process has gone, or for a reason of its own."""

    def leave() -> None:
        with joining.end_with_others("another has ended"):
            if ordered:
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
            raise RuntimeError("no connection, or no memory")

    told.setattr(joining, "SOON", timedelta(seconds=30 if ordered else 0.5))
    process = multiprocessing.get_context("fork").Process(target=leave)
    process.start()
    process.join(60)
    said = capfd.readouterr().err
    assert process.exitcode == 1
    assert said == "another has ended\n" if ordered else "or no memory" in said


def test_rows_are_gathered_in_order_whatever_their_type(both):
    whole = torch.tensor([[1, 0, 3], [0, 5, 6], [7, 8, 0], [0, 0, 9]])

    def gathered(one: Processes) -> list[list]:
        shares = whole.double() / -7
        kinds = shares, 1000 * whole, whole > 0, shares.T.contiguous().T.float()
        found = [(x, one.gather(x[one.rows(4)])) for x in kinds]
        assert all(torch.equal(x, y) and x.dtype == y.dtype for x, y in found)
        return [y for _, y in found]

    assert_equal(*(dict(enumerate(result)) for result in both(gathered)), "gathered")


def test_all_hear_of_what_any_says(both):
    said = [(False, False), (True, False), (False, True), (True, True)]
    heard = both(lambda one: [one.any(pair[one.rank]) for pair in said])
    assert heard == [[False, True, True, True]] * 2


def test_all_get_what_the_first_makes_and_end_when_it_has(both):
    def made(one: Processes) -> tuple:
        calls = []
        whole = one.first(lambda: calls.append(one.rank) or {"seed": 7})
        try:
            one.first(lambda: 1 / 0)
        except (ZeroDivisionError, OthersEnded) as error:
            return whole, calls, f"{type(error).__name__}: {error}"

    first, second = both(made)
    assert first == ({"seed": 7}, [0], "ZeroDivisionError: division by zero")
    assert second == ({"seed": 7}, [], "OthersEnded: the first process has ended")
