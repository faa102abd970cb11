"""A batch as trainers leave it behind their advantages, by their own functions.

verl's own ``apply_kl_penalty`` and ``compute_advantage`` of a release run on a batch,
in its v1 trainer the whole method that calls them; then the lines that the page shows
dump it. OpenRLHF's and TRL's pieces are given the same names.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.differential import others
from tests.differential.peers import NOW, Config, Proto, Rows, trainer
from tests.differential.wheels import cut, source

BETWEEN = "verl 0.7.1"
V1, V1_UTILS = "verl/trainer/ppo/v1/trainer_base.py", "verl/trainer/ppo/v1/utils.py"
CALL = "        data = compute_advantage_for_multi_trajectories("


def verl(
    release: str,
    batch: dict[str, Tensor],
    *,
    estimator: str = "gae",
    kl_coef: float | None = None,
    kl_penalty: str = "kl",
    **options: Any,
) -> Proto:
    """The steps of ``fit`` from the scores to the advantages."""
    own, data = trainer(release), Proto(Rows(batch))
    data.non_tensor_batch["uid"] = names_of(len(data))
    if kl_coef is not None:
        fixed = SimpleNamespace(value=kl_coef, update=lambda **_: None)
        data, _ = own.apply_kl_penalty(data, fixed, kl_penalty)
    else:
        data.batch["token_level_rewards"] = data.batch["token_level_scores"]
    if release in (NOW, BETWEEN):
        options["config"] = Config(gamma=options.get("gamma", 1.0))
    return own.compute_advantage(data, own.AdvantageEstimator(estimator), **options)


def verl_v1(
    batch: dict[str, Tensor], lengths: list[int], lines: str, **algorithm: Any
) -> dict[str, Any]:
    """The v1 trainer's ``_compute_advantage``, with lines behind the call in it.

    What they leave in ``dump`` comes back.
    """
    own = trainer(NOW)
    kept = {
        name: torch.nested.as_nested_tensor(
            [row[:length] for row, length in zip(x, lengths, strict=True)],
            layout=torch.jagged,
        )
        for name, x in batch.items()
        if name != "prompts"
    }
    prompts = [*batch["prompts"]]
    kept["prompts"] = torch.nested.as_nested_tensor(prompts, layout=torch.jagged)
    uid = names_of(len(lengths))

    def get(keys: Any, partition_id: str, select_fields: list[str]) -> Rows:
        found = Rows({name: kept[name] for name in select_fields if name in kept})
        if "uid" in select_fields:
            found["uid"] = Uid(uid)
        return found

    config = Config(
        algorithm=Config(
            {
                "gamma": 1.0,
                "lam": 1.0,
                "use_kl_in_reward": False,
                "kl_penalty": "kl",
                **algorithm,
            }
        ),
        actor_rollout_ref=Config(rollout=Config(n=2)),
    )
    given = {
        "tq": SimpleNamespace(kv_batch_get=get, kv_batch_put=lambda **_: None),
        "np": np,
        "response_to_nested": lambda x, mask: x,
        "TensorDict": lambda x, batch_size: x,
        "compute_rollout_correction_and_add_to_batch": None,
        **vars(own),
        "core_algos": SimpleNamespace(AdvantageEstimator=own.AdvantageEstimator),
    }
    spread = "compute_advantage_for_multi_trajectories"
    given |= vars(cut(NOW, V1_UTILS, spread, **given))
    kept_dump: dict[str, Any] = {}
    step = method_with(f"{lines}\nkept_dump.update(dump)")
    namespace = {"torch": torch, "KVBatchMeta": object, "kept_dump": kept_dump, **given}
    exec(step, namespace)
    config["algorithm"]["adv_estimator"] = own.AdvantageEstimator(
        algorithm.get("adv_estimator", "gae")
    )
    self = SimpleNamespace(
        config=config,
        kl_ctrl_in_reward=SimpleNamespace(value=0.02, update=lambda **_: None),
    )
    keys = [f"{name}_{row}_0" for row, name in enumerate(uid)]
    meta = Keys(keys)
    namespace["_compute_advantage"](self, meta, {})
    return kept_dump


def method_with(lines: str) -> str:
    """The source of the method, with lines behind the call that computes advantages."""
    text = source(NOW, V1).split("\n")
    start = next(n for n, line in enumerate(text) if "def _compute_advantage(" in line)
    call = text.index(CALL, start)
    end = text.index("        )", call)
    last = next(n for n in range(end, len(text)) if text[n] == "        return batch")
    added = [f"        {line}" for line in lines.split("\n")]
    body = [*text[start : end + 1], *added, *text[end + 1 : last + 1]]
    return "\n".join(line[4:] for line in body)


def names_of(rows: int) -> Any:
    """Two rows to a prompt."""
    return np.array([f"uid-{row // 2}" for row in range(rows)], dtype=object)


class Keys(SimpleNamespace):
    def __init__(self, keys: list[str]) -> None:
        super().__init__(keys=keys, partition_id="train")

    def __len__(self) -> int:
        return len(self.keys)


class Uid(list[str]):
    is_nested = False

    def __init__(self, names: Any) -> None:
        super().__init__(names)

    def tolist(self) -> list[str]:
        return [*self]


def openrlhf(
    batch: dict[str, Tensor], gamma: float = 1.0, lam: float = 1.0
) -> dict[str, Tensor]:
    """OpenRLHF's recursion and whitening; its names are the user's to translate."""
    mask = batch["response_mask"].bool()
    rewards = batch["token_level_rewards"]
    raw, returns = others.open_gae(batch["values"], rewards, mask, gamma, lam)
    return {
        **batch,
        "advantages": others.open_whitened(raw, mask),
        "returns": returns,
    }


def trl(batch: dict[str, Tensor], lam: float = 1.0) -> dict[str, Tensor]:
    """TRL's recursion and whitening, of values that are 0 behind the end."""
    mask = batch["response_mask"].bool()
    values = batch["values"] * mask
    raw, returns = others.trl_recursion(values, batch["token_level_rewards"], 1.0, lam)
    whiten: Callable[..., Tensor] = others.trl_statistics().masked_whiten
    advantages = torch.masked_fill(whiten(raw, mask), ~mask, 0)
    return {**batch, "advantages": advantages, "returns": returns}
