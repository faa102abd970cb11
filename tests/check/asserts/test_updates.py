"""Around an update: targets that move, gradients that hang on a split, lost steps."""

import pytest
import torch
from torch import Tensor

from ppo_ref.check.asserts.targets import assert_targets_fixed
from ppo_ref.check.asserts.updates import assert_optimizer_steps, assert_same_gradient
from tests.check.asserts.models import (
    DTYPES,
    VOCAB,
    Network,
    fault,
    generator,
    sequences,
    told,
)


def batch() -> dict[str, Tensor]:
    x = torch.tensor([[1.0, 0.5, -0.5]])
    return {"returns": x + 1, "advantages": x, "values": x * 0, "old_log_probs": -x}


class Rows(dict):
    """Like a TensorDict: it iterates over rows, and knows its names by keys()."""

    def __iter__(self):
        raise TypeError("rows")

    def __contains__(self, name):
        raise NotImplementedError


def test_an_update_that_only_reads_passes():
    kept = batch()
    with assert_targets_fixed(kept):
        kept["metrics"] = kept["advantages"].mean()
    with assert_targets_fixed(Rows(kept)):
        pass


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("returns", "computed again from the critic in training"),
        ("advantages", "computed or whitened again in place"),
        ("values", "overwritten by the critic in training"),
        ("old_log_probs", "overwritten by the actor in training"),
    ],
)
def test_a_target_that_moves_is_named(name, text):
    for change in (lambda x: x.add_(0.25), None):
        kept = batch()
        with pytest.raises(AssertionError) as error, assert_targets_fixed(kept):
            if change:
                change(kept[name])
            else:
                kept[name] = kept[name] + 0.25
        assert told(error).startswith(f"{name}[0, 0] was ") and text in told(error)


def test_a_target_that_creeps_is_named():
    """By the next number that its dtype knows."""
    kept = batch()
    with (
        pytest.raises(AssertionError, match="returns"),
        assert_targets_fixed(kept),
    ):
        kept["returns"] = torch.nextafter(kept["returns"], torch.tensor(9.0))


def test_a_target_with_gradient_is_named():
    kept = batch()
    values = torch.zeros(1, 3, requires_grad=True)
    with (
        pytest.raises(AssertionError, match="returns requires gradient"),
        assert_targets_fixed({**kept, "returns": kept["returns"] + values}),
    ):
        raise RuntimeError("not reached")


def test_a_target_that_is_given_a_gradient_by_the_update_is_named():
    kept = batch()
    with (
        pytest.raises(AssertionError, match="values requires gradient"),
        assert_targets_fixed(kept),
    ):
        kept["values"].requires_grad_()


def test_a_target_that_is_cut_is_named():
    kept = batch()
    with pytest.raises(AssertionError) as error, assert_targets_fixed(kept):
        kept["values"] = kept["values"][:, :2]
    assert told(error).startswith("values had shape [1, 3] and has [1, 2]: ")


def test_a_nan_in_padding_that_stays_is_no_change():
    kept = batch()
    kept["values"][0, 2] = torch.nan
    with assert_targets_fixed(kept):
        pass


def test_a_batch_without_returns_is_refused():
    text = "assert_targets_fixed: batch must hold returns, has values"
    with (
        pytest.raises(ValueError, match=text),
        assert_targets_fixed({"values": torch.ones(1)}),
    ):
        pass


MASK = torch.arange(6) < torch.tensor([6, 2, 4, 1])[:, None]


def losses(model: torch.nn.Module) -> Tensor:
    ids = torch.cat([sequences(1), sequences(2)])
    return model(ids)[:, 2:-1, 0].square()


def by_micro_batches(model, loss_of):
    """Backward over micro-batches, each with this loss of its tokens and its size."""

    def backward(size: int) -> None:
        for start in range(0, 4, size):
            rows = slice(start, start + size)
            tokens = losses(model)[rows][MASK[rows]]
            loss_of(tokens, size).backward()

    return backward


def whole(model):
    return by_micro_batches(model, lambda tokens, size: tokens.sum() / MASK.sum())


