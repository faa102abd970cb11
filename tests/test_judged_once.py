"""A call like one that passed is not judged again; any other one is."""

from typing import Literal, NamedTuple

import pytest
import torch

from ppo_ref.contracts.shapes import TokenMask, Tokens, checked

X = torch.ones(2, 3)
MASK = X.bool()


class Pair(NamedTuple):
    x: Tokens
    response_mask: TokenMask


@checked
def total(
    x: Tokens,
    response_mask: TokenMask,
    pair: Pair | None = None,
    scale: float = 1.0,
    steps: int = 1,
    mode: Literal["mean", "sum"] = "sum",
) -> float:
    return float(x.sum())


GOOD = {"x": X, "response_mask": MASK, "scale": 2.0, "steps": 1, "mode": "mean"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"x": X.long()},
        {"x": X[:1]},
        {"response_mask": X},
        {"response_mask": MASK.T},
        {"scale": "2.0"},
        {"steps": True},
        {"mode": "max"},
        {"pair": (X, MASK)},
    ],
)
def test_what_differs_is_judged(wrong):
    for _ in range(2):
        assert total(**GOOD) == 6
        with pytest.raises(TypeError, match=r"total: \w+ must"):
            total(**GOOD | wrong)


def test_tensors_on_two_devices_are_refused_after_a_call_that_passed():
    assert total(X, MASK) == 6
    with pytest.raises(ValueError, match="response_mask is on meta but x is on cpu"):
        total(X, MASK.to("meta"))


def test_what_passed_is_not_judged_again():
    results = iter([1.0, "no float", "no float"])

    @checked
    def answer(x: Tokens, batch: list | None = None) -> float:
        return next(results)

    assert answer(X) == 1
    assert answer(torch.zeros(2, 3)) == "no float"
    with pytest.raises(Exception, match="answer"):
        answer(X, [])  # what may change without showing is always judged
