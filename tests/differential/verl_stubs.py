"""verl's core_algos.py made importable out of its wheel, in a process of its own.

What it imports is either read from the wheel too, where that needs torch alone, or a
stand-in: verl installed would bring ray and transformers. Nothing may call this in the
process of the other tests, which is promised never to hear of verl.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tests.differential.peers import CORE, NOW, tensors
from tests.differential.wheels import source

PACKAGES = (
    "verl",
    "verl.trainer",
    "verl.trainer.ppo",
    "verl.utils",
    "verl.utils.metric",
    "verl.workers",
)
READ = {
    "verl.utils.metric.utils": "verl/utils/metric/utils.py",
    "verl.utils.metric": "verl/utils/metric/__init__.py",
    "verl.utils.py_functional": "verl/utils/py_functional.py",
    "verl.utils.groupwise": "verl/utils/groupwise.py",
}


class Config(dict[str, Any]):
    __getattr__ = dict.get


def deprecated(_: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda function: function


STANDINS: dict[str, dict[str, Any]] = {
    "omegaconf": {"DictConfig": Config},
    "verl.trainer.config": {"AlgoConfig": Config},
    "verl.workers.config": {"ActorConfig": Config},
    "verl.utils.import_utils": {"deprecated": deprecated},
    "verl.utils.device": {
        "get_device_name": lambda: "cpu",
        "get_torch_device": lambda: torch.cpu,
        "is_cuda_available": False,
        "is_npu_available": False,
    },
}


def install() -> ModuleType:
    """Put verl's modules into ``sys.modules`` and return core_algos."""
    for name in PACKAGES:
        _module(name, {"__path__": []})
    for name, content in STANDINS.items():
        _module(name, content)
    _module("verl.utils.torch_functional", vars(tensors(NOW)))
    for name, path in READ.items():
        _read(name, path)
    helpers = vars(sys.modules["verl.utils.groupwise"])
    _module("verl.utils", {name: helpers[name] for name in helpers["__all__"]})
    return _read("verl.trainer.ppo.core_algos", CORE)


def _module(name: str, content: dict[str, Any]) -> ModuleType:
    module = sys.modules.setdefault(name, ModuleType(name))
    vars(module).update(content)
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)
    return module


def _read(name: str, path: str) -> ModuleType:
    module = _module(name, {"__package__": name.rpartition(".")[0]})
    if path.endswith("__init__.py"):
        module.__package__ = name
    exec(compile(source(NOW, path), f"{NOW}/{path}", "exec"), vars(module))
    return module
