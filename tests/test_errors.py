"""Every argument of every function is refused by its whole text."""

import re
from typing import Any

import pytest
import torch
from jaxtyping import TypeCheckError
from torch import Tensor
from torch._subclasses import FakeTensorMode

from ppo_ref.advantages import gae, n_step_advantages, td_residuals
from ppo_ref.alignment import response_values
from ppo_ref.contracts.shapes import Scalar, Tokens, checked
from ppo_ref.kernels.scan import discounted_residuals
from ppo_ref.log_probs import token_log_probs
from ppo_ref.losses import policy_loss, surrogate_objective, value_loss
from ppo_ref.masking import masked_mean
from ppo_ref.trace import trace
from ppo_ref.training.estimates import (
    flipped_sign,
    shifted_values,
    whitened_gae,
    whitened_over_padding,
)
from ppo_ref.training.rollout import sample_responses
from ppo_ref.training.update import update_actor
from tests.calls import CALLS, MASK, REWARDED, SAMPLED, VALID, X
from tests.river import at, having, tensors_in
from tests.test_docstrings import FUNCTIONS

ARGUMENTS = [
    pytest.param(function, inputs, name, id=f"{function.__name__}-{name}")
    for function, inputs in CALLS
    for name in tensors_in(inputs)
    # The fields of one named tuple are told by one text, whoever was called.
    if not name.startswith("experience.") or function is update_actor
]


def argument(case: Any) -> Tensor:
    _, inputs, name = case.values
    return at(inputs, name)


FLOATS = [case for case in ARGUMENTS if argument(case).is_floating_point()]
MASKS = [case for case in ARGUMENTS if argument(case).dtype == torch.bool]
# A head has neither rows nor slots: test_error_texts.py has its refusals.
OF_BATCH = [case for case in ARGUMENTS if not case.values[2].startswith("head_")]
COUNTED = [
    case
    for case in OF_BATCH
    if argument(case).is_floating_point()
    and "response_mask" in case.values[1]
    and case.values[2] != "sequence_values"
    # The values are judged where they have been shifted to.
    and case.values[::2] != (shifted_values, "values")
]
MANY = [case for case in ARGUMENTS if len(tensors_in(case.values[1])) > 1]
# Whose name stands in a refusal of what another hands on.
JUDGES = {trace: td_residuals} | dict.fromkeys(
    [whitened_gae, flipped_sign, shifted_values, whitened_over_padding], gae
)


