"""The default of every argument that a reader may leave out, and where it is from."""

import inspect
import math
from typing import Any, NamedTuple

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.aggregation import sequence_mean_token_mean, token_mean
from tests.calls import VALID, X
from tests.differential import wheels
from tests.test_docstrings import FUNCTIONS, has_contract

VERL, TRL = "verl 0.9.1", "TRL 1.16.0"
YAML = "verl/trainer/config/ppo_trainer.yaml"
ALGORITHM = "verl/trainer/config/algorithm.py"
ACTOR = "verl/workers/config/actor.py"
SAMPLING = "verl/workers/config/rollout.py"
LOSSES = "verl/trainer/ppo/core_algos.py"
TOKEN_MEAN = (VERL, LOSSES, 'loss_agg_mode: str = "token-mean"')
ROW_MEAN = (VERL, LOSSES, 'loss_agg_mode: str = "seq-mean-token-mean"')
NO_RECIPE = "nothing that a paper or a trainer sets: "


class Default(NamedTuple):
    """Its value, and its source: a paper, a line of a release, or the reason.

    ``means`` is another value that must give the same: what leaving it out stands for.
    """

    value: Any
    source: str | tuple[str, str, str]
    means: Any = None


# An argument of a name, in whichever function.
BY_NAME = {
    "gamma": Default(1.0, (VERL, YAML, "gamma: 1.0")),
    "gae_lambda": Default(1.0, (VERL, YAML, "lam: 1.0")),
    "bootstrap_values": Default(
        None, (VERL, LOSSES, "nextvalues = 0"), torch.zeros(len(X))
    ),
    "temperature": Default(1.0, (VERL, SAMPLING, "temperature: float = 1.0")),
    "rollouts": Default(
        None, NO_RECIPE + "each row is a rollout", torch.arange(len(X))
    ),
    "device": Default("cpu", NO_RECIPE + "every machine has one"),
    "probes": Default(8, NO_RECIPE + "positions that are tried, for time"),
}
TOLERANCE = Default(None, NO_RECIPE + "the rounding of the dtype")
EXACT = Default(0.0, NO_RECIPE + "what cannot be seen moves nothing")
OWN = {
    "log_probs.kept_tokens": {
        "top_p": Default(1.0, (VERL, SAMPLING, "top_p: float = 1.0")),
        "top_k": Default(0, (VERL, SAMPLING, "top_k: int = -1"), means=5),
    },
    "chunked.log_probs_and_entropy_from_hidden": {
        "chunk_tokens": Default(64, NO_RECIPE + "memory against time", means=5),
    },
    "chunked.loss_from_hidden": {
        "chunk_rows": Default(1, NO_RECIPE + "memory against time", means=2),
    },
    "group_advantages.grpo": {
        "epsilon": Default(1e-6, (VERL, LOSSES, "epsilon: float = 1e-6")),
    },
    "losses.surrogate_objective": {"aggregate": Default(token_mean, TOKEN_MEAN)},
    "losses.policy_loss": {
        "clip_range": Default(
            0.2, (VERL, ACTOR, "clip_ratio: float = 0.2"), (0.2, 0.2)
        ),
        "dual_clip": Default(None, "arXiv:1707.06347v2, equation 7", math.inf),
        "rollout_weights": Default(
            None,
            (VERL, LOSSES, "rollout_is_weights: torch.Tensor | None = None"),
            X * 0 + 1,
        ),
        "aggregate": Default(token_mean, TOKEN_MEAN),
    },
    "losses.value_loss": {"aggregate": Default(token_mean, TOKEN_MEAN)},
    "clip_variants.gspo_loss": {
        "clip_range": Default((3e-4, 4e-4), "arXiv:2507.18071v2, at equation 5"),
        "aggregate": Default(sequence_mean_token_mean, ROW_MEAN),
    },
    "clip_variants.gmpo_loss": {
        "clip_range": Default(
            0.4,
            (TRL, "trl/experimental/gmpo/gmpo_config.py", "default=0.4,"),
            (0.4, 0.4),
        ),
        "aggregate": Default(
            sequence_mean_token_mean, (VERL, LOSSES, "pg_loss = torch.mean(pg_losses)")
        ),
    },
    "clip_variants.cispo_loss": {
        "bounds": Default(
            (0.0, 5.0),
            (TRL, "trl/trainer/grpo_config.py", "the recommended value is `5.0`."),
        ),
        "aggregate": Default(token_mean, TOKEN_MEAN),
    },
    "clip_variants.sapo_loss": {
        "temperatures": Default(
            (1.0, 1.05),
            (VERL, ACTOR, "tau_pos: float = 1.0\n    tau_neg: float = 1.05"),
        ),
        "aggregate": Default(sequence_mean_token_mean, ROW_MEAN),
    },
    "rollout_correction.token_weights": {
        "cap": Default(
            2.0, (VERL, ALGORITHM, "rollout_is_threshold: str | float = 2.0")
        ),
    },
    "rollout_correction.accepted_tokens": {
        "bounds": Default((0.5, 2.0), (VERL, ALGORITHM, '= "0.5_2.0"')),
    },
    "examples.world": {"critic": Default(None, NO_RECIPE + "its own errors alone")},
    "trace.trace": {"row": Default(0, NO_RECIPE + "the first")},
    "train.rollout.sample_responses": {
        "generator": Default(None, NO_RECIPE + "draws of torch's own generator"),
    },
    "check.asserts.packing.assert_packed_equals_alone": {"tolerance": TOLERANCE},
    "check.asserts.slices.assert_values_before_tokens": {"tolerance": EXACT},
    "check.asserts.slices.assert_log_probs_of_tokens": {
        "tolerance": EXACT,
        "vocab_size": Default(None, NO_RECIPE + "the model's own"),
    },
    "check.asserts.step_zero.assert_kl_zero": {"tolerance": TOLERANCE},
    "check.asserts.step_zero.assert_ratio_one": {"tolerance": TOLERANCE},
    "check.asserts.updates.assert_same_gradient": {"tolerance": TOLERANCE},
    "check.asserts.updates.assert_optimizer_steps": {
        "epochs": Default(1, (VERL, ACTOR, "ppo_epochs: int = 1")),
    },
}
FOUND = {
    (name, argument.name): argument.default
    for name, function in FUNCTIONS.items()
    if has_contract(name)
    for argument in inspect.signature(function).parameters.values()
    if argument.default is not argument.empty
}


