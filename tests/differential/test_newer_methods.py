"""The newer methods, as two pages write them, beside the functions of verl and TRL."""

import math
from collections import defaultdict
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import grad
from torch.testing import assert_close

from tests.differential.batches import generator, seeds
from tests.differential.others import GRPO, piece
from tests.differential.peers import CORE, NOW, ActorConfig, tensors
from tests.differential.wheels import cut, requires
from tests.snippets import defined

pytestmark = requires(NOW, GRPO)
MASK = torch.arange(3) < torch.tensor([[2], [3], [1], [1]])
BRIEF = [1.0, 0.0, 1.0, 1.0]  # the second reward of the page


def page(seed: int) -> dict[str, Any]:
    """The page's own functions, on scores and log-probs of this seed."""
    names = defined("debug/methods", "batch", "parts", "methods", "more")
    chance = generator(seed)
    last = MASK.sum(1) - 1
    names["scores"] = torch.zeros(4, 3)
    names["scores"][torch.arange(4), last] = torch.rand(4, generator=chance)
    names["old"] = MASK * -torch.rand(4, 3, generator=chance)
    return names


def verl(name: str, scores: Tensor, **more: Any) -> Tensor:
    function = f"compute_{name}_advantage"
    given = {
        "verl_F": tensors(NOW),
        "np": np,
        "defaultdict": defaultdict,
        "AlgoConfig": dict,
    }
    known = cut(NOW, CORE, function, "compute_grpo_outcome_advantage", **given)
    groups = np.array([0, 0, 1, 1])
    return getattr(known, function)(
        token_level_rewards=scores, response_mask=MASK.float(), index=groups, **more
    )[0]


@seeds
def test_the_baselines_are_verls(seed):
    names = page(seed)
    scores, in_groups = names["scores"], names["in_groups"]

    def ours(baseline: str, **options: bool) -> Tensor:
        return in_groups(names[baseline], **options)(token_level_rewards=scores)

    assert_close(ours("by_lengths"), verl("opo_outcome", scores))
    assert_close(
        ours("second_best", std=True), verl("grpo_passk_outcome", scores, config={})
    )
    p = names["old"].exp()
    squares = {"old_log_probs": names["old"], "sum_pi_squared": p**2 + (1 - p) ** 2}
    theirs = verl("optimal_token_baseline", scores, **squares)
    assert_close(ours("by_token"), theirs)


@seeds
def test_gdpo_is_verls(seed):
    names = page(seed)
    given = {"response_mask": MASK, "groups": names["prompts"]}
    ours = names["gdpo"](token_level_rewards=names["scores"], **given)
    right = names["scores"].sum(1).numpy()
    theirs = verl(
        "gdpo_outcome",
        names["scores"],
        config={"gdpo_reward_keys": ["right", "brief"]},
        non_tensor_batch={"right": right, "brief": BRIEF},
        batch={
            "prompts": torch.zeros(4, 1),
            "attention_mask": torch.cat([torch.ones(4, 1), MASK], 1).long(),
        },
    )
    assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def tokens(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probs before and now, and advantages, of tokens from rare to common."""
    chance = generator(seed)
    old, new = torch.rand(2, 1, 40, generator=chance, dtype=torch.float64).log()
    return old, new, torch.randn(1, 40, generator=chance, dtype=torch.float64)


@seeds
def test_the_mask_by_probability_moved_is_verls(seed):
    old, new, A = tokens(seed)
    actor = type("ActorConfig", (ActorConfig,), {})
    other = type("AlgoConfig", (), {})
    given = {"verl_F": tensors(NOW), "ActorConfig": actor, "AlgoConfig": other}
    function = "compute_policy_loss_dppo_tv"
    known = cut(NOW, CORE, function, "agg_loss", **given)
    config = actor(clip_ratio=0.2, clip_ratio_c=math.inf, global_batch_info={})
    x = new.clone().requires_grad_()
    every = torch.ones_like(A)
    theirs = getattr(known, function)(old, x, A, every, "token-mean", config)[0]
    names = defined("on_policy/divergence_or_ratio", "masks")
    left_out = names["by_tv"](old.exp(), new.exp(), A)
    assert 0 < left_out.sum() < left_out.numel()
    ours = names["dppo_loss"](old.exp(), x.exp(), A, left_out)
    assert_close(grad(ours, x)[0], grad(theirs, x)[0])


@seeds
def test_vespos_weight_is_trls(seed):
    old, new, A = (x.reshape(10, 4) for x in tokens(seed))
    names = page(seed)
    names["mask"] = torch.ones(10, 4)
    theirs = piece(
        GRPO,
        "trl/trainer/grpo_trainer.py",
        "def get_gamma_weights(",
        "return phi_seq",
        math=math,
    ).get_gamma_weights(A[:, :1], new - old, torch.ones(10, 4), None)
    assert_close(names["vespo"]((new - old).exp(), A[:, :1]), theirs)