def refused(error: type[Exception], function: Any, inputs: Any, text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        function(**inputs)


def shown(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


@pytest.mark.parametrize(("function", "inputs"), CALLS)
def test_the_call_that_the_refusals_start_from_is_accepted(function, inputs):
    function(**inputs)


@pytest.mark.parametrize(("function", "inputs", "name"), MASKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_mask_that_is_not_bool(function, inputs, name, dtype):
    text = (
        f"{function.__name__}: {name} must be a bool tensor (True = the token counts), "
        f"got {shown(torch.empty(0, dtype=dtype))}; write {name}.bool()"
    )
    wrong = having(inputs, name, at(inputs, name).to(dtype))
    refused(TypeError, function, wrong, text)


@pytest.mark.parametrize(("function", "inputs", "name"), FLOATS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
def test_numbers_that_are_not_floats(function, inputs, name, dtype):
    text = (
        f"{function.__name__}: {name} must be a floating-point tensor, "
        f"got {shown(torch.empty(0, dtype=dtype))}; write {name}.float()"
    )
    wrong = having(inputs, name, at(inputs, name).to(dtype))
    refused(TypeError, function, wrong, text)


@pytest.mark.parametrize(("function", "inputs", "name"), ARGUMENTS)
def test_what_is_no_tensor(function, inputs, name):
    kinds = {
        torch.float32: "a floating-point tensor",
        torch.bool: "a bool tensor (True = the token counts)",
        torch.int64: "an int32 or int64 tensor (ids)",
    }
    text = (
        f"{function.__name__}: {name} must be {kinds[at(inputs, name).dtype]}, "
        f"got list; write torch.as_tensor({name})"
    )
    wrong = having(inputs, name, at(inputs, name).tolist())
    refused(TypeError, function, wrong, text)


@pytest.mark.parametrize(("function", "inputs", "name"), ARGUMENTS)
def test_tensor_without_a_batch_axis(function, inputs, name):
    lone = at(inputs, name).flatten()[0]
    with pytest.raises(TypeError) as refusal:
        function(**having(inputs, name, lone))
    start = re.escape(f"{function.__name__}: {name}")
    pattern = rf"{start} must have .*ax[ei]s \[.*\], got 0 axes \[\]"
    assert re.fullmatch(pattern, str(refusal.value))


@pytest.mark.parametrize(
    ("function", "inputs", "name"),
    [case for case in OF_BATCH if len(tensors_in(case.values[1])) > 1],
)
def test_tensors_of_different_length(function, inputs, name):
    with pytest.raises(TypeError) as refusal:
        function(**having(inputs, name, at(inputs, name)[:1]))
    assert re.fullmatch(
        rf"{function.__name__}: [\w.]+ must have "
        r"(shape \[batch.*\] = \[[124].*\] like [\w.]+, got \[[124].*\]"
        r"|batch [124] like [\w.]+, got [124])",
        str(refusal.value),
    )


@pytest.mark.parametrize(("function", "inputs", "name"), MANY)
def test_tensors_on_two_devices(function, inputs, name):
    first, second = [*tensors_in(inputs)][:2]
    moved, other = (name, first) if name != first else (second, first)
    devices = ("meta", "cpu") if name != first else ("cpu", "meta")
    text = (
        f"{function.__name__}: {moved} is on {devices[0]} but {other} is on "
        f"{devices[1]}; move both to one device"
    )
    elsewhere = having(inputs, name, at(inputs, name).to("meta"))
    refused(ValueError, function, elsewhere, text)


@pytest.mark.parametrize(("function", "inputs", "name"), COUNTED)
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_what_is_not_finite_inside_the_mask(function, inputs, name, bad):
    position = (1, 3, 2)[: at(inputs, name).ndim]
    dirty = at(inputs, name).clone()
    dirty[position] = bad
    where = "in rows with a token" if dirty.ndim == 1 else "where response_mask is True"
    called = JUDGES.get(function, function).__name__
    text = f"{called}: {name} must be finite {where}, got {bad} at {list(position)}"
    refused(ValueError, function, having(inputs, name, dirty), text)


def is_checked(function: Any) -> bool:
    """Whether ``checked`` is among its decorators."""
    while function is not None:
        if function.__code__.co_qualname == "checked.<locals>.face":
            return True
        function = getattr(function, "__wrapped__", None)
    return False


def test_every_checked_function_is_called():
    faces = {name for name, value in FUNCTIONS.items() if is_checked(value)}
    assert {name.rpartition(".")[2] for name in faces} == {f.__name__ for f in VALID}
    assert not is_checked(discounted_residuals)  # wrapped by torch.no_grad alone
    assert is_checked(sample_responses)  # by both


NAN = torch.tensor([0.0, torch.nan])


@pytest.mark.parametrize("bootstrapped", [gae, td_residuals, n_step_advantages])
def test_bootstrap_value_that_is_not_finite(bootstrapped):
    text = "bootstrap_values must be finite in rows with a token, got nan at [1]"
    inputs = {**VALID[bootstrapped], "bootstrap_values": NAN}
    refused(ValueError, bootstrapped, inputs, f"{bootstrapped.__name__}: {text}")


@pytest.mark.parametrize(
    ("bad", "wanted"),
    [
        (torch.nan, "be finite where response_mask is True, got nan at [1, 3]"),
        (torch.inf, "be finite where response_mask is True, got inf at [1, 3]"),
        (-0.5, "be at least 0, got -0.5 at [1, 3]"),
    ],
)
def test_a_bad_rollout_weight_is_refused_where_it_counts(bad, wanted):
    weights = torch.ones_like(X)
    weights[1, 5] = bad
    policy_loss(**SAMPLED, rollout_weights=weights)
    weights[1, 3] = bad
    text = f"policy_loss: rollout_weights must {wanted}"
    inputs = {**SAMPLED, "rollout_weights": weights}
    refused(ValueError, policy_loss, inputs, text)


def test_critic_outputs_that_do_not_hold_the_response():
    text = (
        "response_outputs: response_length must be at least 1 and less than the "
        "sequence length 6, got 6"
    )
    inputs = {"sequence_values": X, "response_mask": MASK}
    refused(ValueError, response_values, inputs, text)
    dirty = torch.zeros(2, 9)
    dirty[1, 3] = torch.nan
    text = "response_values: values must be finite where response_mask is True, got nan"
    inputs = {"sequence_values": dirty, "response_mask": MASK}
    refused(ValueError, response_values, inputs, f"{text} at [1, 1]")


def test_arguments_by_position_and_missing():
    with pytest.raises(TypeError) as refusal:
        gae(X, X, MASK)
    assert str(refusal.value) == (
        "gae: too many positional arguments; pass tensors of one shape by keyword"
    )
    missing = {"token_level_rewards": X}
    refused(TypeError, gae, missing, "gae: missing a required argument: 'values'")
    with pytest.raises(TypeError) as refusal:
        masked_mean(X, MASK, 1)
    text = "masked_mean: too many positional arguments; it takes x, response_mask"
    assert str(refusal.value) == text


def test_unknown_names_are_told_before_missing_ones():
    takes = (
        "it takes token_level_rewards, values, response_mask, gamma, gae_lambda, "
        "bootstrap_values"
    )
    text = f"gae: got unexpected argument lam; {takes}"
    refused(TypeError, gae, {**REWARDED, "lam": 0.95}, text)
    misnamed = {"token_level_rewards": X, "values": X, "eos_mask": MASK}
    refused(TypeError, gae, misnamed, f"gae: got unexpected argument eos_mask; {takes}")
    text = f"gae: got unexpected arguments eos_mask, lam; {takes}"
    refused(TypeError, gae, {**misnamed, "lam": 0.95}, text)


@pytest.mark.parametrize("function", [policy_loss, surrogate_objective, value_loss])
@pytest.mark.parametrize(
    ("aggregate", "came"),
    [
        (lambda losses, mask: losses[:, :3], "float32 of shape [2, 3]"),
        (lambda losses, mask: mask.sum(), "int64 of shape []"),
        (lambda losses, mask: 0.5, "float 0.5"),
    ],
)
def test_aggregation_to_something_else_than_a_number(function, aggregate, came):
    text = (
        f"{function.__name__}: aggregate must return a number per batch, "
        f"a floating-point tensor of shape [], got {came}"
    )
    inputs = {**VALID[function], "aggregate": aggregate}
    refused(TypeError, function, inputs, text)


@pytest.mark.parametrize(("function", "inputs", "name"), OF_BATCH)
@pytest.mark.parametrize("value", [0.5, None, [[1], [2, 3]]])
def test_what_no_conversion_makes_a_tensor(function, inputs, name, value):
    with pytest.raises(TypeError) as refusal:
        function(**having(inputs, name, value))
    assert re.fullmatch(
        rf"{function.__name__}: {re.escape(name)} must be an? .* of shape \[batch.*\], "
        rf"got {re.escape(f'{type(value).__name__} {value}')}",
        str(refusal.value),
    )


@pytest.mark.parametrize(("function", "inputs", "name"), FLOATS)
def test_complex_numbers(function, inputs, name):
    text = f"{function.__name__}: {name} must be a floating-point tensor, got complex64"
    imaginary = having(inputs, name, at(inputs, name).to(torch.complex64))
    refused(TypeError, function, imaginary, text)


def test_int32_ids_pass():
    logits = torch.tensor([[[0.0, 1.0]]])
    ids = torch.tensor([[1]])
    assert torch.equal(token_log_probs(logits, ids.int()), token_log_probs(logits, ids))


def test_an_int_passes_for_a_float():
    gae(**REWARDED, gamma=1, gae_lambda=0)
    policy_loss(**SAMPLED, clip_range=(0, 1), dual_clip=3)


def test_what_does_not_count_is_not_refused():
    dirty = torch.where(MASK, X, torch.nan)
    gae(token_level_rewards=dirty, values=dirty, response_mask=MASK)
    no_row = {"response_mask": torch.tensor([[True] * 6, [False] * 6])}
    gae(**{**REWARDED, **no_row}, bootstrap_values=NAN)


def test_a_loss_that_overflows_is_refused_by_its_aggregation():
    inputs = {**SAMPLED, "advantages": X.sign() * 3e38, "old_log_probs": X + 2}
    text = "token_mean: losses must be finite where response_mask is True, got"
    with pytest.raises(ValueError, match=text):
        surrogate_objective(**{**inputs, "log_probs": X + 9})


def test_a_result_of_the_wrong_shape_is_left_to_the_judge():
    @checked
    def broken(x: Tokens) -> Scalar:
        return x

    with pytest.raises(TypeCheckError, match="return value"):
        broken(X)


def test_tensors_on_three_devices():
    @checked
    def three(*, x: Tokens, y: Tokens, z: Tokens) -> Tokens:
        return x

    with FakeTensorMode():
        x, y, z = (torch.empty(1, 2, device=name) for name in ("cpu", "meta", "cuda"))
        text = "three: y is on meta but x is on cpu; move both to one device"
        refused(ValueError, three, {"x": x, "y": y, "z": z}, text)