ROWS = {
    (name, argument): row
    for name, argument in FOUND
    if (row := OWN.get(name, {}).get(argument) or BY_NAME.get(argument))
}


def test_every_default_has_a_row_and_every_row_a_default():
    assert [".".join(key) for key in FOUND.keys() - ROWS.keys()] == []
    own = {(name, argument) for name, rows in OWN.items() for argument in rows}
    assert [".".join(key) for key in own - FOUND.keys()] == []
    assert BY_NAME.keys() <= {argument for _, argument in FOUND}


@pytest.mark.parametrize(("name", "argument"), ROWS)
def test_a_default_is_that_of_its_source(name, argument):
    assert FOUND[name, argument] == ROWS[name, argument].value


LINES = sorted({row.source for row in ROWS.values() if isinstance(row.source, tuple)})


@wheels.requires(VERL, TRL)
@pytest.mark.parametrize(("release", "path", "line"), LINES)
def test_the_line_stands_in_the_release(release, path, line):
    assert line in wheels.source(release, path)


LEFT_OUT = [
    (FUNCTIONS[name], argument, row.means)
    for (name, argument), row in ROWS.items()
    if FUNCTIONS[name] in VALID and row.means is not None
]


@pytest.mark.parametrize(("function", "argument", "means"), LEFT_OUT)
def test_leaving_it_out_is_what_it_stands_for(function, argument, means):
    given = VALID[function]
    if "old_log_probs" in given:  # else no token would be clipped
        given = given | {"old_log_probs": X.flip(1)}
    found, said = function(**given), function(**given, **{argument: means})
    if isinstance(found, str):
        assert found == said
    else:
        assert_close(found, said)
