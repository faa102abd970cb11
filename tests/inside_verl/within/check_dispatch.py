"""verl's own dispatch calls our functions on its own batches, and gets its numbers."""

import re
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close
from verl import DataProto
from verl.trainer.ppo import core_algos, ray_trainer
from verl.workers.config import CriticConfig, FSDPActorConfig, PolicyLossConfig
from verl.workers.utils import losses

from tests.inside_verl.within.data import (
    batch,
    estimated,
    for_a_worker,
    model_output,
    normal,
)

# verl's own three functions, taken before ours are in their place.
GAE = core_algos.compute_gae_advantage_return
VALUE_LOSS = core_algos.compute_value_loss
POLICY_LOSS = core_algos.compute_policy_loss_vanilla

import ppo_ref.verl_plugin  # noqa: E402, F401

SNIPPET = Path(__file__).parents[3] / "snippets/reference/inside_verl.py"
SECTION = re.compile(r"# --8<-- \[start:compare\]\n(.*?)# --8<-- \[end", re.DOTALL)
SEEDS = range(4)
MODES = [
    "token-mean",
    "token-sum",
    "seq-mean-token-sum",
    "seq-mean-token-sum-norm",
    "seq-mean-token-mean",
]
ALONE = {"dp_size": 1, "batch_num_tokens": None, "global_batch_size": None}
SHARED = {"dp_size": 4, "batch_num_tokens": 77, "global_batch_size": 24}
# verl divides a mean by the number of tokens and 1e-8 more.
EXACT = {torch.float64: {"rtol": 1e-7, "atol": 1e-7}}
EXACT[torch.float32] = {"rtol": 1e-6, "atol": 1e-6}
both_dtypes = pytest.mark.parametrize("dtype", EXACT, ids=str)


@contextmanager
def originals():
    """verl as it was published."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_algos, "compute_gae_advantage_return", GAE)
        patch.setattr(core_algos, "compute_value_loss", VALUE_LOSS)
        patch.setattr(losses, "compute_value_loss", VALUE_LOSS)
        yield


def bomb(*args, **kwargs):
    raise AssertionError("verl's own function was called")


@contextmanager
def bombs():
    """verl's own functions blow up, whoever still holds them."""
    with pytest.MonkeyPatch.context() as patch:
        for function in (GAE, VALUE_LOSS, POLICY_LOSS):
            patch.setattr(function, "__code__", bomb.__code__)
        yield


def trained(seed: int, data: DataProto, name: str, scale: float = 0.5):
    """What the model being trained says now, with gradient."""
    before = data.batch[name]
    moved = normal(seed + 8, data.batch["response_mask"], before.dtype, scale)
    return (before + moved).detach().requires_grad_()


def same_where_it_counts(ours: DataProto, theirs: DataProto, dtype: torch.dtype):
    counts = theirs.batch["response_mask"].bool()
    for name in ("advantages", "returns"):
        found, wanted = ours.batch[name], theirs.batch[name]
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        assert_close(found[counts], wanted[counts], **EXACT[dtype])
        assert not found[~counts].any()


def advantage_settings(seed: int) -> dict:
    gamma, lam = [(1, 1.0), (1.0, 0.95), (0.9, 0.5), (0.99, 0)][seed % 4]
    return {"adv_estimator": "gae", "gamma": gamma, "lam": lam, "config": {}}


