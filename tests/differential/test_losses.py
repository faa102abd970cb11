"""The losses beside those of verl, OpenRLHF and TRL: values, gradients, counts."""

import math
from types import SimpleNamespace

import pytest
import torch
import yaml
from torch import Tensor
from torch.autograd import grad
from torch.testing import assert_close

from ppo_ref.aggregation import sequence_mean_token_mean, token_mean
from ppo_ref.clip_variants import cispo_loss, gmpo_loss, gspo_loss, sapo_loss
from ppo_ref.losses import policy_loss, value_loss
from tests.differential import others, peers
from tests.differential.batches import gapped_mask, normal, row, seeds
from tests.differential.others import GRPO, OPEN, TRL, open_policy_loss, piece
from tests.differential.peers import CORE, NOW, OLD, ActorConfig, floats, tensors
from tests.differential.test_stages import MODES
from tests.differential.wheels import cut, requires, source

BEFORE = "verl 0.9.0"
pytestmark = requires(NOW, OLD, BEFORE, OPEN, TRL, GRPO)
OFF = math.inf
GRPO_TRAINER = "trl/trainer/grpo_trainer.py"


def policy_batch(seed: int) -> dict[str, Tensor]:
    mask = gapped_mask(seed)
    old_log_probs = -normal(seed, mask).abs()
    return {
        "log_probs": (old_log_probs + normal(seed + 1, mask)).requires_grad_(),
        "old_log_probs": old_log_probs,
        "advantages": normal(seed + 2, mask),
        "response_mask": mask,
    }


def assert_same(ours: Tensor, theirs: Tensor, leaf: Tensor) -> None:
    assert_close(ours, theirs)
    assert_close(*(grad(loss, leaf, retain_graph=True)[0] for loss in (ours, theirs)))


@seeds
@pytest.mark.parametrize("clip_range", [(0.2, 0.2), (0.2, 0.28), (0.0, 5.0)])
@pytest.mark.parametrize("dual_clip", [None, 1.5, 3.0])
def test_the_clipped_loss_is_that_of_all(seed, clip_range, dual_clip):
    """By verl also with a weight for each token; TRL has one width and no dual clip."""
    batch = policy_batch(seed)
    leaf, options = batch["log_probs"], {"clip_range": clip_range}
    ours = policy_loss(**batch, **options, dual_clip=dual_clip)
    loss, clipped, shift = peers.policy_loss(
        NOW, **batch, **options, clip_ratio_c=dual_clip or OFF
    )
    assert_same(ours.loss, loss, leaf)
    assert ours.clip_fraction.item() == pytest.approx(clipped)
    assert ours.approx_kl.item() == pytest.approx(shift)
    for aggregate in (token_mean, sequence_mean_token_mean):
        by_token = aggregate is token_mean
        loss, clipped, shift = open_policy_loss(
            **batch, **options, dual_clip=dual_clip, token_level_loss=by_token
        )
        found = policy_loss(
            **batch, **options, dual_clip=dual_clip, aggregate=aggregate
        )
        assert_same(found.loss, loss, leaf)
        assert_close(ours.approx_kl, shift)
    options["rollout_weights"] = normal(seed + 3, batch["response_mask"]).exp()
    loss, *_ = peers.policy_loss(NOW, **batch, **options, clip_ratio_c=dual_clip or OFF)
    ours = policy_loss(**batch, **options, dual_clip=dual_clip)
    assert_same(ours.loss, loss, leaf)
    loss, clipped = others.trl_policy_loss(**batch, clip_range=clip_range[0])
    ours = policy_loss(**batch, clip_range=clip_range[0])
    assert_same(ours.loss, loss, leaf)
    assert_close(ours.clip_fraction.float(), clipped)


@seeds
def test_the_value_loss_is_that_of_all(seed):
    mask = gapped_mask(seed)
    names = "values", "old_values", "returns"
    batch = {name: normal(seed + at, mask) for at, name in enumerate(names)}
    leaf = batch["values"].requires_grad_()
    batch["response_mask"] = mask
    ours = value_loss(**batch, value_clip_range=0.5)
    for release in (NOW, OLD):
        loss, clipped = peers.value_loss(release, 0.5, **batch)
        assert_same(ours.loss, loss, leaf)
        assert ours.clip_fraction.item() == pytest.approx(clipped.item())
    assert_same(ours.loss, others.open_value_loss(0.5, **batch), leaf)
    assert_same(ours.loss, others.trl_value_loss(0.5, **batch), leaf)


