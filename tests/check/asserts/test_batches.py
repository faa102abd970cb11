"""Asserts about a batch: padding, score, two models at step 0, return to go."""

from functools import partial

import pytest
import torch
from torch import Tensor

from ppo_ref import loops
from ppo_ref.check.asserts.masks import (
    assert_masked_out_ignored,
    assert_padding_ignored,
    assert_score_on_last_token,
)
from ppo_ref.check.asserts.step_zero import assert_kl_zero, assert_ratio_one
from ppo_ref.check.asserts.targets import assert_return_to_go
from tests.check.asserts.models import (
    DTYPES,
    LENGTHS,
    MASK,
    Network,
    fault,
    generator,
    sequences,
)

SCORE = torch.zeros(2, 6)
SCORE[[0, 1], LENGTHS - 1] = 1.0


def numbers(seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    drawn = torch.randn(2, 6, generator=generator(seed))
    return drawn.to(dtype)


def recursion(rewards: Tensor, values: Tensor, gae_lambda: float) -> Tensor:
    """verl 0.3's: over every slot, whatever the mask says."""
    advantage = torch.zeros(2, dtype=values.dtype)
    after = advantage
    found = torch.zeros_like(values)
    for t in reversed(range(6)):
        delta = rewards[:, t] + after - values[:, t]
        advantage = delta + gae_lambda * advantage
        after = values[:, t]
        found[:, t] = advantage
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_that_is_masked_is_ignored(dtype):
    inputs = {
        "rewards": numbers(0, dtype),
        "values": numbers(9, dtype),
    }

    def masked(rewards: Tensor, values: Tensor) -> Tensor:
        return recursion(rewards * MASK, values * MASK, 0.95)

    before = {name: x.clone() for name, x in inputs.items()}
    assert_padding_ignored(masked, inputs, MASK)
    for name, x in inputs.items():
        assert torch.equal(x, before[name])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_slot_after_the_end_in_the_recursion_is_named(dtype):
    late = MASK | MASK.roll(1, 1)
    inputs = {
        "rewards": numbers(0, dtype) * MASK,
        "values": numbers(1, dtype),
    }

    def unmasked(gae_lambda):
        def advantages(rewards, values):
            return recursion(rewards * MASK, values * late, gae_lambda)

        return advantages

    text = fault(assert_padding_ignored, unmasked(0.5), inputs, MASK)
    assert text.startswith("garbage in the padding of values moved advantages[1, ")
    assert "the slot after the end counts; shift the values, not the mask" in text
    # At lambda 1 it cancels.
    assert_padding_ignored(unmasked(1.0), inputs, MASK)


def test_garbage_that_becomes_nan_is_named():
    """A nan is on neither side of a tolerance."""

    def overflows(values: Tensor) -> Tensor:
        return torch.where(values.abs().max() > 2, torch.nan, values)

    inputs = {"values": numbers(1).clamp(-1, 1)}
    text = fault(assert_padding_ignored, overflows, inputs, MASK)
    assert text.startswith("garbage in the padding of values moved advantages[0, 0]")
    assert "to nan:" in text


def test_whitening_over_all_slots_is_named():
    def plain(values: Tensor) -> Tensor:
        return (values - values.mean()) / values.std()

    text = fault(assert_padding_ignored, plain, {"values": numbers(1)}, MASK)
    assert text.endswith("a mean, a deviation or a sum runs over all slots; mask it")
    assert "advantages[0, 0] from" in text


def test_a_score_on_the_last_token_passes():
    for factor in (1, -0.5, 0):
        assert_score_on_last_token(factor * SCORE, MASK)
    gapped = MASK.clone()
    gapped[0, 2] = False
    assert_score_on_last_token(SCORE, gapped)


def test_a_misplaced_score_is_named():
    at_the_end = torch.zeros(2, 6)
    at_the_end[:, -1] = 1.0
    assert fault(assert_score_on_last_token, at_the_end, MASK) == (
        "token_level_scores[1, 5] is 1, the last token is [1, 3]: the score is 2 slots "
        "late, where the mask hides it; index the length of the response less 1"
    )
    early = SCORE.roll(-1, 1)
    text = fault(assert_score_on_last_token, early, MASK)
    assert text.startswith("token_level_scores[0, 4] is 1, the last token is [0, 5]")
    assert "1 slot early" in text
    text = fault(assert_score_on_last_token, -early, MASK)
    assert text.startswith("token_level_scores[0, 4] is -1, the last token is [0, 5]")
    text = fault(assert_score_on_last_token, MASK * 0.5, MASK)
    assert text.endswith(
        "the score is written on many tokens; keep the last, or know why"
    )


AT_STEP_ZERO = [(assert_kl_zero, "ref_log_probs"), (assert_ratio_one, "old_log_probs")]


@pytest.mark.parametrize(("function", "other"), AT_STEP_ZERO)
def test_another_temperature_is_named(function, other):
    logits = numbers(0)[..., None] * torch.tensor([1.0, -1.0, 0.5])
    given = {"response_mask": MASK}
    for name, temperature in (("log_probs", 1.0), (other, 0.7)):
        given[name] = (logits / temperature).log_softmax(-1)[..., 0]
    text = fault(function, **given)
    assert text.startswith("log_probs[0, 0] is ")
    assert f"{other}[0, 0] is " in text
    assert "another temperature" in text


@pytest.mark.parametrize(("function", "other"), AT_STEP_ZERO)
def test_a_shift_is_named(function, other):
    x = -numbers(0).abs()
    options = {"log_probs": x, "response_mask": MASK, other: x.roll(1, 1)}
    assert fault(function, **options).endswith(
        f"{other} lies one slot beside; cut both by the same slice"
    )


def test_a_model_in_bfloat16_is_told_of_its_tolerance():
    x = -numbers(0).abs()
    off = x + 0.03
    text = fault(assert_ratio_one, x, off, MASK)
    assert "a model in bfloat16 may: pass tolerance=0.1" in text
    assert_ratio_one(x, off, MASK, tolerance=0.1)
    short = x.bfloat16()
    assert_ratio_one(short, off.bfloat16(), MASK)
    fault(assert_ratio_one, short, short + 0.3, MASK)


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [
        (torch.float64, 5e-10, 2e-9),
        (torch.float32, 5e-5, 2e-4),
        (torch.float16, 1e-2, 4e-2),
        (torch.bfloat16, 6e-2, 2e-1),
    ],
)
def test_two_models_may_differ_by_what_their_dtype_rounds(dtype, near, far):
    zeros = torch.zeros(2, 6, dtype=dtype)
    for function in (assert_kl_zero, assert_ratio_one):
        function(zeros - near, zeros, MASK)
        fault(function, zeros - far, zeros, MASK)