@both_dtypes
@pytest.mark.parametrize("mask_dtype", [torch.int64, torch.float32], ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_compute_advantage(seed, mask_dtype, dtype):
    settings = advantage_settings(seed)
    with originals():
        theirs = ray_trainer.compute_advantage(
            batch(seed, mask_dtype, dtype), **settings
        )
    with bombs():
        ours = ray_trainer.compute_advantage(batch(seed, mask_dtype, dtype), **settings)
    same_where_it_counts(ours, theirs, dtype)


def actor(loss_mode: str, **settings) -> FSDPActorConfig:
    return FSDPActorConfig(
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        policy_loss=PolicyLossConfig(loss_mode=loss_mode),
        **settings,
    )


def figures(metrics: dict) -> dict[str, float]:
    """What each metric holds, and how verl is told to reduce it."""
    return {
        name: (metric.aggregate(), metric.aggregation)
        if hasattr(metric, "aggregate")
        else metric
        for name, metric in metrics.items()
    }


def actor_step(seed, loss_mode, dtype, told, without=(), **settings):
    """Loss, gradient and metrics of verl's ppo_loss on a batch for a worker."""
    data = estimated(seed, dtype)
    log_probs = trained(seed, data, "old_log_probs")
    work = for_a_worker(data, **told).exclude(*without)
    output = {"log_probs": model_output(work, log_probs)}
    loss, metrics = losses.ppo_loss(actor(loss_mode, **settings), output, work)
    loss.backward()
    return SimpleNamespace(loss=loss, grad=log_probs.grad, metrics=figures(metrics))


def critic_step(seed, dtype, told, **settings):
    data = estimated(seed, dtype)
    values = trained(seed, data, "values")
    work = for_a_worker(data, **told)
    config = CriticConfig(strategy="fsdp", ppo_micro_batch_size_per_gpu=1, **settings)
    output = {"values": model_output(work, values)}
    loss, metrics = losses.value_loss(config, output, work)
    loss.backward()
    return SimpleNamespace(loss=loss, grad=values.grad, metrics=figures(metrics))


def same_step(step, dtype):
    """What verl makes of a step, and what we make of it."""
    with originals():
        theirs = step("vanilla")
    with bombs():
        ours = step("ppo_ref")
    assert_close(ours.loss, theirs.loss, **EXACT[dtype])
    assert_close(ours.grad, theirs.grad, **EXACT[dtype])
    assert ours.metrics.keys() == theirs.metrics.keys()
    for name, wanted in theirs.metrics.items():
        found = ours.metrics[name]
        if isinstance(wanted, tuple):
            (found, how), (wanted, so) = found, wanted
            assert how == so
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-6), name
    return ours


@both_dtypes
@pytest.mark.parametrize("told", [ALONE, SHARED], ids=["alone", "shared"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_losses(seed, mode, told, dtype):
    given, options = (dtype, told), {"loss_agg_mode": mode}
    same_step(lambda name: actor_step(seed, name, *given, **options), dtype)
    options["cliprange_value"] = 0.2
    same_step(lambda _: critic_step(seed, *given, **options), dtype)


@pytest.mark.parametrize(
    "settings",
    [
        {"clip_ratio_low": 0.1, "clip_ratio_high": 0.3},
        {"clip_ratio": 0.4, "clip_ratio_low": None, "clip_ratio_high": None},
        {"clip_ratio_c": 1.2},
        {"loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 100},
        {"use_kl_loss": True, "kl_loss_coef": 0.1, "entropy_coeff": 0.01},
    ],
    ids=str,
)
@pytest.mark.parametrize("without", [(), ("rollout_is_weights",)], ids=str)
def test_settings_of_the_actor(settings, without):
    given = (torch.float64, ALONE, without)
    ours = same_step(
        lambda name: actor_step(5, name, *given, **settings), torch.float64
    )
    lower, _ = ours.metrics["actor/pg_clipfrac_lower"]
    assert lower > 0 or "clip_ratio_c" not in settings


def test_the_bombs_go_off():
    for run in (
        lambda: ray_trainer.compute_advantage(batch(0), **advantage_settings(0)),
        lambda: actor_step(0, "vanilla", torch.float64, ALONE),
        lambda: critic_step(0, torch.float64, ALONE),
    ):
        with bombs(), originals(), pytest.raises(AssertionError, match="own function"):
            run()


def test_the_block_of_the_page_that_needs_verl(tmp_path, monkeypatch, capsys):
    (code,) = SECTION.findall(SNIPPET.read_text("utf-8"))
    monkeypatch.chdir(tmp_path)
    torch.save(dict(batch(0).batch.items()), "dump.pt")
    with originals():
        exec(code, {})
    theirs, ours = capsys.readouterr().out.split("tensor")[1:]
    assert theirs.strip() == ours.strip()
