"""KL, whitening and means beside OpenRLHF, TRL, TorchRL and Stable-Baselines3."""

import math

import pytest
from torch.testing import assert_close

from ppo_ref.kl import kl_k1, kl_k2, kl_k3
from ppo_ref.losses import policy_loss
from ppo_ref.masking import masked_whiten
from tests.differential import control_losses, loss_peers, others, peers
from tests.differential.batches import gapped_mask, normal, row, seeds
from tests.differential.control_peers import STABLE, TORCHRL
from tests.differential.others import OPEN, TRL
from tests.differential.test_loss_peers import counted
from tests.differential.test_losses import one_token, policy_batch
from tests.differential.wheels import requires

TO_FLOAT32 = {"atol": 1e-6, "rtol": 1e-6}


@requires(OPEN)
@seeds
def test_openrlhfs_estimates_are_ours_while_they_are_below_ten(seed: int) -> None:
    mask = gapped_mask(seed)
    log_probs = -normal(seed, mask).abs()
    shift = 2 * normal(seed + 1, mask).tanh()
    both = {"log_probs": log_probs, "ref_log_probs": log_probs + shift}
    for name, ours in {"k1": kl_k1, "k2": kl_k2, "k3": kl_k3}.items():
        theirs = loss_peers.open_kl(name, **both)
        assert_close(ours(**both).float(), theirs, **TO_FLOAT32)


@requires(TRL)
@seeds
def test_trls_estimates_are_ours_with_no_clamp(seed: int) -> None:
    mask = gapped_mask(seed)
    log_probs = -normal(seed, mask, scale=9.0).abs()
    both = {"log_probs": log_probs, "ref_log_probs": normal(seed + 1, mask)}
    for name, ours in {"k1": kl_k1, "k3": kl_k3}.items():
        assert_close(ours(**both), loss_peers.trl_kl(name, **both))


@requires(STABLE)
@seeds
def test_stable_baselines_stops_by_our_k3_of_old_and_new(seed: int) -> None:
    batch = counted(policy_batch(seed))
    new, old = batch["log_probs"].detach(), batch["old_log_probs"]
    ours = kl_k3(log_probs=old[None], ref_log_probs=new[None]).mean()
    assert control_losses.stable_approx_kl(new, old) == pytest.approx(ours.item())


@requires(OPEN)
@pytest.mark.parametrize(("name", "value"), [("k1", -10), ("k2", 10), ("k3", 10)])
def test_openrlhf_clamps_every_estimate_at_ten(name: str, value: float) -> None:
    both = {"log_probs": row(-12.5), "ref_log_probs": row(-0.5)}
    assert loss_peers.open_kl(name, **both).item() == value


@requires(TRL, TORCHRL, STABLE)
@seeds
def test_the_others_whiten_with_bessels_divisor_as_we_do(seed: int) -> None:
    mask = gapped_mask(seed)
    raw = normal(seed, mask)
    ours = masked_whiten(raw, mask)[mask]
    theirs = loss_peers.trl_statistics().masked_whiten(raw, mask)[mask]
    assert_close(ours, theirs)
    for peer in (control_losses.torchrl_whitened, control_losses.stable_whitened):
        assert_close(ours, peer(raw[mask]), **TO_FLOAT32)


@requires(TORCHRL)
@seeds
def test_torchrl_divides_by_n_as_soon_as_it_has_a_mask(seed: int) -> None:
    mask = gapped_mask(seed)
    raw, count = normal(seed, mask), int(mask.sum())
    theirs = control_losses.torchrl_whitened(raw, mask)[mask]
    bessel = (count / (count - 1)) ** 0.5
    assert_close(theirs, masked_whiten(raw, mask)[mask] * bessel, **TO_FLOAT32)


@requires(OPEN, TRL, TORCHRL)
def test_masked_slots_are_whitened_by_trl_openrlhf_and_torchrl_and_zero_here() -> None:
    raw, mask = row(1, 2, 3, 9), row(1, 1, 1, 0).bool()
    assert masked_whiten(raw, mask)[0, 3] == 0
    # TRL's trainer fills them with 0 in its next line.
    assert_close(loss_peers.trl_statistics().masked_whiten(raw, mask), row(-1, 0, 1, 7))
    by_n = (3 / 2) ** 0.5
    for theirs in (
        others.open_whitened(raw, mask),
        control_losses.torchrl_whitened(raw, mask),
    ):
        assert_close(theirs, row(-1, 0, 1, 7) * by_n, **TO_FLOAT32)


@requires(OPEN, TRL)
def test_a_batch_without_a_token_is_nan_there_and_an_error_here() -> None:
    batch = one_token(0.1, 1) | {"response_mask": row(0).bool()}
    loss, *_ = loss_peers.open_policy_loss(**batch, clip_range=(0.2, 0.2))
    assert loss.isnan()
    assert loss_peers.trl_policy_loss(**batch, clip_range=0.2)[0].isnan()
    nothing = row(1), row(0).bool()
    assert others.open_whitened(*nothing).isnan().all()
    with pytest.raises(ValueError, match="The sum of the mask is zero"):
        loss_peers.trl_statistics().masked_whiten(*nothing)


@requires(OPEN, TRL)
def test_one_token_whitens_to_nan_or_zero_there_and_is_an_error_here() -> None:
    alone = row(1), row(1).bool()
    assert loss_peers.trl_statistics().masked_whiten(*alone).isnan().all()
    assert others.open_whitened(*alone).item() == 0
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        masked_whiten(*alone)


@requires(OPEN, TRL)
def test_nan_at_a_masked_slot_is_read_by_both_and_never_by_us() -> None:
    raw, mask = row(1, 3, math.nan), row(1, 1, 0).bool()
    assert masked_whiten(raw, mask).isfinite().all()
    assert others.open_whitened(raw, mask).isnan().all()
    assert loss_peers.trl_statistics().masked_mean(raw, mask).isnan()
    batch = {
        "log_probs": row(-1, math.nan),
        "old_log_probs": row(-1.1, -1),
        "advantages": row(1, 1),
        "response_mask": row(1, 0).bool(),
    }
    assert policy_loss(**batch).loss.isfinite()
    loss, *_ = loss_peers.open_policy_loss(**batch, clip_range=(0.2, 0.2))
    assert loss.isnan()
    assert loss_peers.trl_policy_loss(**batch, clip_range=0.2)[0].isnan()


@requires(OPEN, TRL, peers.NOW)
def test_their_means_divide_by_the_count_alone() -> None:
    # A weight as small as verl's epsilon halves its mean.
    x, mask = row(1), row(1e-8)
    for peer in (loss_peers.open_statistics(), loss_peers.trl_statistics()):
        assert peer.masked_mean(x, mask, None).item() == 1
    verls = peers.tensors(peers.NOW).masked_mean(x, mask)
    assert verls.item() == pytest.approx(0.5)
