"""Refusals: ``checked`` on three functions, who wears it, what values are refused."""

import inspect
import re
from typing import Any, get_args

import numpy as np
import pytest
import torch
from jaxtyping import AbstractArray, TypeCheckError
from torch import Tensor
from torch._subclasses import FakeTensorMode

from ppo_ref import aggregation, masking
from ppo_ref.advantages import gae, monte_carlo_returns, n_step_advantages, td_residuals
from ppo_ref.alignment import response_mask, response_outputs, response_values
from ppo_ref.chunked import log_probs_and_entropy_from_hidden, loss_from_hidden
from ppo_ref.contracts import shapes
from ppo_ref.contracts.shapes import Scalar, Tokens, checked
from ppo_ref.diagnostics import (
    effective_sample_size,
    explained_variance,
    ratio_statistics,
    rollout_mismatch,
)
from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from ppo_ref.kernels.scan import discounted_residuals
from ppo_ref.kl import adaptive_kl_coef
from ppo_ref.log_probs import log_probs_and_entropy, token_entropy, token_log_probs
from ppo_ref.losses import policy_loss, surrogate_objective, value_loss
from ppo_ref.masking import masked_mean
from ppo_ref.rewards import token_level_rewards, token_level_scores
from ppo_ref.rollout_correction import (
    accepted_sequences,
    accepted_tokens,
    sequence_weights,
    token_weights,
)
from ppo_ref.trace import trace
from ppo_ref.training.experience import collect_experience
from ppo_ref.training.networks import actor_statistics
from tests.calls import IDS, MASK, REWARDED, SAMPLED, VALID, X
from tests.river import at, having, tensors_in
from tests.test_docstrings import FUNCTIONS, KERNELS

# By keyword, by position, from a named tuple.
THREE = (gae, token_log_probs, actor_statistics)
ARGUMENTS = [
    pytest.param(function, VALID[function], name, id=f"{function.__name__}-{name}")
    for function in THREE
    for name in tensors_in(VALID[function])
]
KINDS = {
    torch.float32: ("a floating-point tensor", "float()"),
    torch.bool: ("a bool tensor (True = the token counts)", "bool()"),
    torch.int64: ("an int32 or int64 tensor (ids)", "long()"),
}


