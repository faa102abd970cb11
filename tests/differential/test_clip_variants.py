"""``ppo_ref.clip_variants`` beside verl, TRL and OpenRLHF: values and gradients."""

from types import SimpleNamespace

import pytest
import yaml
from torch import Tensor

from ppo_ref.clip_variants import cispo_loss, gmpo_loss, gspo_loss, sapo_loss
from tests.differential.batches import seeds
from tests.differential.others import GRPO, OPEN, open_policy_loss, piece
from tests.differential.peers import CORE, NOW, ActorConfig, floats, tensors
from tests.differential.test_losses import assert_same, policy_batch
from tests.differential.test_stages import MODES
from tests.differential.wheels import cut, requires, source

BEFORE = "verl 0.9.0"
pytestmark = requires(NOW, BEFORE, GRPO, OPEN)
modes = pytest.mark.parametrize("mode", MODES)


def batch_of(seed: int) -> dict[str, Tensor]:
    """One advantage for a response, as the papers have it; every row has a token."""
    batch = policy_batch(seed)
    batch["response_mask"][:, 0] = True
    batch["advantages"] = batch["advantages"][:, :1].expand_as(batch["advantages"])
    return batch


def verl(name: str, mode: str, release: str = NOW, **batch: Tensor):
    """The loss and the share of what is clipped, from below and from above."""
    actor = type("ActorConfig", (ActorConfig,), {})
    given = {
        "verl_F": tensors(NOW),
        "ActorConfig": actor,
        "AlgoConfig": SimpleNamespace,
    }
    function = f"compute_policy_loss_{name}"
    cuts = cut(release, CORE, function, "agg_loss", **given)
    clip = {"clip_ratio": 0.2, "clip_ratio_low": 0.2, "clip_ratio_high": 0.3}
    config = actor(clip, tau_pos=1.0, tau_neg=1.05, global_batch_info={})
    rows = [batch[key] for key in ("old_log_probs", "log_probs", "advantages")]
    loss, metrics = getattr(cuts, function)(*rows, floats(batch), mode, config)
    return loss, metrics["actor/pg_clipfrac"] + metrics["actor/pg_clipfrac_lower"]


def trl(kind: str, level: str = "token", high: float | None = 0.3, **batch: Tensor):
    """The loss of TRL's GRPO trainer, of one batch and one step."""
    args = SimpleNamespace(
        delta=None, sapo_temperature_pos=1.0, sapo_temperature_neg=1.05
    )
    trainer = SimpleNamespace(
        args=args,
        model=SimpleNamespace(training=True),
        accelerator=SimpleNamespace(num_processes=1),
        importance_sampling_level=level,
        loss_type=kind,
        beta=0.0,
        epsilon_low=0.2,
        epsilon_high=0.2 if high is None else high,
        off_policy_mask_threshold=None,
        use_vllm=False,
        current_gradient_accumulation_steps=1,
    )
    args.steps_per_generation = 1
    mask = floats(batch)
    return piece(
        GRPO,
        "trl/trainer/grpo_trainer.py",
        "log_ratio = per_token_logps - old_per_token_logps",
        "# Entropy bonus: add entropy regularization",
        self=trainer,
        inputs={"num_items_in_batch": mask.sum()},
        entropy_mask=None,
        mask=mask,
        per_token_logps=batch["log_probs"],
        old_per_token_logps=batch["old_log_probs"],
        advantages=batch["advantages"][:, :1],
    ).loss


@seeds
@modes
def test_gspo_is_verls(seed, mode):
    batch = batch_of(seed)
    ours = gspo_loss(**batch, clip_range=(0.2, 0.3), aggregate=MODES[mode])
    loss, clipped = verl("gspo", mode, **batch)
    assert_same(ours.loss, loss, batch["log_probs"])
    assert ours.clip_fraction.item() == pytest.approx(clipped)


@seeds
def test_gspo_was_averaged_by_response_until_verl_0_9_0(seed):
    batch = batch_of(seed)
    ours = gspo_loss(**batch, clip_range=(0.2, 0.3))
    before, _ = verl("gspo", "token-mean", BEFORE, **batch)
    now, _ = verl("gspo", "token-mean", **batch)
    assert_same(ours.loss, before, batch["log_probs"])
    assert not now.isclose(before)
    config = yaml.safe_load(source(NOW, "verl/trainer/config/actor/actor.yaml"))
    assert config["loss_agg_mode"] == "token-mean"


@seeds
@pytest.mark.parametrize(
    ("kind", "mode"), [("dapo", "token-mean"), ("grpo", "seq-mean-token-mean")]
)
def test_gspo_is_trls_on_the_level_of_sequences(seed, kind, mode):
    batch = batch_of(seed)
    ours = gspo_loss(**batch, clip_range=(0.2, 0.3), aggregate=MODES[mode])
    assert_same(ours.loss, trl(kind, "sequence", **batch), batch["log_probs"])


@seeds
def test_gspo_is_that_of_openrlhf_which_averages_by_response(seed):
    batch = batch_of(seed)
    given = {"kind": "gspo", "token_level_loss": False, **batch}
    loss, *_ = open_policy_loss((0.2, 0.3), **given)
    ours = gspo_loss(**batch, clip_range=(0.2, 0.3))
    assert_same(ours.loss, loss, batch["log_probs"])


@seeds
def test_gmpo_is_verls(seed):
    batch = batch_of(seed)
    ours = gmpo_loss(**batch, clip_range=(0.2, 0.3))
    assert_same(ours.loss, verl("geo_mean", "", **batch)[0], batch["log_probs"])


@seeds
@modes
def test_cispo_is_verls_with_bounds_around_one(seed, mode):
    batch = batch_of(seed)
    ours = cispo_loss(**batch, bounds=(0.8, 1.3), aggregate=MODES[mode])
    loss, clipped = verl("cispo", mode, **batch)
    assert_same(ours.loss, loss, batch["log_probs"])
    assert ours.clip_fraction.item() == pytest.approx(clipped)


@seeds
@pytest.mark.parametrize(("high", "bound"), [(5.0, 5.0), (None, 0.2)])
def test_cispo_is_trls_whose_bound_is_absolute_and_0_2_by_default(seed, high, bound):
    batch = batch_of(seed)
    ours = cispo_loss(**batch, bounds=(0.0, bound)).loss
    assert_same(ours, trl("cispo", high=high, **batch), batch["log_probs"])


@seeds
def test_sapo_is_verls_and_trls(seed):
    batch = batch_of(seed)
    for theirs in (verl("sapo", "token-mean", **batch)[0], trl("sapo", **batch)):
        assert_same(sapo_loss(**batch).loss, theirs, batch["log_probs"])
