"""Estimates without a critic beside verl's and OpenRLHF's, disagreements included."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from ppo_ref.rewards import turn_level_scores
from tests.differential.batches import gapped_mask, generator, normal, seeds
from tests.differential.others import OPEN, open_shaped, piece
from tests.differential.peers import NOW, core, session_advantages
from tests.differential.peers import group_advantages as verl
from tests.differential.wheels import requires

pytestmark = requires(NOW, OPEN)


def batch(seed: int) -> dict[str, Tensor]:
    """Groups of two to four, their rows mixed; rewards outside the mask are 0."""
    mask = gapped_mask(seed)
    mask = torch.cat([mask] * 3)
    mask[:, 0] = True
    groups = torch.arange(len(mask)) // 3
    groups[groups == groups[-1]] = int(groups[0])
    groups = groups[torch.randperm(len(mask), generator=generator(seed))]
    rewards = torch.where(mask, normal(seed, mask), 0)
    return {"token_level_rewards": rewards, "response_mask": mask, "groups": groups}


def column(*scores: float, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    """Responses of one token to one prompt."""
    return {
        "token_level_rewards": torch.tensor(scores, dtype=dtype)[:, None],
        "response_mask": torch.ones(len(scores), 1, dtype=torch.bool),
        "groups": torch.zeros(len(scores), dtype=torch.int64),
    }


@seeds
@pytest.mark.parametrize(
    ("ours", "name", "options"),
    [
        (grpo, "grpo", {}),
        (dr_grpo, "grpo", {"norm_adv_by_std_in_grpo": False}),
        (rloo, "rloo", {}),
        (rloo, "rloo_vectorized", {}),
        (reinforce_plus_plus_baseline, "reinforce_plus_plus_baseline", {}),
    ],
)
def test_advantages_are_verls(seed, ours, name, options):
    given = batch(seed)
    assert_close(ours(**given).advantages, verl(name, **given, **options)[0])


@seeds
@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.0])
def test_reinforce_plus_plus_is_verls(seed, gamma):
    given = batch(seed) | {"gamma": gamma}
    del given["groups"]
    ours, theirs = reinforce_plus_plus(**given), verl("reinforce_plus_plus", **given)
    assert_close(ours.advantages, theirs[0])
    assert_close(ours.returns, theirs[1])


LATER = "verl 0.8.0"  # the last release that forgets what comes behind a tool


@requires(LATER)
@pytest.mark.parametrize("release", [LATER, NOW])
def test_reinforce_plus_plus_forgot_later_turns_until_verl_0_9(release):
    mask = torch.tensor([[True, True, False, True, True]])
    rewards = turn_level_scores(torch.tensor([[0.25, 1.0]]), mask)
    given = {"token_level_rewards": rewards, "response_mask": mask}
    returns = verl("reinforce_plus_plus", **given, release=release)[1][mask].tolist()
    assert returns == [0.25 if release == LATER else 1.25] * 2 + [1.0] * 2
    assert reinforce_plus_plus(**given).returns[mask].tolist() == [1.25] * 2 + [1] * 2


@seeds
@pytest.mark.parametrize(
    ("ours", "name"),
    [(rloo, "rloo"), (dr_grpo, "dr_grpo"), (dr_grpo, "reinforce_baseline")],
)
def test_without_kl_baselines_are_openrlhfs(seed, ours, name):
    scores = torch.randn(12, generator=generator(seed), dtype=torch.float64)
    given = column(*scores) | {"groups": torch.arange(12) // 4}
    theirs = open_shaped(name, scores, per_prompt=4)
    assert_close(ours(**given).advantages[:, 0], theirs)


def pieces(seed: int) -> dict[str, Tensor]:
    """``batch`` with each row cut into one to three; only the last has the score."""
    whole = batch(seed)
    count = torch.randint(1, 4, (len(whole["groups"]),), generator=generator(seed))
    cut = {name: x.repeat_interleave(count, 0) for name, x in whole.items()}
    rollouts = torch.arange(len(count)).repeat_interleave(count)
    cut["token_level_rewards"][:-1][rollouts[:-1] == rollouts[1:]] = 0
    return cut | {"rollouts": rollouts}


@seeds
@pytest.mark.parametrize(("ours", "divided"), [(grpo, True), (dr_grpo, False)])
def test_rollouts_in_several_rows_are_verls_for_grpo(seed, ours, divided):
    given = pieces(seed)
    theirs = session_advantages("grpo", divided=divided, **given)
    assert_close(ours(**given).advantages, theirs)
    del given["rollouts"]
    assert not torch.allclose(ours(**given).advantages, theirs)


@seeds
@pytest.mark.parametrize("ours", [rloo, reinforce_plus_plus_baseline])
def test_rollouts_in_several_rows_count_by_row_in_verl_but_for_grpo(seed, ours):
    given = pieces(seed)
    rollouts = given.pop("rollouts")
    theirs = session_advantages(ours.__name__, rollouts=rollouts, **given)
    assert_close(ours(**given).advantages, theirs)
    by_rollout = ours(**given, rollouts=rollouts).advantages
    assert not torch.allclose(by_rollout, theirs)


def test_rewards_of_earlier_rows_count_here_and_not_in_verl():
    """The KL charged in the rewards of a row before the last, for one."""
    given = column(-0.5, 0, 1) | {"rollouts": torch.tensor([0, 0, 1])}
    theirs = session_advantages("grpo", divided=False, **given)
    assert theirs[:, 0].tolist() == [-0.5, -0.5, 0.5]
    assert dr_grpo(**given).advantages[:, 0].tolist() == [-0.75, -0.75, 0.75]


def test_a_lone_response_is_refused_here_and_counts_in_full_in_verl():
    given = column(3)
    for ours in grpo, dr_grpo, rloo, reinforce_plus_plus_baseline:
        with pytest.raises(ValueError, match="got 1 row of group 0"):
            ours(**given)
    for name in "grpo", "rloo":
        assert verl(name, **given)[0].item() == pytest.approx(3)
    assert verl("grpo", **given, norm_adv_by_std_in_grpo=False)[0].item() == 3
    assert verl("rloo_vectorized", **given)[0].item() == 0
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert open_shaped("group_norm", torch.tensor([3.0]), 1).isnan().all()
    assert open_shaped("rloo", torch.tensor([3.0]), 1).isnan().all()
    assert open_shaped("dr_grpo", torch.tensor([3.0]), 1).item() == 0


def test_equal_scores_are_0_here_and_in_verl_what_rounding_leaves():
    """A mean of equal numbers may round to another; GRPO divides that by almost 0."""
    largest = 0.0
    for count in 3, 7, 8, 16:
        given = column(*[10.1] * count, dtype=torch.float32)
        assert not grpo(**given).advantages.any()
        largest = max(largest, verl("grpo", **given)[0].abs().max().item())
    assert largest > 0.3


def test_verls_gdpo_reads_rewards_by_name_alone_and_fails_in_its_default_trainer():
    """So a KL taken from the token rewards is lost; the pages say both."""
    gdpo = core(NOW).compute_gdpo_outcome_advantage
    ones = torch.ones(4, 1)
    named = {"right": [1, 1, 0, 0], "length": [-200, -600, -400, -800]}
    config = {"gdpo_reward_keys": list(named)}
    rows = {"prompts": ones, "attention_mask": torch.ones(4, 2).long()}
    given = {"response_mask": ones, "index": [0] * 4, "config": config}
    given |= {"non_tensor_batch": named, "batch": rows}
    by_hand = [1.1920, 0.2814, -0.2814, -1.1920]
    for row in ones, ones * torch.arange(4)[:, None]:
        theirs = gdpo(row, **given)[0]
        assert theirs[:, 0].tolist() == pytest.approx(by_hand, abs=1e-4)

    path = "verl/trainer/ppo/v1/trainer_base.py"
    first = 'fields = ["uid", "response_mask", "rm_scores"'
    given["batch"] = dict.fromkeys(piece(NOW, path, first, first).fields, ones)
    with pytest.raises(KeyError, match="prompts"):
        gdpo(ones, **given)
