"""Where our functions are put, and where they are not; verl is a stand-in here."""

import sys
from types import ModuleType

import pytest
import torch

from ppo_ref.inside_verl import advantages, installation, losses

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
    installation.install()
    core, workers = verl[CORE], verl[WORKERS]
    gae = core.compute_gae_advantage_return
    assert gae.__wrapped__ is advantages.compute_gae_advantage_return
    assert core.ADV_ESTIMATOR_REGISTRY["gae"] is gae
    assert workers.compute_value_loss is core.compute_value_loss
    assert core.compute_value_loss.__wrapped__ is losses.compute_value_loss
    (name, policy_loss), *others = core.POLICY_LOSS_REGISTRY.items()
    assert (name, policy_loss.__wrapped__) == ("ppo_ref", losses.compute_policy_loss)
    assert not others


def test_the_first_call_says_so_once(verl, capsys):
    installation.install()
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
        installation.install()
    assert verl[CORE].compute_gae_advantage_return is theirs
    assert not verl[CORE].POLICY_LOSS_REGISTRY


def test_the_import_that_the_setting_names(monkeypatch):
    monkeypatch.setitem(sys.modules, "verl", None)
    with pytest.raises(RuntimeError, match="got none"):
        __import__("ppo_ref.verl_plugin")
