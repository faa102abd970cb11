"""What two processes tell each other: forks of this one, which answer through pipes.

Whole runs, on processes that torchrun starts, are in test_equality and test_command.
"""

import torch

from ppo_ref.processes.group import OthersEnded, Processes
from tests.command.runs import assert_equal


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


def test_all_get_what_the_first_makes(both):
    def made(one: Processes) -> tuple:
        calls = []
        return one.first(lambda: calls.append(one.rank) or {"seed": 7}), calls

    assert both(made) == [({"seed": 7}, [0]), ({"seed": 7}, [])]


def test_the_others_end_when_the_first_has(both):
    def made(one: Processes) -> str:
        try:
            one.first(lambda: 1 / 0)
        except (ZeroDivisionError, OthersEnded) as error:
            return f"{type(error).__name__}: {error}"
        return "nothing"

    assert both(made) == [
        "ZeroDivisionError: division by zero",
        "OthersEnded: the first process has ended",
    ]
