"""Our functions behind verl's signatures, beside its own and in their places."""

import re
import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from ppo_ref import inside_verl
from ppo_ref.inside_verl import (
    MODES,
    GlobalBatch,
    aggregation,
    compute_policy_loss,
    compute_value_loss,
    counted,
)
from tests.differential.batches import gapped_mask, normal, seeds
from tests.differential.peers import core
from tests.differential.wheels import requires

VERL = "verl 0.9.1"
ALONE, SHARED = GlobalBatch(), GlobalBatch(4, 77, 24, 100)
ONE, MASK = torch.ones(1, 2), torch.tensor([[1, 0]])


def actor(**settings: object) -> SimpleNamespace:
    defaults = {
        "clip_ratio": 0.2,
        "clip_ratio_low": None,
        "clip_ratio_high": None,
        "clip_ratio_c": 3.0,
        "global_batch_info": {},
    }
    return SimpleNamespace(**defaults | settings)


@requires(VERL)
@seeds
@pytest.mark.parametrize("batch", [ALONE, SHARED], ids=["alone", "shared"])
@pytest.mark.parametrize("mode", MODES)
def test_aggregation(seed, mode, batch):
    mask = gapped_mask(seed)
    losses = normal(seed, mask).requires_grad_()
    wanted = core(VERL).agg_loss(losses, mask.double(), mode, **batch._asdict())
    found = aggregation(mode, batch)(losses, mask)
    assert_close(found, wanted, rtol=1e-7, atol=0)
    gradients = [torch.autograd.grad(loss, losses)[0] for loss in (found, wanted)]
    assert_close(*gradients, rtol=1e-7, atol=0)


NONE = 0 * MASK
NOTHING = "aggregation: batch_num_tokens must be above 0, got 0"
REFUSED = [
    (
        lambda: counted(torch.tensor([[1, 0], [1, 2]])),
        "counted: response_mask must be 0 or 1, got 2 at [1, 1]",
    ),
    (
        lambda: aggregation("token-mean", GlobalBatch(2)),
        "aggregation: batch_num_tokens must be given for several ranks, got None with "
        "dp_size 2",
    ),
    (
        lambda: compute_policy_loss(ONE, ONE, ONE, MASK),
        "compute_policy_loss: config must be verl's, got None",
    ),
    (lambda: aggregation("token-mean", ALONE)(ONE, NONE.bool()), NOTHING),
    (lambda: compute_value_loss(ONE, ONE, ONE, NONE, 0.5), NOTHING),
    (lambda: compute_policy_loss(ONE, ONE, ONE, NONE, config=actor()), NOTHING),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_what_is_refused(call, text):
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(text)}$"):
        call()


def test_nothing_is_read_where_no_token_counts():
    """A micro-batch that rejection has emptied, full of nan."""
    bad = torch.full((1, 2), torch.nan, requires_grad=True)
    told = actor(global_batch_info=GlobalBatch(1, 8, 4)._asdict())
    policy, figures = compute_policy_loss(ONE, bad, ONE, NONE, config=told)
    value, clipped = compute_value_loss(bad, ONE, ONE, NONE, 0.5, "token-mean", 1, 8)
    (policy + value).backward()
    assert policy == value == clipped == 0 and not any(figures.values())
    assert bad.grad is not None and not bad.grad.any()


CORE = "verl.trainer.ppo.core_algos"
WORKERS = "verl.workers.utils.losses"


def theirs(*_: object) -> str:
    return "verl's own"


@pytest.fixture
def verl(monkeypatch) -> dict[str, ModuleType]:
    """What install() touches of verl 0.9.1."""
    names = ["verl"]
    for module in (CORE, WORKERS):
        parts = module.split(".")
        names += [".".join(parts[:n]) for n in range(2, len(parts) + 1)]
    modules = {name: ModuleType(name) for name in names}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    core = modules[CORE]
    modules["verl"].__version__ = "0.9.1"
    core.POLICY_LOSS_REGISTRY, core.ADV_ESTIMATOR_REGISTRY = {}, {"gae": theirs}
    core.register_policy_loss = lambda name: (
        lambda function: core.POLICY_LOSS_REGISTRY.setdefault(name, function)
    )
    core.compute_gae_advantage_return = core.compute_value_loss = theirs
    modules[WORKERS].compute_value_loss = theirs
    return modules


def test_each_function_stands_where_verl_looks_for_it(verl):
    inside_verl.install()
    core, workers = verl[CORE], verl[WORKERS]
    gae = core.compute_gae_advantage_return
    assert gae.__wrapped__ is inside_verl.compute_gae_advantage_return
    assert core.ADV_ESTIMATOR_REGISTRY["gae"] is gae
    assert workers.compute_value_loss is core.compute_value_loss
    assert core.compute_value_loss.__wrapped__ is inside_verl.compute_value_loss
    (name, policy_loss), *others = core.POLICY_LOSS_REGISTRY.items()
    assert (name, policy_loss.__wrapped__) == (
        "ppo_ref",
        inside_verl.compute_policy_loss,
    )
    assert not others


def test_the_first_call_says_so_once(verl, capsys):
    inside_verl.install()
    assert capsys.readouterr().out == ""
    one, mask = torch.ones(1, 2), torch.ones(1, 2)
    for _ in range(3):
        verl[WORKERS].compute_value_loss(one, one, one, mask, 0.5)
    assert capsys.readouterr().out == "ppo_ref computes the value loss (verl 0.9.1)\n"
    verl[CORE].compute_gae_advantage_return(one, one, mask, 1.0, 1.0)
    assert capsys.readouterr().out == "ppo_ref computes GAE (verl 0.9.1)\n"


@pytest.mark.parametrize("release", ["0.8.0", "0.9.0", "0.9.2", "0.10.0.dev"])
def test_another_release_is_refused(verl, release):
    verl["verl"].__version__ = release
    text = f"^install: verl must be release 0.9.1, got {release}$"
    with pytest.raises(RuntimeError, match=text):
        inside_verl.install()
    assert verl[CORE].compute_gae_advantage_return is theirs
    assert not verl[CORE].POLICY_LOSS_REGISTRY


def test_the_import_that_the_setting_names(monkeypatch):
    monkeypatch.setitem(sys.modules, "verl", None)
    with pytest.raises(RuntimeError, match="got none"):
        __import__("ppo_ref.verl_plugin")
