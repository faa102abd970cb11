"""The functions that one pastes, as they stand on the page, beside ppo_ref and verl."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref import advantages, aggregation, group_advantages, losses, masking
from ppo_ref.kl import kl_k1, kl_k2, kl_k3
from ppo_ref.log_probs import log_probs_and_entropy
from ppo_ref.rollout_correction import token_weights
from tests.differential import peers
from tests.differential.batches import generator
from tests.differential.peers import NOW
from tests.differential.wheels import requires

pytestmark = [requires(NOW), pytest.mark.pages]
SNIPPET = Path(__file__).parents[2] / "snippets" / "reference" / "paste.py"
SECTION = re.compile(r"\[start:(\w+)\]\n(.*?)# --8<-- \[end:\1\]", re.DOTALL)
NAMES = "masked_mean masked_whiten log_probs kl gae policy_loss value_loss"
SECTIONS = dict(SECTION.findall(SNIPPET.read_text("utf-8")))
PASTE: dict[str, Any] = {}
for section in (*NAMES.split(), "aggregate", "group", "weights"):
    assert len(SECTIONS[section].strip().split("\n")) - 2 <= 15  # the import apart
    exec(SECTIONS[section], PASTE)
GARBAGE = 1e30


class Batch:
    """Rows with gaps, at least two tokens in the first, garbage outside the mask."""

    def __init__(self, seed: int) -> None:
        self.source = generator(seed)
        self.rows, time = torch.randint(2, 9, (2,), generator=self.source).tolist()
        self.mask = torch.rand(self.rows, time, generator=self.source) < 0.7
        self.mask[:, 0] = True
        self.mask[0, 1] = True

    def normal(self, *shape: int, scale: float = 1.0) -> Tensor:
        return scale * torch.randn(shape, generator=self.source, dtype=torch.float64)

    def tokens(self, scale: float = 1.0) -> Tensor:
        x = self.normal(*self.mask.shape, scale=scale)
        return torch.where(self.mask, x, GARBAGE)

    def clean(self, x: Tensor) -> Tensor:
        """Without the garbage, which verl would read."""
        return torch.where(self.mask, x, 0)

    def one_of(self, *choices: Any) -> Any:
        return choices[torch.randint(len(choices), (), generator=self.source)]


# What a function gives and what it must give: by ppo_ref, or by verl; how near, where
# verl adds something to its divisors.
Pairs = Iterator[tuple[Any, ...]]


def means(batch: Batch) -> Pairs:
    x, mask, verl = batch.tokens(), batch.mask, peers.tensors(NOW)
    for name in "masked_mean", "masked_whiten":
        ours = PASTE[name](x, mask)
        yield ours, getattr(masking, name)(x, mask)
        theirs = getattr(verl, name)(batch.clean(x), mask.double())
        where = mask if ours.ndim else ...
        yield ours[where], theirs[where], 1e-6


def log_probs(batch: Batch) -> Pairs:
    verl, shape = peers.tensors(NOW), batch.mask.shape
    logits = batch.normal(*shape, 11, scale=4).float()
    ids = torch.randint(11, shape, generator=batch.source)
    temperature = batch.one_of(0.5, 1.0, 1.7)
    ours = PASTE["log_probs_entropy"](logits, ids, temperature)
    yield ours, tuple(log_probs_and_entropy(logits, ids, temperature))
    scaled = logits / temperature
    theirs = verl.logprobs_from_logits_naive(scaled, ids)
    yield ours, (theirs, verl.entropy_from_logits(scaled))


def estimates_of_kl(batch: Batch) -> Pairs:
    names = {"k1": (kl_k1, "kl"), "k2": (kl_k2, "mse"), "k3": (kl_k3, "low_var_kl")}
    x, y = (batch.clean(batch.tokens()) for _ in range(2))
    rows = {"log_probs": x, "ref_log_probs": y}
    for kind, (judge, mode) in names.items():
        ours = PASTE["kl_per_token"](x, y, kind)
        yield ours, judge(**rows)
        # verl lets no k3 be above 10.
        most = 10 if kind == "k3" else None
        yield ours.clamp(-torch.inf, most), peers.kl(NOW, mode, **rows)


def gae(batch: Batch) -> Pairs:
    mask, r, V = batch.mask, batch.tokens(), batch.tokens()
    gamma, lam = batch.one_of(1.0, 0.9, 0.0), batch.one_of(1.0, 0.95, 0.0)
    given = {"response_mask": mask, "gamma": gamma, "gae_lambda": lam}
    rows = {"token_level_rewards": r, "values": V}
    for end in 0 * V[:, 0], batch.normal(batch.rows):
        right = advantages.gae(**rows, **given, bootstrap_values=end)
        yield PASTE["gae"](r, V, mask, gamma, lam, end), tuple(right)
    rows = {name: batch.clean(x) for name, x in rows.items()}
    theirs, _ = peers.gae(NOW, **rows, **given)
    yield PASTE["gae"](r, V, mask, gamma, lam)[0][mask], theirs[mask]


def with_gradient(loss: Tensor, leaf: Tensor) -> tuple[Tensor, Tensor]:
    return loss, torch.autograd.grad(loss, leaf)[0]


def policy_loss(batch: Batch) -> Pairs:
    mask, old, A = batch.mask, batch.tokens(), batch.tokens()
    low, high = batch.one_of((0.2, 0.2), (0.2, 0.28), (0.0, 3.0))
    dual = batch.one_of(1.5, 3.0)
    new = (batch.clean(old) + batch.tokens(0.4)).requires_grad_()
    clean = batch.clean(new).detach().requires_grad_()
    each = PASTE["policy_loss"](new, old, A, mask, low, high, dual)
    ours = with_gradient(PASTE["aggregate"](each, mask, "token-mean"), new)
    given = {"response_mask": mask, "clip_range": (low, high)}
    right = losses.policy_loss(
        log_probs=new, old_log_probs=old, advantages=A, dual_clip=dual, **given
    )
    yield ours, with_gradient(right.loss, new)
    rows = {"old_log_probs": batch.clean(old), "advantages": batch.clean(A)}
    theirs, *_ = peers.policy_loss(
        NOW, log_probs=clean, clip_ratio_c=dual, **rows, **given
    )
    yield ours, with_gradient(theirs, clean)


def value_loss(batch: Batch) -> Pairs:
    mask, old, returns = batch.mask, batch.tokens(), batch.tokens()
    V = (batch.clean(old) + batch.tokens()).requires_grad_()
    clip = batch.one_of(0.2, 0.5, 100.0)
    each = PASTE["value_loss"](V, old, returns, mask, clip)
    ours = with_gradient(PASTE["aggregate"](each, mask, "token-mean"), V)
    rows = {"values": V, "old_values": old, "returns": returns}
    given = {"response_mask": mask, "value_clip_range": clip}
    yield ours, with_gradient(losses.value_loss(**rows, **given).loss, V)
    rows = {name: batch.clean(x) for name, x in rows.items()}
    yield ours, with_gradient(peers.value_loss(NOW, **rows, **given)[0], V)


def aggregated(batch: Batch) -> Pairs:
    """Whole, and in micro-batches that know how much the whole has."""
    x, mask, aggregate = batch.tokens(), batch.mask, PASTE["aggregate"]
    for mode, judge in {
        "token-mean": aggregation.token_mean,
        "seq-mean-token-sum": aggregation.sequence_mean_token_sum,
        "seq-mean-token-mean": aggregation.sequence_mean_token_mean,
    }.items():
        ours = aggregate(x, mask, mode)
        yield ours, judge(x, mask)
        yield ours, peers.aggregate(mode, batch.clean(x), mask), 1e-6
        count = mask.sum() if mode == "token-mean" else batch.rows
        pairs = zip(x.split(2), mask.split(2), strict=True)
        yield sum(aggregate(*pair, mode, count) for pair in pairs), ours


def advantages_of_groups(batch: Batch) -> Pairs:
    options = {"grpo": {}, "rloo": {}, "dr_grpo": {"norm_adv_by_std_in_grpo": False}}
    groups = torch.arange(3).repeat(batch.one_of(2, 3, 5))
    scores = batch.normal(len(groups))
    given = {
        "token_level_rewards": scores[:, None],
        "response_mask": torch.ones(len(groups), 1, dtype=torch.bool),
        "groups": groups,
    }
    for kind, option in options.items():
        ours = PASTE["group_advantages"](scores, groups, kind)
        yield ours, getattr(group_advantages, kind)(**given).advantages[:, 0]
        name = kind.removeprefix("dr_")
        theirs, _ = peers.group_advantages(name, **given, **option)
        yield ours, theirs[:, 0], 1e-5


def rollout_weights(batch: Batch) -> Pairs:
    mask, cap = batch.mask, batch.one_of(1.0, 2.0, 5.0)
    rows = {"old_log_probs": batch.tokens(), "rollout_log_probs": batch.tokens()}
    clean = {name: batch.clean(x) for name, x in rows.items()}
    by_token = token_weights(**rows, response_mask=mask, cap=cap)
    yield PASTE["rollout_weights"](*rows.values(), mask, cap, "token"), by_token
    for by in "token", "sequence":
        ours = PASTE["rollout_weights"](*rows.values(), mask, cap, by)
        yield ours, peers.rollout_weights(by, cap, **clean, response_mask=mask)[0]


ALL: tuple[Callable[[Batch], Pairs], ...] = (
    *(means, log_probs, estimates_of_kl, gae, policy_loss, value_loss),
    *(aggregated, advantages_of_groups, rollout_weights),
)


@pytest.mark.parametrize("batches", [20, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pairs", ALL, ids=lambda pairs: pairs.__name__)
def test_a_function_gives_what_both_give(pairs, batches):
    for seed in range(batches):
        for ours, theirs, *near in pairs(Batch(seed)):
            given = dict.fromkeys(("rtol", "atol"), *near) if near else {}
            assert_close(ours, theirs, **given)


def test_a_token_that_cannot_be_written_has_no_part():
    logits = torch.tensor([[[1.0, 2.0, -torch.inf]]], requires_grad=True)
    ids = torch.tensor([[0]])
    log_p, entropy = PASTE["log_probs_entropy"](logits, ids)
    two = PASTE["log_probs_entropy"](logits[..., :2], ids)
    assert_close((log_p, entropy), two)
    (gradient,) = torch.autograd.grad((log_p + entropy).sum(), logits)
    (right,) = torch.autograd.grad((two[0] + two[1]).sum(), logits)
    assert_close(gradient, right)


def test_a_lone_answer_gets_nothing():
    scores, groups = torch.tensor([1.0, 1.0, 0.0]), torch.tensor([4, 2, 2])
    for kind in "grpo", "dr_grpo", "rloo":
        assert PASTE["group_advantages"](scores, groups, kind)[0] == 0


def test_what_they_are_told_and_do_not_know_is_refused():
    x, mask = torch.zeros(1, 2), torch.ones(1, 2, dtype=torch.bool)
    with pytest.raises(ValueError, match="k4"):
        PASTE["kl_per_token"](x, x, "k4")
    with pytest.raises(ValueError, match="mean"):
        PASTE["aggregate"](x, mask, "mean")
    with pytest.raises(ValueError, match="row"):
        PASTE["rollout_weights"](x, x, mask, by="row")