def one_token(log_ratio: float, advantage: float) -> dict[str, Tensor]:
    return {
        "log_probs": row(log_ratio - 30).requires_grad_(),
        "old_log_probs": row(-30),
        "advantages": row(advantage),
        "response_mask": row(1).bool(),
    }


def test_dual_clip_is_on_in_verl_and_off_here_and_in_old_verl():
    batch = one_token(math.log(5), -1)
    assert policy_loss(**batch).loss.item() == pytest.approx(5)
    assert peers.policy_loss(OLD, **batch)[0].item() == pytest.approx(5)
    loss, *_ = peers.policy_loss(NOW, **batch)
    assert loss.item() == pytest.approx(3)
    assert_same(policy_loss(**batch, dual_clip=3.0).loss, loss, batch["log_probs"])
    config = yaml.safe_load(source(NOW, "verl/trainer/config/actor/actor.yaml"))
    assert config["clip_ratio_c"] == 3 and config["loss_agg_mode"] == "token-mean"


def test_the_log_ratio_is_clamped_at_twenty_except_in_old_verl():
    batch = one_token(25, -1)
    ours = policy_loss(**batch).loss
    assert ours.item() == pytest.approx(math.exp(20))
    loss, *_ = peers.policy_loss(NOW, **batch, clip_ratio_c=OFF)
    assert_same(ours, loss, batch["log_probs"])
    assert peers.policy_loss(OLD, **batch)[0].item() == pytest.approx(math.exp(25))


def batch_of(seed: int) -> dict[str, Tensor]:
    """One advantage for a response, as the papers have it; every row has a token."""
    batch = policy_batch(seed)
    batch["response_mask"][:, 0] = True
    batch["advantages"] = batch["advantages"][:, :1].expand_as(batch["advantages"])
    return batch


def verl(name: str, mode: str = "token-mean", release: str = NOW, **batch: Tensor):
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


def grpo(kind: str, steps: int = 1, level: str = "token", high: float = 0.3):
    """TRL's GRPO trainer, as far as its loss asks it."""
    args = SimpleNamespace(
        delta=None,
        sapo_temperature_pos=1.0,
        sapo_temperature_neg=1.05,
        steps_per_generation=steps,
    )
    return SimpleNamespace(
        args=args,
        model=SimpleNamespace(training=True),
        accelerator=SimpleNamespace(num_processes=1),
        importance_sampling_level=level,
        loss_type=kind,
        beta=0.0,
        epsilon_low=0.2,
        epsilon_high=high,
        off_policy_mask_threshold=None,
        use_vllm=False,
        max_completion_length=100,
        current_gradient_accumulation_steps=steps,
    )


def trl(kind: str, level: str = "token", high: float = 0.3, **batch: Tensor) -> Tensor:
    """The loss of TRL's GRPO trainer, of one batch and one step."""
    mask = floats(batch)
    return piece(
        GRPO,
        GRPO_TRAINER,
        "log_ratio = per_token_logps - old_per_token_logps",
        "# Entropy bonus: add entropy regularization",
        self=grpo(kind, level=level, high=high),
        inputs={"num_items_in_batch": mask.sum()},
        entropy_mask=None,
        mask=mask,
        per_token_logps=batch["log_probs"],
        old_per_token_logps=batch["old_log_probs"],
        advantages=batch["advantages"][:, :1],
    ).loss


WIDE = {"clip_range": (0.2, 0.3)}


@seeds
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("ours", "options"), [(gspo_loss, WIDE), (cispo_loss, {"bounds": (0.8, 1.3)})]
)
def test_gspo_and_cispo_are_verls(seed, mode, ours, options):
    batch = batch_of(seed)
    found = ours(**batch, **options, aggregate=MODES[mode])
    loss, clipped = verl(ours.__name__.removesuffix("_loss"), mode, **batch)
    assert_same(found.loss, loss, batch["log_probs"])
    assert found.clip_fraction.item() == pytest.approx(clipped)


