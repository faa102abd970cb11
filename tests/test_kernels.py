"""What kernels cost: few operations, no logits or one tensor of them, one graph."""

import shutil
from functools import partial

import pytest
import torch
from torch.nn.functional import linear
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from bench.memory import peak_bytes
from ppo_ref import loops
from ppo_ref.advantages import gae
from ppo_ref.batch import TokenStatistics
from ppo_ref.chunked import log_probs_and_entropy_from_hidden, loss_from_hidden
from ppo_ref.kernels import scan
from ppo_ref.kernels.scan import discounted_residuals
from ppo_ref.log_probs import log_probs_and_entropy
from ppo_ref.losses import policy_loss, value_loss
from tests.strategies import numbers

VIEWS = {"slice", "select", "view", "unsqueeze", "expand", "alias", "detach"}


class Launches(TorchDispatchMode):
    """Counts what is more than another look at the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name not in VIEWS and not name.startswith("empty"):
            self.names.append(name)
        return function(*args, **kwargs or {})


def launches(function, time: int, discount: float = 1.0) -> list[str]:
    # On the meta device there is nothing to wait for: who asks for a number fails.
    rewards, values = torch.zeros(2, 2, time, device="meta")
    given = rewards, values, values.bool(), None, 1.0, discount
    with Launches() as counted:
        function(*given)
    return counted.names


@pytest.mark.parametrize("power", [3, 10, 17])
def test_two_launches_a_doubling(power):
    """A copy and an addition each; the rest does not depend on the length."""
    fixed = len(launches(discounted_residuals, 1))
    assert len(launches(discounted_residuals, 2**power)) == fixed + 2 * power
    assert fixed <= 16


def test_doubling_ends_where_weights_vanish():
    long, longer = (
        len(launches(discounted_residuals, 2**power, 0.95)) for power in (11, 17)
    )
    assert long == longer


def test_the_checks_wait_once():
    rewards, values = numbers(0, 2, 2, 64).float()
    mask = torch.ones(2, 64, dtype=torch.bool)
    with Launches() as kernel:
        discounted_residuals(rewards, values, mask, None, 1.0, 1.0)
    with Launches() as counted:
        gae(token_level_rewards=rewards, values=values, response_mask=mask)
    waits = [seen.names.count("_local_scalar_dense") for seen in (counted, kernel)]
    assert waits[0] - waits[1] == 1


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_blocks_of_rows_are_rows(monkeypatch, bootstrap, dtype):
    rewards, values, noise = numbers(0, 3, 7, 5).to(dtype)
    ends = values[:, 0] if bootstrap else None
    given = rewards, values, noise > -0.5, ends, 0.9, 0.8
    whole = scan.discounted_residuals(*given)
    for slots in (1, 5, 10, 34):
        monkeypatch.setattr(scan, "BLOCK", slots)
        blocks = scan.discounted_residuals(*given)
        assert blocks.dtype == torch.float32
        assert torch.equal(blocks, whole)


LENGTH = scan.ONE_TRIANGLE + 3
MASKS = {
    "every slot": torch.ones(3, LENGTH, dtype=torch.bool),
    "padding": torch.arange(LENGTH) < torch.tensor([[0], [1], [LENGTH - 40]]),
    "gaps": numbers(3, 3, LENGTH) > 0,
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("discount", [0.0, 1e-20, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("one", [4, scan.ONE_TRIANGLE, LENGTH])
def test_chunks_sum_what_a_loop_sums(monkeypatch, mask, discount, bootstrap, one):
    monkeypatch.setattr(scan, "ONE_TRIANGLE", one)
    rewards, values = numbers(0, 2, 3, LENGTH).masked_fill(~mask, torch.nan)
    ends = numbers(1, 3) if bootstrap else None
    of_row = partial(loops.gae, gamma=0.9, gae_lambda=discount / 0.9)
    sums = loops.over_rows(of_row, mask, rewards, values, bootstrap_values=ends)
    given = rewards, values, mask, ends, 0.9, discount
    assert_close(discounted_residuals(*given), sums, rtol=1e-13, atol=1e-13)
    short = [x.float() if x is not None and x is not mask else x for x in given[:4]]
    made = discounted_residuals(*short, 0.9, discount)
    assert_close(made.double(), sums, rtol=1e-5, atol=1e-5)


def test_a_product_of_less_than_float32_is_not_taken(monkeypatch):
    x = numbers(0, 1, LENGTH).float()
    for precision, products in (("highest", 2), ("high", 0)):
        monkeypatch.setattr(
            torch, "get_float32_matmul_precision", lambda named=precision: named
        )
        with Launches() as counted:
            scan.discounted_suffix_sum(x, 0.9)
        assert sum(name in ("mm", "mv", "bmm") for name in counted.names) == products


TOKENS, VOCAB, WIDTH = 1024, 16384, 8
LOGITS = 4 * TOKENS * VOCAB
HEAD = 4 * VOCAB * (WIDTH + 1)


@pytest.fixture(scope="module")
def network() -> tuple[torch.Tensor, ...]:
    shapes = (8, TOKENS // 8, WIDTH), (VOCAB, WIDTH), (VOCAB,)
    return tuple(torch.randn(shape).requires_grad_() for shape in shapes)


IDS = torch.arange(TOKENS).view(8, -1)


def gradients(statistics: TokenStatistics, *given: torch.Tensor) -> tuple:
    loss = statistics.log_probs.sum() - statistics.entropy.sum()
    return torch.autograd.grad(loss, given)


def test_from_hidden_states_an_eighth_of_the_logits_is_enough(network):
    def made():
        return log_probs_and_entropy_from_hidden(*network, IDS)

    assert peak_bytes(lambda: gradients(made(), *network)) - HEAD <= LOGITS / 8
    with torch.no_grad():
        assert peak_bytes(made) <= LOGITS / 8


def test_a_loss_in_chunks_holds_the_logits_of_one_row_of_eight(network):
    def in_chunks():
        def loss(said, rows):
            return said.log_probs.sum() - said.entropy.sum()

        every = torch.ones_like(IDS, dtype=torch.bool)
        made = loss_from_hidden(*network, IDS, every, loss, chunk_rows=1)
        return torch.autograd.grad(made.loss, network)

    def whole():
        return gradients(log_probs_and_entropy(linear(*network), IDS), *network)

    peak = peak_bytes(in_chunks)
    assert peak - HEAD <= LOGITS * 3 / 16  # a row's, and a block in work
    assert peak <= peak_bytes(whole) / 8


def test_logits_that_are_given_cost_their_gradient(network):
    with torch.no_grad():
        logits = linear(*network)
        assert peak_bytes(lambda: log_probs_and_entropy(logits, IDS)) <= LOGITS / 8
    logits.requires_grad_()
    peak = peak_bytes(lambda: gradients(log_probs_and_entropy(logits, IDS), logits))
    assert LOGITS <= peak <= LOGITS * 9 / 8


X, Y, Z = numbers(0, 3, 2, 5)
MASK = torch.tensor([[True, False, True, True, False], [True] * 5])
PAIRS = torch.tensor([[0, 1], [2, 0]])
SAMPLED = {"log_probs": X, "old_log_probs": Y, "advantages": Z, "response_mask": MASK}
VALUED = {"values": X, "old_values": Y, "returns": Z, "response_mask": MASK}
REWARDED = {"token_level_rewards": X, "values": Y, "response_mask": MASK}
COMPILED = {
    gae: {**REWARDED, "bootstrap_values": Z[:, 0], "gamma": 0.9, "gae_lambda": 0.8},
    policy_loss: {**SAMPLED, "clip_range": (0.2, 0.3), "dual_clip": 3.0},
    value_loss: {**VALUED, "value_clip_range": 0.5},
    log_probs_and_entropy: {
        "logits": numbers(1, 2, 2, 3),
        "responses": PAIRS,
        "temperature": 0.7,
    },
    log_probs_and_entropy_from_hidden: {
        "hidden": numbers(2, 2, 2, 4),
        "head_weight": numbers(3, 3, 4),
        "head_bias": numbers(4, 3),
        "responses": PAIRS,
        "temperature": 0.7,
        "chunk_tokens": 3,
    },
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # inductor's own
# torch's own: it makes one of each autograd function that it compiles.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated")
@pytest.mark.skipif(
    not shutil.which("c++"), reason="torch.compile needs a C++ compiler"
)
@pytest.mark.parametrize("function", COMPILED, ids=lambda function: function.__name__)
def test_a_function_compiles_with_its_checks(function):
    given = COMPILED[function]
    compiled = torch.compile(function, fullgraph=True)
    assert_close(compiled(**given), function(**given))
    # Kinds and shapes are refused while it is compiled.
    name = next(iter(given))
    with pytest.raises(Exception, match=f"{name} must be a floating-point tensor"):
        torch.compile(function, fullgraph=True)(**given | {name: given[name].long()})
