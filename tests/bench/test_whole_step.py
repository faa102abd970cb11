"""The contenders of a whole step make the same gradients."""

import pytest
import torch
from torch.testing import assert_close

from bench import steps, whole_step
from bench.whole_step import BY_LOSS, PRODUCTS, QUICK
from tests.differential import peers, wheels

SETTINGS = {
    "padding": QUICK,
    "no padding": QUICK._replace(padding=False),
    "bfloat16": QUICK._replace(dtype=torch.bfloat16),
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
@wheels.requires(peers.NOW, steps.LIGER)
def test_contenders_agree(setting):
    found = whole_step.contenders(setting, "cpu")
    others = found.keys() - {BY_LOSS, PRODUCTS, steps.LIGER}
    assert len(others) == 5
    short = setting.dtype == torch.bfloat16
    near = {"rtol": 0.05, "atol": 2e-4} if short else {"rtol": 1e-4, "atol": 1e-6}
    expected = found[BY_LOSS]()
    for name in others:
        assert_close(found[name](), expected, **near, msg=lambda m, n=name: f"{n}: {m}")


@wheels.requires(steps.LIGER)
def test_liger_has_the_loss_without_entropy_and_with_one_advantage_a_response(
    monkeypatch,
):
    monkeypatch.setattr(steps, "ENTROPY_COEF", 0.0)
    network, batch = whole_step.contenders(QUICK, "cpu")[PRODUCTS].args
    batch = batch._replace(advantages=batch.advantages[:, :1].expand(-1, QUICK.time))
    assert_close(steps.liger(network, batch), steps.ours_by_loss(2, network, batch))


def test_the_products_alone_are_those_of_the_tokens():
    network, batch = whole_step.contenders(QUICK, "cpu")[PRODUCTS].args
    of_hidden, of_weight = steps.products(network, batch)
    assert of_hidden.shape == (int(batch.mask.sum()), QUICK.width)
    assert of_weight.shape == network[1].shape