def means(model):
    return by_micro_batches(model, lambda tokens, size: tokens.mean() * size / 4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(4, 1), (2, 3)])
def test_a_gradient_over_all_tokens_hangs_on_no_split(dtype, sizes):
    model = Network(1, dtype)
    assert_same_gradient(model, whole(model), sizes)


def test_a_mean_of_means_is_named():
    model = Network(1, torch.float32)
    assert fault(assert_same_gradient, model, means(model), (4, 1)).endswith(
        "each micro-batch divides by its own tokens; divide all by the tokens of the "
        "mini-batch"
    )


def test_a_gradient_a_thousandth_off_is_named():
    model = Network(1, torch.float32)

    def backward(size: int) -> None:
        (losses(model)[MASK].mean() * (1 + size / 1000)).backward()

    text = fault(assert_same_gradient, model, backward, (1, 2))
    assert text.startswith("the gradient at micro-batches of 2 is 1.00 times that of 1")


def test_the_model_is_left_as_it_was():
    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1))
    x = torch.randn(64, 1, generator=generator(0))  # dropout never takes all of them
    model[0].weight.grad = torch.tensor([[7.0]])
    kept = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()

    def backward(size: int) -> None:
        torch.nn.functional.dropout(model(x)).square().sum().backward()

    assert_same_gradient(model, backward, (4, 1))  # dropout falls alike both times
    assert model[0].weight.grad == 7 and model[0].bias.grad is None
    assert torch.equal(torch.get_rng_state(), random) and model.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, kept[name])


def test_what_is_passed_wrongly_is_refused():
    model = Network(VOCAB, torch.float32)
    with pytest.raises(ValueError, match="must leave a gradient in the model's"):
        assert_same_gradient(model, lambda size: None, (4, 1))
    with pytest.raises(ValueError, match="must be unequal, got 4 twice"):
        assert_same_gradient(model, lambda size: None, (4, 4))
    linear = torch.nn.Linear(1, 1)
    sgd = torch.optim.SGD(linear.parameters(), lr=0.1)

    def stepping(size: int) -> None:
        linear(torch.ones(1, 1)).sum().backward()
        sgd.step()

    with pytest.raises(ValueError, match="backward must leave the parameters alone"):
        assert_same_gradient(linear, stepping, (2, 1))


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)


SIZES = {"batch_size": 8, "mini_batch_size": 4}


@pytest.mark.parametrize(
    ("count", "epochs", "text"),
    [
        (0, 1, "0 times instead of 2 (1 epoch x 2 mini-batches): another optimizer"),
        (3, 3, "3 times instead of 6 (3 epochs x 2 mini-batches): it steps once per e"),
        (2, 3, "2 times instead of 6 (3 epochs x 2 mini-batches): the number of epoch"),
        (8, 2, "8 times instead of 4 (2 epochs x 2 mini-batches): it steps once per m"),
        (5, 2, "5 times instead of 4 (2 epochs x 2 mini-batches): a mini-batch is ski"),
    ],
)
def test_steps_that_are_too_few_or_too_many_are_named(count, epochs, text):
    sgd = optimizer()
    with (
        pytest.raises(AssertionError) as error,
        assert_optimizer_steps(sgd, **SIZES, epochs=epochs),
    ):
        for _ in range(count):
            sgd.step()
    assert told(error).startswith(f"the optimizer stepped {text}")


def test_the_right_number_of_steps_passes_and_nothing_stays_behind():
    sgd = optimizer()
    with assert_optimizer_steps(sgd, **SIZES, epochs=2):
        for _ in range(4):
            sgd.step()
    with assert_optimizer_steps(sgd, batch_size=9, mini_batch_size=4):
        for _ in range(3):  # the last one is smaller
            sgd.step()
    assert not sgd._optimizer_step_post_hooks
    with pytest.raises(KeyError), assert_optimizer_steps(sgd, **SIZES):
        raise KeyError("the update's own error")
    assert not sgd._optimizer_step_post_hooks
