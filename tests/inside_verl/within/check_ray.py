"""verl's own start, with nothing but the setting of the page: real processes of Ray.

The driver that asks for advantages and the workers of actor and critic are processes
that Ray starts; a DataProto and a TensorDict travel between them.
"""

import json
import os
import re
import shlex
import sys
import time
from pathlib import Path

import pytest
import ray
import torch
from hydra import compose, initialize_config_module
from torch.testing import assert_close
from verl.trainer import main_ppo
from verl.trainer.ppo import ray_trainer
from verl.utils.config import omega_conf_to_dataclass
from verl.workers.config import CriticConfig
from verl.workers.utils.losses import ppo_loss, value_loss

from tests.inside_verl.within.data import batch, for_a_worker, model_output

PAGE = Path(__file__).parents[3] / "docs/en/reference/inside_verl.md"
TRAINING = re.compile(
    r"^```bash\n(python3 -m verl\.trainer\.main_ppo .*?)^```", re.MULTILINE | re.DOTALL
)
PATIENCE = 30  # seconds for what processes print to arrive
TOLD = {"dp_size": 1, "batch_num_tokens": None, "global_batch_size": None}
SMALL = [
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1",
    "algorithm.lam=0.95",
    "ray_kwargs.ray_init.num_cpus=2",
    "+ray_kwargs.ray_init.include_dashboard=False",
    "+ray_kwargs.ray_init._node_ip_address=127.0.0.1",
    "+ray_kwargs.ray_init.object_store_memory=100000000",
]


def configured(*more: str):
    """verl's configuration, as the command on the page that trains sets it."""
    (command,) = TRAINING.findall(PAGE.read_text("utf-8"))
    words = shlex.split(command.replace("\\\n", ""))
    told = [word for word in words if "=" in word]
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=[*told, *SMALL, *more])


def advantages(config):
    return ray_trainer.compute_advantage(
        batch(0, dtype=torch.float32),
        adv_estimator=config.algorithm.adv_estimator,
        gamma=config.algorithm.gamma,
        lam=config.algorithm.lam,
        config=config.algorithm,
    )


def losses(config, data) -> dict[str, float]:
    """What verl's two loss functions give in this process."""
    work = for_a_worker(data, **TOLD)
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    critic = CriticConfig(
        strategy="fsdp",
        ppo_micro_batch_size_per_gpu=1,
        cliprange_value=config.critic.cliprange_value,
        loss_agg_mode=config.critic.loss_agg_mode,
    )
    moved = {
        "log_probs": model_output(work, data.batch["old_log_probs"] + 0.3),
        "values": model_output(work, data.batch["values"] + 0.7),
    }
    policy, told = ppo_loss(actor, moved, work)
    value, clipped = value_loss(critic, moved, work)
    return {
        "policy": policy.item(),
        "clipped": told["actor/pg_clipfrac"].aggregate(),
        "value": value.item(),
        "value clipped": clipped["critic/vf_clipfrac"],
    }


@ray.remote
class Worker:
    """Where verl's workers stand."""

    def losses(self, config, data):
        return losses(config, data), os.getpid()


@ray.remote
class Driver:
    """Where verl's TaskRunner stands."""

    def run(self, config):
        data = advantages(config)
        found, worker = ray.get(Worker.remote().losses.remote(config, data))
        seen = {
            "advantages": data.batch["advantages"].tolist(),
            "losses": found,
            "processes": [os.getpid(), worker],
        }
        folder = Path(config.trainer.default_local_dir)
        (folder / "seen.json").write_text(json.dumps(seen))


def test_the_setting_reaches_every_process(tmp_path, capfd):
    config = configured(f"trainer.default_local_dir={tmp_path}")
    lines = [
        f"ppo_ref computes {what} (verl 0.9.1)"
        for what in ("GAE", "the policy loss", "the value loss")
    ]
    printed = ""
    try:
        main_ppo.run_ppo(config, Driver)
        # Ray hands on what its processes print some time later, and not after its end.
        end = time.monotonic() + PATIENCE
        while not all(line in printed for line in lines) and time.monotonic() < end:
            time.sleep(0.2)
            printed += "".join(capfd.readouterr())
    finally:
        ray.shutdown()
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert len({os.getpid(), *seen["processes"]}) == 3

    # Nothing of ours was imported here: these are verl's own numbers.
    assert not [name for name in sys.modules if name.startswith("ppo_ref")]
    theirs = configured("actor_rollout_ref.actor.policy_loss.loss_mode=vanilla")
    data = advantages(theirs)
    counts = data.batch["response_mask"].bool()
    found, wanted = torch.tensor(seen["advantages"]), data.batch["advantages"]
    assert_close(found[counts], wanted[counts], rtol=1e-6, atol=1e-6)
    assert not found[~counts].any() and wanted[~counts].any()  # found are ours
    assert seen["losses"] == pytest.approx(losses(theirs, data), rel=1e-6)
    assert seen["losses"]["clipped"] > 0 and seen["losses"]["value clipped"] > 0

    printed += "".join(capfd.readouterr())
    assert [printed.count(line) for line in lines] == [1, 1, 1]