def refused(error: type[Exception], function: Any, inputs: Any, text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        function(**inputs)


def refused_at(
    error: type[Exception], function: Any, name: str, value: Any, text: str
) -> None:
    inputs = {**VALID[function], name: value}
    refused(error, function, inputs, f"{function.__name__}: {name} {text}")


@pytest.mark.parametrize("function", VALID, ids=lambda function: function.__name__)
def test_the_call_that_the_refusals_start_from_is_accepted(function):
    function(**VALID[function])


@pytest.mark.parametrize(("function", "inputs", "name"), ARGUMENTS)
def test_a_tensor_of_another_kind(function, inputs, name):
    kind, remedy = KINDS[at(inputs, name).dtype]
    start = f"{function.__name__}: {name} must be {kind}"
    for dtype in {*KINDS, torch.complex64} - {at(inputs, name).dtype}:
        came = str(dtype).removeprefix("torch.")
        write = "" if dtype.is_complex else f"; write {name}.{remedy}"
        wrong = having(inputs, name, at(inputs, name).to(dtype))
        refused(TypeError, function, wrong, f"{start}, got {came}{write}")
    listed = having(inputs, name, at(inputs, name).tolist())
    text = f"{start}, got list; write torch.as_tensor({name})"
    refused(TypeError, function, listed, text)
    for value in (0.5, None, [[1], [2, 3]]):
        with pytest.raises(TypeError) as refusal:
            function(**having(inputs, name, value))
        came = re.escape(f"{type(value).__name__} {value}")
        pattern = rf"{re.escape(start)} of shape \[batch.*\], got {came}"
        assert re.fullmatch(pattern, str(refusal.value))


@pytest.mark.parametrize(("function", "inputs", "name"), ARGUMENTS)
def test_a_tensor_of_another_shape(function, inputs, name):
    lone = at(inputs, name).flatten()[0]
    start = re.escape(f"{function.__name__}: {name}")
    with pytest.raises(TypeError) as refusal:
        function(**having(inputs, name, lone))
    pattern = rf"{start} must have .*ax[ei]s \[.*\], got 0 axes \[\]"
    assert re.fullmatch(pattern, str(refusal.value))
    with pytest.raises(TypeError) as refusal:
        function(**having(inputs, name, at(inputs, name)[:1]))
    assert re.fullmatch(
        rf"{function.__name__}: [\w.]+ must have "
        r"(shape \[batch.*\] = \[[124].*\] like [\w.]+, got \[[124].*\]"
        r"|batch [124] like [\w.]+, got [124])",
        str(refusal.value),
    )


@pytest.mark.parametrize(("function", "inputs", "name"), ARGUMENTS)
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


def test_tensors_on_three_devices():
    @checked
    def three(*, x: Tokens, y: Tokens, z: Tokens) -> Tokens:
        return x

    with FakeTensorMode():
        x, y, z = (torch.empty(1, 2, device=name) for name in ("cpu", "meta", "cuda"))
        text = "three: y is on meta but x is on cpu; move both to one device"
        refused(ValueError, three, {"x": x, "y": y, "z": z}, text)


def test_a_result_of_the_wrong_shape_is_left_to_the_judge():
    @checked
    def broken(x: Tokens) -> Scalar:
        return x

    with pytest.raises(TypeCheckError, match="return value"):
        broken(X)


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
    text = f"gae: got unexpected arguments eos_mask, lam; {takes}"
    refused(TypeError, gae, {**misnamed, "lam": 0.95}, text)


def test_int32_ids_and_ints_for_floats_pass():
    logits, ids = torch.tensor([[[0.0, 1.0]]]), torch.tensor([[1]])
    assert torch.equal(token_log_probs(logits, ids.int()), token_log_probs(logits, ids))
    gae(**REWARDED, gamma=1, gae_lambda=0)
    policy_loss(**SAMPLED, clip_range=(0, 1), dual_clip=3)


def is_checked(function: Any) -> bool:
    """Whether ``checked`` is among its decorators."""
    while function is not None:
        if function.__code__.co_qualname == "checked.<locals>.face":
            return True
        function = getattr(function, "__wrapped__", None)
    return False


def takes_tensors(function: Any) -> bool:
    annotations = inspect.get_annotations(inspect.unwrap(function)).values()
    members = [m for a in annotations for m in (a, *get_args(a))]
    arrays = [m for m in members if inspect.isclass(m) and issubclass(m, AbstractArray)]
    return bool(arrays) or Tensor in members


def named_in_shapes(function: Any) -> bool:
    """Whether every annotation of a tensor is one that ``contracts.shapes`` names."""
    named = [value for name, value in vars(shapes).items() if name != "Tensor"]
    known = [member for value in named for member in (value, *get_args(value))]
    annotations = inspect.get_annotations(inspect.unwrap(function)).values()
    members = [m for a in annotations for m in (a, *get_args(a))]
    tensors = [
        m
        for m in members
        if m is Tensor or (inspect.isclass(m) and issubclass(m, AbstractArray))
    ]
    return all(any(tensor is one for one in known) for tensor in tensors)


def test_every_public_function_of_the_river_is_checked_by_named_shapes():
    river = {
        name: function
        for name, function in FUNCTIONS.items()
        if name.count(".") == 1 and takes_tensors(function) and name not in KERNELS
    }
    assert len(river) > 40
    assert [name for name, function in river.items() if not is_checked(function)] == []
    assert [n for n, function in river.items() if not named_in_shapes(function)] == []
    assert not is_checked(discounted_residuals)  # wrapped by torch.no_grad alone
    assert is_checked(collect_experience)  # by both
    assert not named_in_shapes(discounted_residuals)


# A head has neither rows nor slots; values are judged where they have been shifted to.
NOT_BY_SLOT = {"head_weight", "head_bias", "sequence_values"}
# Whose name stands in a refusal of what another hands on.
JUDGES = {"trace": "td_residuals", "whitened_gae": "gae"}


@pytest.mark.parametrize(
    "function",
    [f for f, inputs in VALID.items() if "response_mask" in inputs],
    ids=lambda function: function.__name__,
)
def test_what_is_not_finite_inside_the_mask(function):
    inputs, name_of = VALID[function], function.__name__
    for name, tensor in tensors_in(inputs).items():
        if not tensor.is_floating_point() or name in NOT_BY_SLOT:
            continue
        position = (1, 3, 2)[: tensor.ndim]
        dirty = tensor.clone()
        dirty[position] = torch.nan
        row = "in rows with a token"
        where = row if dirty.ndim == 1 else "where response_mask is True"
        text = f"{name} must be finite {where}, got nan at {list(position)}"
        text = f"{JUDGES.get(name_of, name_of)}: {text}"
        refused(ValueError, function, having(inputs, name, dirty), text)


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


NUMBER_WANTED = (
    "must return a number with gradient, a floating-point tensor of shape [], got"
)
LIKE_REWARDS = "must have shape [batch, time] = [2, 6] like token_level_rewards, got"
FLOAT, FLOATED = "must be float, got", "write float(gamma)"
PAIR = "must be float | tuple[float, float], got"
# The wordings of ``checked``, each once.
TYPES = {
    (gae, "values"): [
        (X[..., None], "must have 2 axes [batch, time], got 3 axes [2, 6, 1]"),
        (X.T, f"{LIKE_REWARDS} [6, 2]"),
        (X[:1], f"{LIKE_REWARDS} [1, 6]"),
    ],
    (gae, "bootstrap_values"): [
        (X[0, :3], "must have batch 2 like token_level_rewards, got 3"),
        (
            np.float32(1),
            "must be a floating-point tensor of shape [batch], got float32 "
            "np.float32(1.0)",
        ),
        (
            np.ones(2),
            "must be a floating-point tensor, got ndarray; "
            "write torch.as_tensor(bootstrap_values)",
        ),
    ],
    (gae, "gamma"): [
        ("0.9", f"{FLOAT} str '0.9'"),
        (torch.tensor(1), f"{FLOAT} Tensor tensor(1); {FLOATED}"),
        (np.float32(0.5), f"{FLOAT} float32 np.float32(0.5); {FLOATED}"),
        (torch.ones(2), f"{FLOAT} Tensor tensor([1., 1.])"),
        (torch.tensor(True), f"{FLOAT} Tensor tensor(True)"),
        (True, f"{FLOAT} bool True"),
    ],
    (grpo, "groups"): [
        (torch.zeros(3).long(), "must have batch 2 like token_level_rewards, got 3")
    ],
    (trace, "row"): [
        (True, "must be int, got bool True"),
        (0.0, "must be int, got float 0.0"),
        (torch.tensor(1), "must be int, got Tensor tensor(1); write int(row)"),
    ],
    (policy_loss, "clip_range"): [
        ([0.1, 0.2], f"{PAIR} list [0.1, 0.2]"),
        ((True, 0.2), f"{PAIR} tuple (True, 0.2)"),
    ],
    (policy_loss, "dual_clip"): [(True, "must be float | None, got bool True")],
    (policy_loss, "aggregate"): [
        (
            "token-mean",
            "must be a function such as ppo_ref.aggregation.token_mean, "
            "got str 'token-mean'",
        )
    ],
    (token_log_probs, "responses"): [
        (IDS[:, 1:], "must have time 6 like logits, got 5"),
        (
            IDS.to(torch.uint8),
            "must be an int32 or int64 tensor (ids), got uint8; write responses.long()",
        ),
    ],
    (response_outputs, "outputs"): [
        (X[0], "must have at least 2 axes [batch, sequence, *features], got 1 axis [6]")
    ],
    (loss_from_hidden, "head_weight"): [
        (torch.ones(5, 4), "must have width 3 like hidden, got 4"),
    ],
    (loss_from_hidden, "head_bias"): [
        (X[0], "must have vocab 5 like head_weight, got 6")
    ],
    (loss_from_hidden, "hidden"): [
        (
            torch.ones(2, 6, 3, dtype=torch.float16),
            "must be bfloat16, float32 or float64, got float16, whose gradient would "
            "be lost before the loss can be scaled; use "
            "log_probs_and_entropy_from_hidden",
        )
    ],
    (loss_from_hidden, "loss"): [
        (
            0.5,
            "must be a function of TokenStatistics and a slice of rows, to one number, "
            "got float 0.5",
        )
    ],
}
NO_TOKEN, ONE_TOKEN = torch.zeros_like(MASK), torch.zeros_like(MASK)
ONE_TOKEN[0, 2] = True
OUTSIDE = [
    (1.5, "must lie in [0, 1], got 1.5"),
    (-1, "must lie in [0, 1], got -1"),
    (torch.nan, "must lie in [0, 1], got nan"),
]
NOT_ABOVE_0 = [(x, f"must be greater than 0, got {x}") for x in (0, -1.0, torch.nan)]
AT_LEAST_0 = [(-0.1, "must be at least 0, got -0.1")]
AT_LEAST_1 = [(0, "must be at least 1, got 0")]
CLIP = "must lie in [0, 1) and [0, inf), got"
COMPANY = "must hold at least 2 rows each, got 1 row of group"
SHORTER = "must be at least 1 and less than the sequence length 9, got"
IN_VOCAB = [
    (IDS + 1, "must lie in [0, 5), got 5 at [0, 4]"),
    (IDS - 100, "must lie in [0, 5), got -100 at [0, 0]"),
]
EVERY_ROW = [(ONE_TOKEN, "must count a token in every row, got none in row 1")]
# What each function asks of its values beyond type and shape.
VALUES = {
    (gae, "gamma"): OUTSIDE,
    (gae, "gae_lambda"): OUTSIDE,
    (td_residuals, "gamma"): OUTSIDE,
    (monte_carlo_returns, "gamma"): OUTSIDE,
    (n_step_advantages, "gamma"): OUTSIDE,
    (reinforce_plus_plus, "gamma"): OUTSIDE,
    (n_step_advantages, "steps"): AT_LEAST_1,
    **{
        (function, "response_mask"): [
            (NO_TOKEN, "must count at least 1 token, got 0"),
        ]
        for function in (
            *(masking.masked_mean, aggregation.token_mean),
            aggregation.sequence_mean_token_mean,
            aggregation.sequence_mean_token_sum,
            *(policy_loss, surrogate_objective, value_loss, loss_from_hidden),
            *(explained_variance, effective_sample_size),
            *(ratio_statistics, rollout_mismatch),
        )
    },
    **{
        (function, "response_mask"): [
            (NO_TOKEN, "must count at least 2 tokens, got 0"),
            (ONE_TOKEN, "must count at least 2 tokens, got 1"),
        ]
        for function in (masking.masked_variance, masking.masked_whiten)
    },
    (token_level_scores, "response_mask"): EVERY_ROW,
    **{
        (function, name): refusals
        for function in (grpo, dr_grpo, rloo, reinforce_plus_plus_baseline)
        for name, refusals in (
            (
                "groups",
                [
                    (
                        torch.tensor([7, -3]),
                        f"{COMPANY} -3, which has nothing to be compared with",
                    )
                ],
            ),
            ("response_mask", EVERY_ROW),
        )
    },
    (grpo, "epsilon"): NOT_ABOVE_0,
    (adaptive_kl_coef, "kl_coef"): AT_LEAST_0,
    (adaptive_kl_coef, "kl"): [(torch.nan, "must be finite, got nan")],
    (adaptive_kl_coef, "target"): NOT_ABOVE_0,
    (adaptive_kl_coef, "horizon"): NOT_ABOVE_0,
    (adaptive_kl_coef, "steps"): [
        *AT_LEAST_1,
        (50000, "must be below 5 times the horizon, 50000, got 50000"),
    ],
    (policy_loss, "clip_range"): [
        (1, f"{CLIP} (1, 1)"),
        (-0.1, f"{CLIP} (-0.1, -0.1)"),
        ((0.2, -0.1), f"{CLIP} (0.2, -0.1)"),
    ],
    (policy_loss, "dual_clip"): [(1.0, "must be greater than 1, got 1.0")],
    (effective_sample_size, "weights"): [
        (X, "must be at least 0, got -1.0 at [0, 0]"),
    ],
    (token_weights, "cap"): NOT_ABOVE_0,
    (sequence_weights, "cap"): NOT_ABOVE_0,
    **{
        (function, "bounds"): [
            (bounds, f"must rise from at least 0, got {bounds}")
            for bounds in ((2.0, 0.5), (-1, 2.0), (0.5, torch.nan))
        ]
        for function in (accepted_tokens, accepted_sequences)
    },
    (value_loss, "value_clip_range"): AT_LEAST_0,
    (token_level_rewards, "kl_coef"): AT_LEAST_0,
    **{
        (function, "responses"): IN_VOCAB
        for function in (token_log_probs, log_probs_and_entropy, loss_from_hidden)
    },
    (log_probs_and_entropy_from_hidden, "responses"): IN_VOCAB,
    **{
        (function, "temperature"): NOT_ABOVE_0
        for function in (
            *(token_log_probs, token_entropy, log_probs_and_entropy),
            *(log_probs_and_entropy_from_hidden, loss_from_hidden),
        )
    },
    (log_probs_and_entropy_from_hidden, "chunk_tokens"): AT_LEAST_1,
    (loss_from_hidden, "chunk_rows"): AT_LEAST_1,
    (trace, "row"): [(row, f"must lie in [0, 2), got {row}") for row in (2, -1)],
    (response_mask, "responses"): [
        (IDS[:, :0], "must have at least 1 slot per row, got 0")
    ],
    (response_outputs, "response_length"): [
        (length, f"{SHORTER} {length}") for length in (0, 9, 10)
    ],
}


def each(table: dict[Any, list[tuple[Any, str]]]) -> list[Any]:
    return [
        pytest.param(function, name, refusals, id=f"{function.__name__}-{name}")
        for (function, name), refusals in table.items()
    ]


@pytest.mark.parametrize(
    ("loss", "came", "alone"),
    [
        (lambda said, rows: 0.5, "float 0.5", ""),
        (lambda said, rows: None, "NoneType None", ""),
        (lambda said, rows: said.log_probs, "float32 of shape [1, 6]", ""),
        (lambda said, rows: said.entropy.sum() * 1j, "complex64 of shape []", ""),
        (
            lambda said, rows: rows.stop * IDS.sum(),
            "int64 of shape []",
            " without gradient",
        ),
        (lambda said, rows: X, "float32 of shape [2, 6]", " without gradient"),
    ],
)
def test_a_loss_that_is_no_number(loss, came, alone):
    inputs = VALID[loss_from_hidden]
    learning = {**inputs, "hidden": inputs["hidden"].clone().requires_grad_()}
    for given, more in ((learning, alone), (inputs, "")):
        with pytest.raises(TypeError) as refusal:
            loss_from_hidden(**{**given, "loss": loss})
        assert str(refusal.value) == (
            f"loss_from_hidden: loss {NUMBER_WANTED} {came}{more}"
        )


def test_a_loss_without_the_gradient_that_is_asked_for():
    inputs = VALID[loss_from_hidden]
    given = {**inputs, "loss": lambda said, rows: said.log_probs.detach().sum()}
    assert loss_from_hidden(**given).loss.ndim == 0
    with pytest.raises(TypeError) as refusal:
        loss_from_hidden(
            **{**given, "hidden": inputs["hidden"].clone().requires_grad_()}
        )
    assert str(refusal.value) == (
        f"loss_from_hidden: loss {NUMBER_WANTED} float32 of shape [] without gradient"
    )


@pytest.mark.parametrize("shape", [(0, 6), (2, 0)])
def test_a_loss_of_no_token(shape):
    empty = {
        "hidden": torch.empty(*shape, 3),
        "responses": torch.empty(shape).long(),
        "response_mask": torch.empty(shape).bool(),
    }
    with pytest.raises(ValueError) as refusal:
        loss_from_hidden(**{**VALID[loss_from_hidden], **empty})
    assert str(refusal.value) == (
        "loss_from_hidden: response_mask must count at least 1 token, got 0"
    )


@pytest.mark.parametrize(("function", "name", "refusals"), each(TYPES))
def test_type_and_shape(function, name, refusals):
    for value, text in refusals:
        refused_at(TypeError, function, name, value, text)


@pytest.mark.parametrize(("function", "name", "refusals"), each(VALUES))
def test_value(function, name, refusals):
    for value, text in refusals:
        refused_at(ValueError, function, name, value, text)
