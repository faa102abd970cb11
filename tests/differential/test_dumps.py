"""What verl's own functions compute is judged ok, in its releases now and then."""

import pytest
import torch

from ppo_ref.dump.judging import judge
from tests.differential import peers
from tests.differential.wheels import requires
from tests.dump.batches import MASK, sampled

pytestmark = requires(*peers.RELEASES)


@pytest.mark.parametrize("release", peers.RELEASES)
@pytest.mark.parametrize(
    ("gamma", "gae_lambda", "kl_coef"), [(1.0, 1.0, 0.0), (0.99, 0.9, 0.001)]
)
def test_a_dump_of_verl_is_ok(release, gamma, gae_lambda, kl_coef):
    batch = sampled()
    if kl_coef:
        batch["token_level_rewards"] = peers.token_level_rewards(
            release,
            token_level_scores=batch["token_level_scores"],
            old_log_probs=batch["old_log_probs"],
            ref_log_probs=batch["ref_log_prob"],
            response_mask=MASK,
            kl_coef=kl_coef,
        )
    batch["advantages"], batch["returns"] = peers.gae(
        release,
        token_level_rewards=batch["token_level_rewards"],
        values=batch["values"],
        response_mask=MASK,
        gamma=gamma,
        gae_lambda=gae_lambda,
        whitening="verl",
    )
    report = judge(batch)
    said = {verdict.stage: verdict.text for verdict in report.verdicts}
    assert report.ok, str(report)
    assert said["gae"] == f"gamma {gamma:g}, lambda {gae_lambda:g}"
    none = "none in the rewards"
    assert said["kl"] == (f"kl_coef {kl_coef:g}, k1" if kl_coef else none)


def test_the_old_masks_of_verl_0_3_are_named():
    """Its critic kept V after EOS, and its recursion had no mask."""
    batch = sampled()
    late = MASK | MASK.roll(1, 1)
    batch["values"] = torch.where(late & ~MASK, 0.7, batch["values"])
    inputs = {n: batch[n] for n in ("token_level_rewards", "values")}
    made = peers.gae(
        peers.OLD,
        **inputs,
        response_mask=MASK,
        gae_lambda=0.95,
        whitening="verl",
    )
    batch["advantages"], batch["returns"] = made
    report = judge(batch)
    (found,) = [v for v in report.verdicts if v.state == "differs"]
    assert found.stage == "gae"
    assert found.text == "gamma 1, lambda 0.95, if V in the slot after EOS went in"