def estimated(gamma: float, gae_lambda: float) -> dict[str, Tensor]:
    rewards = numbers(0, torch.float64)
    values = numbers(1, torch.float64)
    of_row = partial(loops.gae, gamma=gamma, gae_lambda=gae_lambda)
    advantages = loops.over_rows(of_row, MASK, rewards, values)
    return {
        "advantages": advantages,
        "values": values,
        "token_level_rewards": rewards,
        "response_mask": MASK,
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_advantage_and_value_are_the_return_to_go(gamma, dtype):
    assert_return_to_go(**rounded(estimated(gamma, 1.0), dtype), gamma=gamma)


def rounded(batch: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """The numbers of a batch in another dtype, its mask as it is."""
    found = {}
    for name, x in batch.items():
        found[name] = x.to(dtype) if x.is_floating_point() else x
    return found


def test_the_return_to_go_of_a_cut_row_has_the_value_behind_it():
    batch = {"token_level_rewards": numbers(0), "response_mask": MASK}
    ends = torch.tensor([0.5, 0.0])
    received = batch["token_level_rewards"] * MASK
    returns = received.flip(1).cumsum(1).flip(1) + ends[:, None]
    given = batch | {"values": numbers(1), "advantages": returns - numbers(1)}
    assert_return_to_go(**given, bootstrap_values=ends)
    assert "pass their bootstrap_values" in fault(assert_return_to_go, **given)


def test_a_sum_may_be_off_by_rounding_and_no_more():
    batch = rounded(estimated(1.0, 1.0), torch.float32)
    batch["advantages"][0, 1] += 1e-5
    assert_return_to_go(**batch)
    batch["advantages"][0, 1] += 2e-3
    text = fault(assert_return_to_go, **batch)
    assert text.startswith("advantages[0, 1] + values[0, 1] is ")


def test_what_makes_the_sum_wrong_is_named():
    text = fault(assert_return_to_go, **estimated(1.0, 0.95))
    assert text.endswith("these advantages have gae_lambda=0.95; compute them at 1")
    text = fault(assert_return_to_go, **estimated(0.99, 1.0))
    assert text.endswith("these advantages have gamma=0.99; pass the same to both")
    batch = estimated(1.0, 1.0)
    values, A = batch["values"], batch["advantages"]

    def with_advantages(other):
        return fault(assert_return_to_go, **batch | {"advantages": other})

    counted = A[MASK].tolist()
    white = (A - loops.mean(counted)) / loops.variance(counted) ** 0.5
    text = with_advantages(white)
    assert text.endswith("they are whitened; take them as they were before")
    for shift, word in ((-1, "late"), (1, "early")):
        text = with_advantages(A + values - values.roll(shift, 1))
        assert f"lie one slot {word}; cut [:, -T-1:-1]" in text
    text = with_advantages(A.flip(0))
    assert "row 0 has the advantages of row 1; draw or sort all fields" in text
    text = with_advantages(A * 3)
    assert text.endswith("the recursion reads a slot that does not count")


def policy_loss(log_probs: Tensor, advantages: Tensor) -> Tensor:
    ratio = (log_probs + 1).exp()
    counted = torch.where(MASK, ratio * advantages, 0)
    return counted.sum() / MASK.sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_masked_loss_ignores_what_is_masked_out(dtype):
    inputs = {
        "log_probs": -numbers(0, dtype).abs(),
        "advantages": numbers(1, dtype),
    }
    assert_masked_out_ignored(policy_loss, inputs, MASK)


def test_a_loss_over_all_slots_is_named():
    inputs = {
        "log_probs": -numbers(0).abs(),
        "advantages": numbers(1),
    }

    def over_all(log_probs: Tensor, advantages: Tensor) -> Tensor:
        masked = torch.where(MASK, advantages, 0)
        return (log_probs.exp() * masked).sum() + advantages.mean() * 1e-3

    text = fault(assert_masked_out_ignored, over_all, inputs, MASK)
    assert text.startswith("advantages[1, 4] is masked out and moved the result from ")
    assert text.endswith("a mean, a deviation or a sum runs over all slots; mask it")


def test_what_overflows_behind_the_mask_is_named():
    """exp of garbage, times 0: nan."""

    def overflowing(x: Tensor) -> Tensor:
        squares = x.square()
        return (squares.exp() * MASK).sum()

    inputs = {"x": numbers(0) * 3}
    text = fault(assert_masked_out_ignored, overflowing, inputs, MASK)
    assert "to nan" in text


def test_a_model_that_reads_padding_is_named():
    ids = sequences()
    attention = torch.ones(2, 9, dtype=torch.bool)
    attention[1, :2] = False  # padded on the left
    critic = Network(1, torch.float32)

    def forward(input_ids: Tensor) -> Tensor:
        return critic(input_ids)[..., 0]

    def from_the_start(input_ids: Tensor) -> Tensor:
        first = critic(input_ids[:1])[0, :, 0]
        alone = critic(input_ids[1:, 2:])[0, :, 0]
        return torch.stack([first, torch.cat([torch.zeros(2), alone])])

    assert_masked_out_ignored(from_the_start, {"input_ids": ids}, attention)
    text = fault(assert_masked_out_ignored, forward, {"input_ids": ids}, attention)
    assert text.startswith("input_ids[1, 0] is masked out and moved result[1, 2] from ")
    assert text.endswith("pass attention_mask, and position_ids that skip padding")


def test_what_is_passed_wrongly_to_the_eleventh_is_refused():
    x = {"x": numbers(0)}
    one_id = {"x": torch.zeros(2, 6, dtype=torch.long)}

    def total(x: Tensor) -> Tensor:
        return x.float().sum()

    for inputs, mask, text in (
        (x, MASK | True, "mask must be False somewhere, got all True"),
        (x, MASK & False, "response_mask must count at least 1 token"),
        (one_id, MASK, "must hold at least 2 different ids, got 1"),
    ):
        with pytest.raises(ValueError, match=text):
            assert_masked_out_ignored(total, inputs, mask)
    for function, inputs in (
        (lambda x: 0.0, x),
        (total, {"x": numbers(0)[:, :3]}),
        (total, {"x": sequences()}),
    ):
        with pytest.raises(TypeError, match="assert_masked_out_ignored: "):
            assert_masked_out_ignored(function, inputs, MASK)