@seeds
def test_gspo_is_averaged_by_response_but_in_verl_from_0_9_1(seed):
    batch = batch_of(seed)
    ours, leaf = gspo_loss(**batch, **WIDE).loss, batch["log_probs"]
    before, _ = verl("gspo", release=BEFORE, **batch)
    assert_same(ours, before, leaf)
    assert not verl("gspo", **batch)[0].isclose(before)
    given = {"kind": "gspo", "token_level_loss": False, **batch}
    assert_same(ours, open_policy_loss((0.2, 0.3), **given)[0], leaf)
    assert_same(ours, trl("grpo", "sequence", **batch), leaf)
    by_token = gspo_loss(**batch, **WIDE, aggregate=token_mean).loss
    assert_same(by_token, trl("dapo", "sequence", **batch), leaf)


@seeds
def test_gmpo_is_verls_and_sapo_is_verls_and_trls(seed):
    batch = batch_of(seed)
    leaf, ours = batch["log_probs"], gmpo_loss(**batch, **WIDE).loss
    assert_same(ours, verl("geo_mean", "", **batch)[0], leaf)
    assert_same(sapo_loss(**batch).loss, verl("sapo", **batch)[0], leaf)
    assert_same(sapo_loss(**batch).loss, trl("sapo", **batch), leaf)


@seeds
@pytest.mark.parametrize("bound", [5.0, 0.2])
def test_cispo_is_trls_whose_bound_is_absolute_and_0_2_by_default(seed, bound):
    batch = batch_of(seed)
    ours = cispo_loss(**batch, bounds=(0.0, bound)).loss
    assert_same(ours, trl("cispo", high=bound, **batch), batch["log_probs"])


def trl_loss(kind, losses, mask, *, window=None, steps=1):
    """The loss of a micro-batch; ``window`` is the mask of all of them."""
    return piece(
        GRPO,
        GRPO_TRAINER,
        'if self.loss_type in ["grpo", "sapo"]:',
        "loss = (per_token_loss * mask).sum() / normalizer",
        self=grpo(kind, steps),
        mode="train",
        per_token_loss=losses,
        mask=mask,
        inputs={"num_items_in_batch": (mask if window is None else window).sum()},
    ).loss


@seeds
def test_trls_types_are_our_means_and_bnpo_over_micro_batches_a_mean_of_means(seed):
    mask = gapped_mask(seed).repeat(2, 1)
    mask[0] = mask[:, 0] = True
    half = len(mask) // 2
    mask[half:, 1:] = False  # one half has fewer tokens
    losses = normal(seed, mask)
    whole = token_mean(losses, mask)
    assert_close(trl_loss("bnpo", losses, mask), whole)
    assert_close(trl_loss("dapo", losses, mask), whole)
    by_answer = sequence_mean_token_mean(losses, mask)
    assert_close(trl_loss("grpo", losses, mask), by_answer)

    parts = [*zip(losses.split(half), mask.split(half), strict=True)]
    added = {
        kind: sum(trl_loss(kind, *part, window=mask, steps=2) for part in parts)
        for kind in ("dapo", "bnpo")
    }
    means = sum(token_mean(*part) for part in parts) / 2
    assert_close(added["dapo"], whole)
    assert_close(added["bnpo"], means)
    assert not torch.isclose(means, whole)


def test_verl_counts_rejected_tokens_in_one_trainer_and_not_in_the_other():
    asked, kept = torch.tensor([[1, 1, 1, 1]]), torch.tensor([[1, 0, 0, 1]])

    def copied(path, line, **given):
        return vars(piece(NOW, path, line, line, **given))

    def counted(data):
        line = 'batch_num_tokens = data["loss_mask"].sum()'
        path = "verl/workers/engine/fsdp/transformer_impl.py"
        given = {"data": data, "get_device_id": lambda: "cpu"}
        return copied(path, line, **given)["batch_num_tokens"].item()

    # The v1 trainer copies the mask when it samples, and later rejects.
    copy = 'field["loss_mask"] = field["response_mask"]'
    path = "verl/trainer/ppo/v1/agent_loop_tq.py"
    data = copied(path, copy, field={"response_mask": asked})["field"]
    written = source(NOW, "verl/trainer/ppo/v1/trainer_base.py")
    assert 'fields.append("response_mask")' in written
    assert 'fields.append("loss_mask")' not in written
    assert counted({**data, "response_mask": kept}) == 4

    # The older trainer copies it for each update, after the rejection.
    copy = 'data["loss_mask"] = data["response_mask"]'
    path = "verl/workers/utils/padding.py"
    assert counted(copied(path, copy, data={"response_mask": kept})["data"]) == 2
